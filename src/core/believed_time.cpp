// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/believed_time.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>

namespace ratchet {

// ADR 102 and ADR 140 have the rules that were weighed, and what each lets through.
namespace {

using std::chrono::milliseconds;

/// How far `later` is ahead. Saturates, as a record's time may be any number.
milliseconds ahead_of(timestamp earlier, timestamp later) noexcept {
  milliseconds::rep out = 0;
  if (__builtin_sub_overflow(later.time_since_epoch().count(), earlier.time_since_epoch().count(), &out)) {
    return later > earlier ? milliseconds::max() : milliseconds::min();
  }
  return milliseconds{out};
}

/// Of equal times those first that were passed over.
bool is_before(const time_leap& a, const time_leap& b) {
  return std::pair{a.time, a.offset} < std::pair{b.time, b.offset};
}

void file(std::vector<time_leap>& leaps, const time_leap& leap) {
  leaps.insert(std::upper_bound(leaps.begin(), leaps.end(), leap, is_before), leap);
}

/// The furthest leaps, as far as they lie too far beyond a record of this time: what it speaks against.
std::span<const time_leap> spoken_against(const std::vector<time_leap>& leaps, timestamp by,
                                          milliseconds skew) {
  std::size_t count = 0;
  while (count < std::min(k_most_spoken_against, leaps.size()) &&
         ahead_of(by, leaps[leaps.size() - 1 - count].time) > skew) {
    ++count;
  }
  return std::span{leaps}.last(count);
}

/// Passes those over that a record of this time speaks against. Where it is a leap itself they go on as if
/// they lay just where it does not speak against them.
void pass_over(std::vector<time_leap>& leaps, timestamp by, milliseconds skew, bool is_near,
               time_news& news) {
  const std::span<const time_leap> against = spoken_against(leaps, by, skew);
  if (against.empty()) return;
  for (const time_leap& leap : against) {
    if (leap.offset == k_passed_over) continue;
    if (news.passed_over++ == 0) news.first_passed_over = leap;
  }
  const std::size_t count = against.size();
  leaps.resize(leaps.size() - count);
  for (std::size_t i = 0; i < count && !is_near; ++i) file(leaps, {by + skew, k_passed_over});
}

/// Whether the leaps from this one on go on for long enough, or are so many, that no single clock sent them.
bool last_long(std::span<const time_leap> leaps, milliseconds ahead, milliseconds skew) {
  return leaps.size() >= k_most_leaps ||
         ahead_of(leaps.front().time, leaps.back().time) >= lasting(ahead, skew);
}

/// Believes what enough of the leaps bear out.
void believe(partition_state& partition, timestamp cap, milliseconds skew, time_news& news) {
  std::vector<time_leap>& leaps = partition.leaps;
  std::size_t believed = 0;
  for (; believed < leaps.size(); ++believed) {
    const std::span<const time_leap> beyond = std::span{leaps}.subspan(believed);
    const milliseconds ahead = ahead_of(*partition.highest_time, beyond.front().time);
    if (ahead > skew && (beyond.size() < leaps_needed(ahead, skew) || !last_long(beyond, ahead, skew))) {
      break;
    }
    if (ahead > skew) news.followed = beyond.front();
    raise_time(partition, beyond.front().time, cap);
  }
  leaps.erase(leaps.begin(), leaps.begin() + static_cast<std::ptrdiff_t>(believed));
}

/// The first time, once enough records bear it out: a quarter of them may lie before it.
void begin(partition_state& partition, timestamp cap, milliseconds skew) {
  std::vector<time_leap>& leaps = partition.leaps;
  if (leaps.size() < k_first_times) return;
  const auto first = leaps.begin() + static_cast<std::ptrdiff_t>(leaps.size() / 4);
  if (!last_long({first, leaps.end()}, skew, skew) && leaps.size() < k_most_leaps) return;
  raise_time(partition, first->time, cap);
  leaps.erase(leaps.begin(), first + 1);
}

}  // namespace

void raise_time(partition_state& partition, timestamp to, timestamp cap) noexcept {
  const timestamp believed = std::min(to, cap);
  if (!partition.highest_time || believed > *partition.highest_time) partition.highest_time = believed;
}

std::size_t leaps_needed(milliseconds ahead, milliseconds skew) noexcept {
  if (ahead <= skew) return 0;
  const auto doublings = std::bit_width(static_cast<std::uint64_t>((ahead - milliseconds{1}) / skew));
  return std::min<std::size_t>(2 * static_cast<std::size_t>(doublings), k_most_leaps_needed);
}

milliseconds lasting(milliseconds ahead, milliseconds skew) noexcept {
  return std::max(skew, ahead / 1024);
}

bool lies_behind(const partition_state& partition, timestamp time, milliseconds by) noexcept {
  return partition.highest_time && ahead_of(time, *partition.highest_time) > by;
}

time_news believe_time(partition_state& partition, time_leap of_record, timestamp cap,
                       milliseconds max_skew) {
  const milliseconds skew = std::max(max_skew, milliseconds{1000});
  time_news news;
  const auto& highest = partition.highest_time;
  if (!highest) {
    file(partition.leaps, of_record);
    begin(partition, cap, skew);
    if (highest) believe(partition, cap, skew, news);
    return news;
  }
  const milliseconds ahead = ahead_of(*highest, of_record.time);
  if (ahead < -skew) return news;
  const bool is_near = ahead <= skew;
  pass_over(partition.leaps, of_record.time, skew, is_near, news);
  if (is_near) {
    raise_time(partition, of_record.time, cap);
  } else {
    file(partition.leaps, of_record);
  }
  believe(partition, cap, skew, news);
  return news;
}

}  // namespace ratchet
