// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/engine/row_reader.hpp"

#include <algorithm>
#include <utility>

#include "store/engine/pending_iterator.hpp"

namespace ratchet {

result<std::optional<std::string>> row_reader::get(const rocksdb::ReadOptions& options, family f,
                                                   std::string_view key) const {
  if (is_pending(f)) {
    if (const auto found = pending_->find(f, key)) {
      return found->is_erased ? std::optional<std::string>{} : std::optional<std::string>{found->value};
    }
  }
  return db_->get(options, f, key);
}

std::unique_ptr<rocksdb::Iterator> row_reader::iterate(const rocksdb::ReadOptions& options, family f) const {
  std::unique_ptr<rocksdb::Iterator> stored{db_->db().NewIterator(options, db_->handle(f))};
  if (!is_pending(f)) return stored;
  return std::make_unique<pending_iterator>(std::move(stored), *pending_, f, options.iterate_upper_bound);
}

result<void> row_reader::for_each(
    const rocksdb::ReadOptions& options, family f, const std::string& prefix,
    const std::function<result<bool>(std::string_view, std::string_view)>& visit,
    std::string_view from) const {
  if (!is_pending(f)) return db_->for_each(options, f, prefix, visit, from);
  return visit_prefix(
      options, prefix, from, [&](const rocksdb::ReadOptions& bounded) { return iterate(bounded, f); }, visit);
}

void row_reader::get_stored(family f, std::size_t count, const rocksdb::Slice* keys,
                            rocksdb::PinnableSlice* values, rocksdb::Status* statuses,
                            std::uint64_t soft_limit) const {
  constexpr bool k_sorted = true;
  rocksdb::ReadOptions options;
  options.value_size_soft_limit = soft_limit;
  db_->db().MultiGet(options, db_->handle(f), count, keys, values, statuses, k_sorted);
}

/// What lies between two pending keys is looked up at once.
void row_reader::multi_get(family f, std::size_t count, const rocksdb::Slice* keys,
                           rocksdb::PinnableSlice* values, rocksdb::Status* statuses,
                           std::uint64_t soft_limit) const {
  if (!is_pending(f)) return get_stored(f, count, keys, values, statuses, soft_limit);
  std::uint64_t left = soft_limit;
  const auto take = [&](std::size_t i) {
    if (statuses[i].ok()) left -= std::min<std::uint64_t>(left, values[i].size());
  };
  std::size_t begin = 0;  // of those that are not pending
  const auto get_up_to = [&](std::size_t end) {
    if (begin == end) return;
    if (left == 0) {
      for (std::size_t i = begin; i < end; ++i) statuses[i] = rocksdb::Status::Aborted();
      return;
    }
    get_stored(f, end - begin, keys + begin, values + begin, statuses + begin, left);
    if (soft_limit == k_no_limit) return;
    for (std::size_t i = begin; i < end; ++i) take(i);
  };
  for (std::size_t i = 0; i < count; ++i) {
    const auto found = pending_->find(f, keys[i].ToStringView());
    if (!found) continue;
    get_up_to(i);
    begin = i + 1;
    if (found->is_erased) {
      statuses[i] = rocksdb::Status::NotFound();
    } else if (left == 0) {
      statuses[i] = rocksdb::Status::Aborted();
    } else {
      constexpr auto k_borrowed = [](void*, void*) {};
      values[i].PinSlice(found->value, k_borrowed, nullptr, nullptr);
      statuses[i] = rocksdb::Status::OK();
      if (soft_limit != k_no_limit) take(i);
    }
  }
  get_up_to(count);
}

}  // namespace ratchet
