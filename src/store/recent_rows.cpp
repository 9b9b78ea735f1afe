// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/recent_rows.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace ratchet {

namespace {

constexpr unsigned k_id = 1, k_time = 2, k_deleted = 4, k_external = 8, k_has_last = 16, k_waits = 32;
constexpr std::size_t k_first_buckets = 64;

std::uint16_t tag_of(const hash128& aggregate) noexcept {
  return std::max<std::uint16_t>(static_cast<std::uint16_t>(aggregate.high), 1);
}

std::uint8_t flags_of(const row_head& head) noexcept {
  return static_cast<std::uint8_t>((head.id ? k_id : 0U) | (head.time ? k_time : 0U) |
                                   (head.deleted ? k_deleted : 0U) | (head.external ? k_external : 0U) |
                                   (head.has_last ? k_has_last : 0U) | (head.waits ? k_waits : 0U));
}

}  // namespace

std::size_t recent_rows::bucket::place_of(const hash128& aggregate) const noexcept {
  const std::uint16_t tag = tag_of(aggregate);
  for (std::size_t i = 0; i < k_ways; ++i) {
    if (tags[i] == tag && rows[i].aggregate == aggregate) return i;
  }
  return k_ways;
}

std::size_t recent_rows::bucket::place_of_age(std::size_t age) const noexcept {
  return static_cast<std::size_t>(std::find(ages.begin(), ages.end(), age) - ages.begin());
}

bool recent_rows::bucket::is_full() const noexcept {
  return tags[place_of_age(k_ways - 1)] != 0;
}

/// Those that were used behind its last use are one older now.
void recent_rows::bucket::use(std::size_t place) noexcept {
  const std::uint8_t age = ages[place];
  for (std::uint8_t& other : ages) other = static_cast<std::uint8_t>(other + (other < age ? 1 : 0));
  ages[place] = 0;
}

void recent_rows::bucket::erase(std::size_t place) noexcept {
  const std::uint8_t age = ages[place];
  for (std::uint8_t& other : ages) other = static_cast<std::uint8_t>(other - (other > age ? 1 : 0));
  ages[place] = k_ways - 1;
  tags[place] = 0;
}

void recent_rows::bucket::add(std::uint8_t its_flags, const packed_row& row) noexcept {
  const std::size_t place = place_of_age(k_ways - 1);
  use(place);
  tags[place] = tag_of(row.aggregate);
  flags[place] = its_flags;
  rows[place] = row;
}

recent_rows::recent_rows(std::uint64_t bytes, bool has_all)
    : most_buckets_{static_cast<std::size_t>(bytes / sizeof(bucket))}, has_all_{has_all} {
  // So few that doubling leads to the most, or nearly so.
  std::size_t first = most_buckets_;
  while (first > 2 * k_first_buckets) first /= 2;
  buckets_.resize(first);
}

/// There must be one.
std::size_t recent_rows::bucket_of(const hash128& aggregate) const noexcept {
  return static_cast<std::size_t>(((aggregate.low >> 32U) * buckets_.size()) >> 32U);
}

std::optional<row_head> recent_rows::find(const hash128& aggregate) {
  if (buckets_.empty()) return std::nullopt;
  bucket& in = buckets_[bucket_of(aggregate)];
  const std::size_t place = in.place_of(aggregate);
  if (place == k_ways) return std::nullopt;
  in.use(place);
  const packed_row& row = in.rows[place];
  const unsigned flags = in.flags[place];
  row_head head;
  head.last = row.last;
  if ((flags & k_id) != 0) head.id = row.id;
  head.payload_hash = row.payload_hash;
  if ((flags & k_time) != 0) head.time = timestamp{std::chrono::milliseconds{row.time}};
  head.deleted = (flags & k_deleted) != 0;
  head.external = (flags & k_external) != 0;
  head.has_last = (flags & k_has_last) != 0;
  head.waits = (flags & k_waits) != 0;
  return head;
}

void recent_rows::prefetch_bucket(const hash128& aggregate) const noexcept {
  if (!buckets_.empty()) __builtin_prefetch(&buckets_[bucket_of(aggregate)]);
}

/// What is found, or gives way.
void recent_rows::prefetch_row(const hash128& aggregate) const noexcept {
  if (buckets_.empty()) return;
  const bucket& in = buckets_[bucket_of(aggregate)];
  const auto tag = std::find(in.tags.begin(), in.tags.end(), tag_of(aggregate));
  const packed_row* row = &in.rows[tag == in.tags.end() ? in.place_of_age(k_ways - 1)
                                                        : static_cast<std::size_t>(tag - in.tags.begin())];
  __builtin_prefetch(row);  // it lies in two lines of the processor's cache
  __builtin_prefetch(reinterpret_cast<const std::byte*>(row + 1) - 1);
}

void recent_rows::put(const hash128& aggregate, const row_head& head) {
  if (buckets_.empty()) {
    has_all_ = false;
    return;
  }
  const packed_row row{aggregate, head.last, head.id.value_or(event_id{}), head.payload_hash,
                       head.time ? head.time->time_since_epoch().count() : 0};
  bucket* in = &buckets_[bucket_of(aggregate)];
  if (const std::size_t place = in->place_of(aggregate); place != k_ways) {
    in->use(place);
    in->flags[place] = flags_of(head);
    in->rows[place] = row;
    return;
  }
  while (in->is_full() && buckets_.size() * 2 <= most_buckets_) {
    grow();
    in = &buckets_[bucket_of(aggregate)];
  }
  has_all_ = has_all_ && !in->is_full();
  in->add(flags_of(head), row);
}

void recent_rows::erase(const hash128& aggregate) {
  if (buckets_.empty()) return;
  bucket& in = buckets_[bucket_of(aggregate)];
  if (const std::size_t place = in.place_of(aggregate); place != k_ways) in.erase(place);
}

/// Twice as many buckets: the rows of each go into two.
void recent_rows::grow() {
  decltype(buckets_) before(buckets_.size() * 2);
  before.swap(buckets_);
  for (const bucket& old : before) {
    for (std::size_t age = k_ways; age-- > 0;) {  // the oldest first, so that they keep their order
      const std::size_t place = old.place_of_age(age);
      if (old.tags[place] == 0) continue;
      const packed_row& row = old.rows[place];
      buckets_[bucket_of(row.aggregate)].add(old.flags[place], row);
    }
  }
}

}  // namespace ratchet
