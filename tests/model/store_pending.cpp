// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/iterator.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "replicate/row_buffer.hpp"
#include "store/engine/column_families.hpp"
#include "store/engine/pending_rows.hpp"
#include "store/engine/row_reader.hpp"
#include "store/layout/layout.hpp"
#include "store_steps.hpp"

/// Reads through pending rows are those of a plain map, whatever was put, erased, released, dropped and
/// flushed: of keys, of many keys at once, and of every walk in both directions.
namespace ratchet {
namespace {

using rows_by_key = std::map<std::string, std::string, std::less<>>;
using state = std::array<rows_by_key, k_family_names.size()>;

/// What a step does, to all that keep rows.
struct change {
  family in;
  replicate::row_op op;
  std::string key;
  std::string value;
};

void apply_to(state& s, const change& c) {
  rows_by_key& rows = s[static_cast<std::size_t>(c.in)];
  switch (c.op) {
    case replicate::row_op::put:
      rows[c.key] = c.value;
      break;
    case replicate::row_op::erase:
      rows.erase(c.key);
      break;
    case replicate::row_op::erase_range:
      rows.erase(rows.lower_bound(c.key), rows.lower_bound(c.value));
      break;
  }
}

class pending_world {
 public:
  explicit pending_world(std::uint64_t seed) : random_{seed} {
    database_settings settings;
    settings.path = room_.path();
    settings.memory_bytes = std::uint64_t{4} << 20U;
    RC_ASSERT(database::open(settings, recovery_filter{0}, true, db_).ok());
    reader_.emplace(*db_, &pending_);
  }

  void run(int turns) {
    for (int i = 0; i < turns; ++i) {
      switch (below(8)) {
        case 0:
          release();
          break;
        case 1:
          if (below(8) == 0) drop();
          break;
        case 2:
          if (below(8) == 0) flush();
          break;
        default:
          add();
          if (pending_.steps() > 6) release();
      }
      look_up();
      walk();
    }
    while (!steps_.empty()) release();
    RC_ASSERT(pending_.empty());
    RC_ASSERT(pending_.row_bytes() == 0U);
    look_up();
    walk();
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  family some_family() { return static_cast<family>(below(k_family_names.size())); }
  /// Few keys, of which some begin alike; in `dedup` with the bytes that its prefixes have.
  std::string some_key(family f) {
    std::string key = f == family::dedup ? std::string(layout::k_span_prefix_bytes, 'k') : std::string{};
    for (std::uint64_t n = 1 + below(3); n > 0; --n) key.push_back(static_cast<char>('a' + below(4)));
    return key;
  }

  void add() {
    std::vector<change> step;
    replicate::row_buffer rows;
    for (std::uint64_t n = below(20); n > 0; --n) {
      change c{some_family(), replicate::row_op::put, {}, {}};
      c.key = some_key(c.in);
      const std::uint64_t kind = below(16);
      const auto number = static_cast<std::uint8_t>(c.in);
      if (kind == 0) {
        c.op = replicate::row_op::erase_range;
        c.value = some_key(c.in);
        if (c.value < c.key) std::swap(c.key, c.value);
        rows.erase_range(number, c.key, c.value);
      } else if (kind < 5) {
        c.op = replicate::row_op::erase;
        rows.erase(number, c.key);
      } else {
        c.value = std::string(below(40), static_cast<char>('0' + below(10)));
        const std::size_t cut = below(c.value.size() + 1);
        rows.put(number, c.key, std::string_view{c.value}.substr(0, cut),
                 std::string_view{c.value}.substr(cut));
      }
      apply_to(now_, c);
      step.push_back(std::move(c));
    }
    pending_.add(++last_, std::make_shared<const std::string>(rows.release()));
    steps_.push_back(std::move(step));
  }

  void release() {
    if (steps_.empty()) return;
    rocksdb::WriteBatch batch;
    for (const change& c : steps_.front()) {
      rocksdb::ColumnFamilyHandle* in = db_->handle(c.in);
      if (c.op == replicate::row_op::put) RC_ASSERT(batch.Put(in, c.key, c.value).ok());
      if (c.op == replicate::row_op::erase) RC_ASSERT(batch.Delete(in, c.key).ok());
      if (c.op == replicate::row_op::erase_range) RC_ASSERT(batch.DeleteRange(in, c.key, c.value).ok());
      apply_to(stored_, c);
    }
    RC_ASSERT(db_->db().Write({}, &batch).ok());
    pending_.release_oldest();
    steps_.pop_front();
  }

  void drop() {
    pending_.drop();
    last_ -= steps_.size();
    steps_.clear();
    now_ = stored_;
  }

  void flush() {
    const family f = some_family();
    RC_ASSERT(db_->db().Flush({}, db_->handle(f)).ok());
    RC_ASSERT(db_->db().CompactRange({}, db_->handle(f), nullptr, nullptr).ok());
  }

  void look_up() {
    const family f = some_family();
    const rows_by_key& want = now_[static_cast<std::size_t>(f)];
    std::vector<std::string> keys;
    for (std::uint64_t n = 1 + below(12); n > 0; --n) keys.push_back(some_key(f));
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    std::vector<rocksdb::Slice> slices{keys.begin(), keys.end()};
    std::vector<rocksdb::PinnableSlice> values(keys.size());
    std::vector<rocksdb::Status> statuses(keys.size());
    reader_->multi_get(f, keys.size(), slices.data(), values.data(), statuses.data());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto at = want.find(keys[i]);
      const auto got = reader_->get({}, f, keys[i]);
      RC_ASSERT(got.has_value());
      if (at == want.end()) {
        RC_ASSERT(!got.assume_value());
        RC_ASSERT(statuses[i].IsNotFound());
      } else {
        RC_ASSERT(got.assume_value() == at->second);
        RC_ASSERT(statuses[i].ok());
        RC_ASSERT(values[i].ToStringView() == at->second);
      }
    }
  }

  /// From a key on, to and fro, with or without a bound.
  void walk() {
    const family f = some_family();
    const rows_by_key& all = now_[static_cast<std::size_t>(f)];
    const std::string bound = some_key(f);
    const rocksdb::Slice upper{bound};
    rocksdb::ReadOptions options;
    options.total_order_seek = true;
    const bool is_bounded = below(2) == 0;
    if (is_bounded) options.iterate_upper_bound = &upper;
    const auto end = is_bounded ? all.lower_bound(bound) : all.end();
    const auto it = reader_->iterate(options, f);
    const std::string from = some_key(f);
    auto want = all.end();
    bool is_valid = false;
    switch (below(4)) {
      case 0:
        it->SeekToFirst();
        want = all.begin();
        is_valid = want != end;
        break;
      case 1:
        it->SeekToLast();
        is_valid = end != all.begin();
        if (is_valid) want = std::prev(end);
        break;
      case 2:
        it->Seek(from);
        want = all.lower_bound(from);
        is_valid = want != all.end() && (!is_bounded || want->first < bound);
        break;
      default:
        it->SeekForPrev(from);
        want = is_bounded && bound <= from ? end : all.upper_bound(from);
        is_valid = want != all.begin();
        if (is_valid) --want;
    }
    for (int moves = 0; moves < 40; ++moves) {
      RC_ASSERT(it->Valid() == is_valid);
      RC_ASSERT(it->status().ok());
      if (!is_valid) break;
      RC_ASSERT(it->key().ToStringView() == want->first);
      RC_ASSERT(it->value().ToStringView() == want->second);
      if (below(4) != 0) {
        it->Next();
        ++want;
        is_valid = want != end;
      } else {
        it->Prev();
        is_valid = want != all.begin();
        if (is_valid) --want;
      }
    }
    rows_by_key seen;
    const std::string prefix = below(2) == 0 ? std::string{} : from.substr(0, from.size() - 1);
    RC_ASSERT(reader_
                  ->for_each({}, f, prefix,
                             [&](auto key, auto value) -> result<bool> {
                               seen.emplace(key, value);
                               return true;
                             })
                  .has_value());
    rows_by_key begins_so;
    for (const auto& [key, value] : all) {
      if (key.starts_with(prefix)) begins_so.emplace(key, value);
    }
    RC_ASSERT(seen == begins_so);
  }

  std::mt19937_64 random_;
  store_steps::scratch room_;
  std::unique_ptr<database> db_;
  pending_rows pending_;
  std::optional<row_reader> reader_;
  std::deque<std::vector<change>> steps_;  ///< that are pending
  std::uint64_t last_{0};
  state now_;     ///< with what is pending
  state stored_;  ///< without
};

RC_GTEST_PROP(pending_rows, are_read_as_if_they_were_in_the_database, (std::uint64_t seed)) {
  pending_world world{seed};
  world.run(80);
}

}  // namespace
}  // namespace ratchet
