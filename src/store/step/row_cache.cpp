// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/step/row_cache.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

namespace ratchet {

namespace {

constexpr unsigned k_id = 1, k_time = 2, k_deleted = 4, k_external = 8, k_has_last = 16, k_waits = 32,
                   k_epoch = 64, k_seen = 128;
constexpr std::size_t k_first_buckets = 64;
/// The share of the memory that keeps the rest of rows.
constexpr std::uint64_t k_share_of_rests = 8;

std::uint16_t tag_of(const hash128& aggregate) noexcept {
  return std::max<std::uint16_t>(static_cast<std::uint16_t>(aggregate.high), 1);
}

std::uint8_t flags_of(const row_head& head) noexcept {
  return static_cast<std::uint8_t>((head.id ? k_id : 0U) | (head.time ? k_time : 0U) |
                                   (head.deleted ? k_deleted : 0U) | (head.external ? k_external : 0U) |
                                   (head.has_last ? k_has_last : 0U) | (head.waits ? k_waits : 0U) |
                                   (head.last.epoch != 0 ? k_epoch : 0U) | (head.has_seen ? k_seen : 0U));
}

/// So few that doubling leads to the most, or nearly so.
std::size_t first_buckets(std::size_t most) noexcept {
  while (most > 2 * k_first_buckets) most /= 2;
  return most;
}

/// Spreads 32 bits of a hash over that many.
std::size_t one_of(std::size_t count, std::uint64_t hash) noexcept {
  return static_cast<std::size_t>(((hash >> 32U) * count) >> 32U);
}

}  // namespace

std::size_t row_cache::bucket::place_of(const hash128& aggregate) const noexcept {
  const std::uint16_t tag = tag_of(aggregate);
  for (std::size_t i = 0; i < k_ways; ++i) {
    if (tags[i] == tag && rows[i].aggregate == aggregate) return i;
  }
  return k_ways;
}

std::size_t row_cache::bucket::place_of_age(std::size_t age) const noexcept {
  return static_cast<std::size_t>(std::find(ages.begin(), ages.end(), age) - ages.begin());
}

std::size_t row_cache::bucket::used() const noexcept {
  return k_ways - static_cast<std::size_t>(std::count(tags.begin(), tags.end(), 0));
}

/// Those that were used behind its last use are one older now.
void row_cache::bucket::use(std::size_t place) noexcept {
  const std::uint8_t age = ages[place];
  for (std::uint8_t& other : ages) other = static_cast<std::uint8_t>(other + (other < age ? 1 : 0));
  ages[place] = 0;
}

void row_cache::bucket::erase(std::size_t place) noexcept {
  const std::uint8_t age = ages[place];
  for (std::uint8_t& other : ages) other = static_cast<std::uint8_t>(other - (other > age ? 1 : 0));
  ages[place] = k_ways - 1;
  tags[place] = 0;
}

std::size_t row_cache::bucket::add(std::uint8_t its_flags, const packed_row& row) noexcept {
  const std::size_t place = place_of_age(k_ways - 1);
  use(place);
  tags[place] = tag_of(row.aggregate);
  flags[place] = its_flags;
  rows[place] = row;
  return place;
}

row_cache::row_cache(std::uint64_t bytes, bool has_all)
    : most_buckets_{static_cast<std::size_t>((bytes - bytes / k_share_of_rests) / sizeof(bucket))},
      most_rests_{
          std::max<std::size_t>(static_cast<std::size_t>(bytes / k_share_of_rests / sizeof(rest)), 1)},
      has_all_{has_all} {
  resize(first_buckets(most_buckets_));
}

/// A row came that has it. Begins with an empty memory, so that all of it takes no more than it may.
void row_cache::keep_seen() {
  const bool is_empty =
      std::all_of(buckets_.begin(), buckets_.end(), [](const bucket& b) { return b.used() == 0; });
  has_all_ = has_all_ && is_empty;
  keeps_seen_ = true;
  constexpr std::size_t k_with_seen = sizeof(bucket) + sizeof(seen_times);
  most_buckets_ = std::max<std::size_t>(most_buckets_ * sizeof(bucket) / k_with_seen, 1);
  resize(first_buckets(most_buckets_));
}

void row_cache::resize(std::size_t buckets) {
  buckets_ = bucket_table(buckets);
  rests_ = rest_table(std::min(buckets * k_ways, most_rests_));
  if (keeps_seen_) seen_ = seen_table(buckets);
}

/// There must be one.
std::size_t row_cache::first_of(const hash128& aggregate) const noexcept {
  return one_of(buckets_.size(), aggregate.low);
}
std::size_t row_cache::second_of(const hash128& aggregate) const noexcept {
  return one_of(buckets_.size(), aggregate.high);
}

std::optional<row_cache::position> row_cache::position_of(const hash128& aggregate) const noexcept {
  for (const std::size_t at : {first_of(aggregate), second_of(aggregate)}) {
    const std::size_t place = buckets_[at].place_of(aggregate);
    if (place != k_ways) return position{at, place};
  }
  return std::nullopt;
}

std::size_t row_cache::roomier_of(const hash128& aggregate) const noexcept {
  const std::size_t first = first_of(aggregate);
  const std::size_t second = second_of(aggregate);
  return buckets_[second].used() < buckets_[first].used() ? second : first;
}

std::optional<remembered_row> row_cache::find(const hash128& aggregate) {
  if (buckets_.empty()) return std::nullopt;
  const auto at = position_of(aggregate);
  if (!at) return std::nullopt;
  bucket& in = buckets_[at->bucket];
  const packed_row& row = in.rows[at->place];
  const unsigned flags = in.flags[at->place];
  const rest& more = rests_[rest_of(*at)];
  remembered_row out;
  out.is_whole = more.aggregate == aggregate;
  if (!out.is_whole && (flags & k_epoch) != 0) {
    has_all_ = false;  // half of its sequence is forgotten
    return std::nullopt;
  }
  in.use(at->place);
  row_head& head = out.head;
  head.last = {out.is_whole ? more.epoch : 0, row.number};
  if (out.is_whole) {
    if ((flags & k_id) != 0) head.id = more.id;
    head.payload_hash = more.payload_hash;
  }
  if ((flags & k_time) != 0) head.time = timestamp{std::chrono::milliseconds{row.time}};
  if ((flags & k_seen) != 0) {
    head.has_seen = true;
    head.seen = timestamp{std::chrono::milliseconds{seen_[at->bucket][at->place]}};
  }
  head.deleted = (flags & k_deleted) != 0;
  head.external = (flags & k_external) != 0;
  head.has_last = (flags & k_has_last) != 0;
  head.waits = (flags & k_waits) != 0;
  return out;
}

void row_cache::prefetch_buckets(const hash128& aggregate) const noexcept {
  if (buckets_.empty()) return;
  __builtin_prefetch(&buckets_[first_of(aggregate)]);
  __builtin_prefetch(&buckets_[second_of(aggregate)]);
}

/// Two aggregates with one tag are rare.
void row_cache::prefetch_row(const hash128& aggregate) const noexcept {
  if (buckets_.empty()) return;
  const std::uint16_t tag = tag_of(aggregate);
  for (const std::size_t at : {first_of(aggregate), second_of(aggregate)}) {
    const bucket& in = buckets_[at];
    const auto place =
        static_cast<std::size_t>(std::find(in.tags.begin(), in.tags.end(), tag) - in.tags.begin());
    if (place == k_ways) continue;
    __builtin_prefetch(&in.rows[place]);
    __builtin_prefetch(&rests_[rest_of({at, place})]);
    return;
  }
}

void row_cache::put(const hash128& aggregate, const row_head& head) {
  if (buckets_.empty()) {
    has_all_ = false;
    return;
  }
  if (head.has_seen && !keeps_seen_) keep_seen();
  const packed_row row{aggregate, head.last.number, head.time ? head.time->time_since_epoch().count() : 0};
  std::optional<position> at = position_of(aggregate);
  if (at) {
    bucket& in = buckets_[at->bucket];
    in.use(at->place);
    in.flags[at->place] = flags_of(head);
    in.rows[at->place] = row;
  } else {
    std::size_t into = roomier_of(aggregate);
    while (buckets_[into].used() == k_ways && buckets_.size() * 2 <= most_buckets_) {
      grow();
      into = roomier_of(aggregate);
    }
    has_all_ = has_all_ && buckets_[into].used() < k_ways;
    at = position{into, buckets_[into].add(flags_of(head), row)};
  }
  rests_[rest_of(*at)] = {aggregate, head.id.value_or(event_id{}), head.payload_hash, head.last.epoch};
  if (head.has_seen) seen_[at->bucket][at->place] = head.seen.time_since_epoch().count();
}

void row_cache::erase(const hash128& aggregate) {
  if (buckets_.empty()) return;
  if (const auto at = position_of(aggregate)) buckets_[at->bucket].erase(at->place);
}

/// Twice as many buckets.
void row_cache::grow() {
  const bucket_table before = std::move(buckets_);
  const rest_table rests_before = std::move(rests_);
  const seen_table seen_before = std::move(seen_);
  resize(before.size() * 2);
  for (std::size_t b = 0; b < before.size(); ++b) {
    const bucket& old = before[b];
    for (std::size_t age = k_ways; age-- > 0;) {  // the oldest first, so that they keep their order
      const std::size_t place = old.place_of_age(age);
      if (old.tags[place] == 0) continue;
      const packed_row& row = old.rows[place];
      const std::size_t into = roomier_of(row.aggregate);
      has_all_ = has_all_ && buckets_[into].used() < k_ways;
      const std::size_t new_place = buckets_[into].add(old.flags[place], row);
      const rest& more = rests_before[(b * k_ways + place) % rests_before.size()];
      if (more.aggregate == row.aggregate) rests_[rest_of({into, new_place})] = more;
      if (keeps_seen_) seen_[into][new_place] = seen_before[b][place];
    }
  }
}

}  // namespace ratchet
