// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/engine/pending_rows.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include "core/assert.hpp"
#include "core/xxhash_inline.hpp"

namespace ratchet {

namespace {

using replicate::row;
using replicate::row_at;
using replicate::row_op;

constexpr std::size_t k_least_places = 1024;
constexpr std::size_t k_ahead = 8;
constexpr std::size_t k_most_spare_marks = 4;
/// A node of std::map, with what malloc adds.
constexpr std::size_t k_bytes_of_a_node = 80;

std::size_t index_of(family f) noexcept {
  return static_cast<std::size_t>(f);
}

std::uint64_t draw_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32U | device();
}

}  // namespace

pending_rows::pending_rows() : seed_{draw_seed()} {}

std::uint64_t pending_rows::hash_of(std::uint8_t family, std::string_view key) const noexcept {
  return XXH3_64bits_withSeed(key.data(), key.size(), seed_ + family);
}

std::size_t pending_rows::bytes() const noexcept {
  std::size_t all = row_bytes_ + mark_bytes_ + index_.size() * sizeof(place);
  for (const auto& each : orders_) {
    if (each) all += each->size() * k_bytes_of_a_node;
  }
  return all;
}

pending_rows::step_bytes pending_rows::rows_of(std::uint64_t step) const {
  if (empty() || step < oldest_step() || step - oldest_step() >= steps_.size()) return nullptr;
  return steps_[step - oldest_step()].rows;
}

std::size_t pending_rows::place_of(std::uint64_t hash, std::uint8_t family, std::string_view key) const {
  std::size_t at = ideal(hash);
  for (;; at = (at + 1) & (index_.size() - 1)) {
    const place& here = index_[at];
    if (here.row == nullptr) return at;
    if (here.hash != hash) continue;
    const row known = row_at(here.row);
    if (known.family == family && known.key == key) return at;
  }
}

/// At most half of the places are used, so that the way to a free one is short.
void pending_rows::reserve(std::size_t more) {
  if (!index_.empty() && (used_ + more) * 2 <= index_.size()) return;
  std::size_t size = std::max(index_.size(), k_least_places);
  while (size < (used_ + more) * 2) size *= 2;
  std::vector<place> old(size);
  old.swap(index_);
  for (const place& each : old) {
    if (each.row == nullptr) continue;
    std::size_t at = ideal(each.hash);
    while (index_[at].row != nullptr) at = (at + 1) & (size - 1);
    index_[at] = each;
  }
}

void pending_rows::set(const mark& m, std::uint64_t ordinal) {
  const row r = row_at(m.row);
  place& here = index_[place_of(m.hash, r.family, r.key)];
  if (here.row == nullptr) ++used_;
  here = {m.hash, m.row, ordinal};
  if (orders_[r.family]) set_in_order(static_cast<family>(r.family), r.key, {m.row, ordinal});
}

/// The key of an entry lies in the bytes of its row, so that both move on together.
void pending_rows::set_in_order(family f, std::string_view key, const ordered_row& r) {
  order& sorted = *orders_[index_of(f)];
  const auto at = sorted.lower_bound(key);
  if (at == sorted.end() || at->first != key) {
    sorted.emplace_hint(at, key, r);
    return;
  }
  const auto behind = std::next(at);
  auto node = sorted.extract(at);
  node.key() = key;
  node.mapped() = r;
  sorted.insert(behind, std::move(node));
}

void pending_rows::add(std::uint64_t step, step_bytes rows) {
  RATCHET_ASSERT(rows && (empty() || step == oldest_step() + steps_.size()));
  ++version_;
  pending_step added{step, std::move(rows), {}, {}, 0};
  if (!spare_marks_.empty()) {
    added.marks = std::move(spare_marks_.back());
    spare_marks_.pop_back();
  }
  // Ranges come in between the rows, so that ordinals are given here.
  std::vector<std::uint64_t> breaks;  // how many rows come before each range
  replicate::row_cursor cursor{*added.rows};
  for (row each; cursor.next(each);) {
    RATCHET_ASSERT(each.family < k_families);
    ++added.rows_of_family[each.family];
    if (each.op == row_op::erase_range) {
      ranges_[each.family].push_back(
          {each.key, each.value, next_ordinal_ + added.marks.size() + breaks.size()});
      breaks.push_back(added.marks.size());
    } else {
      added.marks.push_back({hash_of(each.family, each.key), begin_of(each)});
    }
  }
  RATCHET_ASSERT(cursor.fault() == replicate::row_fault::none);
  reserve(added.marks.size());
  std::size_t ranges_before = 0;
  for (std::size_t i = 0; i < added.marks.size(); ++i) {
    if (i + k_ahead < added.marks.size())
      __builtin_prefetch(&index_[ideal(added.marks[i + k_ahead].hash)], 1);
    while (ranges_before < breaks.size() && breaks[ranges_before] <= i) ++ranges_before;
    set(added.marks[i], next_ordinal_ + i + ranges_before);
  }
  next_ordinal_ += added.marks.size() + breaks.size();
  added.end_ordinal = next_ordinal_;
  row_bytes_ += added.rows->size();
  mark_bytes_ += added.marks.capacity() * sizeof(mark);
  for (std::size_t f = 0; f < k_families; ++f) rows_of_family_[f] += added.rows_of_family[f];
  steps_.push_back(std::move(added));
}

/// What stood there because its own place was taken moves up, so that no search ends too early.
void pending_rows::free_place(std::size_t at) {
  const std::size_t mask = index_.size() - 1;
  for (std::size_t next = (at + 1) & mask; index_[next].row != nullptr; next = (next + 1) & mask) {
    const std::size_t wanted = ideal(index_[next].hash);
    if (((next - wanted) & mask) < ((next - at) & mask)) continue;
    index_[at] = index_[next];
    at = next;
  }
  index_[at] = {};
  --used_;
}

void pending_rows::release_oldest() {
  RATCHET_ASSERT(!empty());
  ++version_;
  pending_step gone = std::move(steps_.front());
  steps_.pop_front();
  for (std::size_t i = 0; i < gone.marks.size(); ++i) {
    if (i + k_ahead < gone.marks.size()) __builtin_prefetch(&index_[ideal(gone.marks[i + k_ahead].hash)], 1);
    const mark& m = gone.marks[i];
    std::size_t at = ideal(m.hash);
    while (index_[at].row != nullptr && index_[at].row != m.row) at = (at + 1) & (index_.size() - 1);
    if (index_[at].row == nullptr) continue;  // a younger row has taken its place
    const row r = row_at(m.row);
    if (orders_[r.family]) orders_[r.family]->erase(r.key);
    free_place(at);
  }
  for (std::size_t f = 0; f < k_families; ++f) {
    std::erase_if(ranges_[f], [&](const range& r) { return r.ordinal < gone.end_ordinal; });
    rows_of_family_[f] -= gone.rows_of_family[f];
  }
  row_bytes_ -= gone.rows->size();
  mark_bytes_ -= gone.marks.capacity() * sizeof(mark);
  gone.marks.clear();
  if (spare_marks_.size() < k_most_spare_marks) spare_marks_.push_back(std::move(gone.marks));
  if (empty()) orders_ = {};
}

void pending_rows::drop() {
  ++version_;
  steps_.clear();
  index_.clear();
  used_ = row_bytes_ = mark_bytes_ = 0;
  ranges_ = {};
  rows_of_family_ = {};
  orders_ = {};
}

std::optional<std::string_view> pending_rows::end_of_range(family f, std::string_view key) const {
  for (const range& r : ranges_[index_of(f)]) {
    if (r.begin <= key && key < r.behind) return r.behind;
  }
  return std::nullopt;
}

pending_value pending_rows::value_of(family f, std::string_view key, const ordered_row& at) const {
  for (const range& r : ranges_[index_of(f)]) {
    if (r.ordinal > at.ordinal && r.begin <= key && key < r.behind) return {true, {}};
  }
  const row r = row_at(at.row);
  return {r.op == row_op::erase, r.value};
}

std::optional<pending_value> pending_rows::find(family f, std::string_view key) const {
  if (is_untouched(f)) return std::nullopt;
  const auto number = static_cast<std::uint8_t>(f);
  const place& here = index_[place_of(hash_of(number, key), number, key)];
  if (here.row != nullptr) return value_of(f, key, {here.row, here.ordinal});
  if (end_of_range(f, key)) return pending_value{true, {}};
  return std::nullopt;
}

const pending_rows::order& pending_rows::in_order(family f) const {
  std::optional<order>& sorted = orders_[index_of(f)];
  if (sorted) return *sorted;
  sorted.emplace();
  for (const place& each : index_) {
    if (each.row == nullptr) continue;
    const row r = row_at(each.row);
    if (r.family == index_of(f)) sorted->emplace(r.key, ordered_row{each.row, each.ordinal});
  }
  return *sorted;
}

}  // namespace ratchet
