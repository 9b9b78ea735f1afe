// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/engine/pending_iterator.hpp"

#include <iterator>
#include <utility>

#include "core/assert.hpp"

namespace ratchet {

pending_iterator::pending_iterator(std::unique_ptr<rocksdb::Iterator> stored, const pending_rows& pending,
                                   family f, const rocksdb::Slice* bound)
    : stored_{std::move(stored)},
      pending_{&pending},
      order_{&pending.in_order(f)},
      family_{f},
      version_{pending.version()},
      next_{order_->end()} {
  if (bound != nullptr) bound_ = bound->ToString();
}

void pending_iterator::check() const {
  RATCHET_ASSERT(version_ == pending_->version());
}

bool pending_iterator::is_in_bound(std::string_view key) const {
  return !bound_ || key < *bound_;
}

/// Finds the first key, of those that both are at or before, that is there.
void pending_iterator::settle_forward() {
  while (true) {
    at_ = side::none;
    const bool has_stored = stored_->Valid();
    if (!has_stored && !stored_->status().ok()) return;
    if (next_ != order_->end() && is_in_bound(next_->first)) {
      const std::string_view key = next_->first;
      const int order = has_stored ? stored_->key().compare(key) : 1;
      if (order >= 0) {
        if (order == 0 && has_stored) stored_->Next();  // the pending row stands in its place
        value_ = pending_->value_of(family_, key, next_->second);
        if (!value_.is_erased) {
          at_ = side::pending;
          return;
        }
        ++next_;
        continue;
      }
    }
    if (!has_stored) return;
    const auto behind = pending_->end_of_range(family_, stored_->key().ToStringView());
    if (!behind) {
      at_ = side::stored;
      return;
    }
    stored_->Seek(*behind);
  }
}

/// The same towards the beginning. `next_` is one behind the pending row that is looked at.
void pending_iterator::settle_backward() {
  while (true) {
    at_ = side::none;
    const bool has_stored = stored_->Valid();
    if (!has_stored && !stored_->status().ok()) return;
    if (next_ != order_->begin()) {
      const auto candidate = std::prev(next_);
      const int order = has_stored ? stored_->key().compare(candidate->first) : -1;
      if (order <= 0) {
        if (order == 0 && has_stored) stored_->Prev();
        value_ = pending_->value_of(family_, candidate->first, candidate->second);
        if (!value_.is_erased) {
          at_ = side::pending;
          return;
        }
        next_ = candidate;
        continue;
      }
    }
    if (!has_stored) return;
    if (!pending_->end_of_range(family_, stored_->key().ToStringView())) {
      at_ = side::stored;
      return;
    }
    stored_->Prev();
  }
}

void pending_iterator::SeekToFirst() {
  check();
  is_forward_ = true;
  stored_->SeekToFirst();
  next_ = order_->begin();
  settle_forward();
}

void pending_iterator::Seek(const rocksdb::Slice& target) {
  check();
  is_forward_ = true;
  next_ = order_->lower_bound(target.ToStringView());
  stored_->Seek(target);
  settle_forward();
}

void pending_iterator::SeekToLast() {
  check();
  is_forward_ = false;
  stored_->SeekToLast();
  next_ = bound_ ? order_->lower_bound(*bound_) : order_->end();
  settle_backward();
}

void pending_iterator::SeekForPrev(const rocksdb::Slice& target) {
  check();
  is_forward_ = false;
  next_ = order_->upper_bound(target.ToStringView());
  if (bound_ && next_ != order_->begin() && std::prev(next_)->first >= *bound_)
    next_ = order_->lower_bound(*bound_);
  stored_->SeekForPrev(target);
  settle_backward();
}

void pending_iterator::Next() {
  check();
  RATCHET_ASSERT(Valid());
  if (!is_forward_) {
    const std::string here = key().ToString();
    Seek(here);
  }
  if (at_ == side::pending) {
    ++next_;
  } else {
    stored_->Next();
  }
  settle_forward();
}

void pending_iterator::Prev() {
  check();
  RATCHET_ASSERT(Valid());
  if (is_forward_) {
    const std::string here = key().ToString();
    SeekForPrev(here);
  }
  if (at_ == side::pending) {
    --next_;
  } else {
    stored_->Prev();
  }
  settle_backward();
}

rocksdb::Slice pending_iterator::key() const {
  if (at_ == side::stored) return stored_->key();
  return is_forward_ ? next_->first : std::prev(next_)->first;
}

rocksdb::Slice pending_iterator::value() const {
  return at_ == side::stored ? stored_->value() : rocksdb::Slice{value_.value};
}

}  // namespace ratchet
