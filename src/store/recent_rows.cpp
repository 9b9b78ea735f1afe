// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/recent_rows.hpp"

#include <algorithm>
#include <utility>

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

recent_rows::recent_rows(std::uint64_t bytes, bool has_all)
    : most_buckets_{std::max<std::size_t>(1, static_cast<std::size_t>(bytes / sizeof(bucket)))},
      has_all_{has_all} {
  // So few that doubling leads to the most, or nearly so.
  std::size_t first = most_buckets_;
  while (first > 2 * k_first_buckets) first /= 2;
  buckets_.resize(first);
}

std::size_t recent_rows::bucket_of(const hash128& aggregate) const noexcept {
  return static_cast<std::size_t>(((aggregate.low >> 32U) * buckets_.size()) >> 32U);
}

std::size_t recent_rows::place_of(const bucket& in, const hash128& aggregate) noexcept {
  const std::uint16_t tag = tag_of(aggregate);
  for (std::size_t i = 0; i < k_ways; ++i) {
    if (in.tags[i] == tag && in.rows[i].aggregate == aggregate) return i;
  }
  return k_ways;
}

/// Those that were used behind its last use are one older now.
void recent_rows::use(bucket& in, std::size_t place) noexcept {
  const std::uint8_t age = in.ages[place];
  for (std::uint8_t& other : in.ages) other = static_cast<std::uint8_t>(other + (other < age ? 1 : 0));
  in.ages[place] = 0;
}

std::optional<row_head> recent_rows::find(const hash128& aggregate) {
  bucket& in = buckets_[bucket_of(aggregate)];
  const std::size_t place = place_of(in, aggregate);
  if (place == k_ways) return std::nullopt;
  use(in, place);
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

void recent_rows::prefetch(const hash128& aggregate) const noexcept {
  __builtin_prefetch(&buckets_[bucket_of(aggregate)]);
}

void recent_rows::put(const hash128& aggregate, const row_head& head) {
  bucket* in = &buckets_[bucket_of(aggregate)];
  std::size_t place = place_of(*in, aggregate);
  if (place == k_ways) {
    const auto empty = [&] {
      return static_cast<std::size_t>(std::find(in->tags.begin(), in->tags.end(), 0) - in->tags.begin());
    };
    for (place = empty(); place == k_ways && buckets_.size() * 2 <= most_buckets_; place = empty()) {
      grow();
      in = &buckets_[bucket_of(aggregate)];
    }
  }
  if (place == k_ways) {
    has_all_ = false;
    place =
        static_cast<std::size_t>(std::find(in->ages.begin(), in->ages.end(), k_ways - 1) - in->ages.begin());
  }
  use(*in, place);
  in->tags[place] = tag_of(aggregate);
  in->flags[place] = flags_of(head);
  in->rows[place] = {aggregate, head.last, head.id.value_or(event_id{}), head.payload_hash,
                     head.time ? head.time->time_since_epoch().count() : 0};
}

void recent_rows::erase(const hash128& aggregate) {
  bucket& in = buckets_[bucket_of(aggregate)];
  const std::size_t place = place_of(in, aggregate);
  if (place != k_ways) in.tags[place] = 0;
}

/// Twice as many buckets: the rows of each go into two.
void recent_rows::grow() {
  std::vector<bucket> before(buckets_.size() * 2);
  before.swap(buckets_);
  for (const bucket& old : before) {
    for (std::size_t age = k_ways; age-- > 0;) {  // the oldest first, so that they keep their order
      const auto from =
          static_cast<std::size_t>(std::find(old.ages.begin(), old.ages.end(), age) - old.ages.begin());
      if (old.tags[from] == 0) continue;
      bucket& to = buckets_[bucket_of(old.rows[from].aggregate)];
      const auto place =
          static_cast<std::size_t>(std::find(to.tags.begin(), to.tags.end(), 0) - to.tags.begin());
      use(to, place);
      to.tags[place] = old.tags[from];
      to.flags[place] = old.flags[from];
      to.rows[place] = old.rows[from];
    }
  }
}

}  // namespace ratchet
