// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/believed_time.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace ratchet {

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

void raise(partition_state& partition, timestamp to, timestamp cap) {
  const timestamp believed = std::min(to, cap);
  if (!partition.highest_time || believed > *partition.highest_time) partition.highest_time = believed;
}

/// The leaps of which nobody was told yet.
std::vector<time_leap> untold(std::vector<time_leap>&& leaps) {
  std::erase_if(leaps, [](const time_leap& l) { return l.offset == k_passed_over; });
  return std::move(leaps);
}

/// Those that lie too far beyond this one are drawn to it. Returns them as they were.
std::vector<time_leap> draw_in(std::vector<time_leap>& leaps, timestamp to, milliseconds skew) {
  std::vector<time_leap> beyond;
  for (time_leap& leap : leaps) {
    if (ahead_of(to, leap.time) <= skew) continue;
    beyond.push_back(leap);
    leap = {to + skew, k_passed_over};
  }
  return untold(std::move(beyond));
}

void add(std::vector<time_leap>& leaps, const time_leap& leap) {
  const auto behind = std::upper_bound(leaps.begin(), leaps.end(), leap.time,
                                       [](timestamp t, const time_leap& l) { return t < l.time; });
  leaps.insert(behind, leap);
}

}  // namespace

std::size_t leaps_needed(milliseconds ahead, milliseconds skew) noexcept {
  if (ahead <= skew) return 0;
  const auto doublings = std::bit_width(static_cast<std::uint64_t>((ahead - milliseconds{1}) / skew));
  return std::min<std::size_t>(2 * static_cast<std::size_t>(doublings), k_most_leaps);
}

std::vector<time_leap> believe_time(partition_state& partition, time_leap of_record, timestamp cap,
                                    milliseconds max_skew) {
  const milliseconds skew = std::max(max_skew, milliseconds{1000});
  std::vector<time_leap>& leaps = partition.leaps;
  if (partition.highest_time) {
    const milliseconds ahead = ahead_of(*partition.highest_time, of_record.time);
    if (ahead < -skew) return {};
    if (ahead <= skew) {
      raise(partition, of_record.time, cap);
      return untold(std::exchange(leaps, {}));
    }
  }
  std::vector<time_leap> passed_over = draw_in(leaps, of_record.time, skew);
  add(leaps, of_record);
  if (!partition.highest_time) {
    if (leaps.size() < k_first_times) return passed_over;
    raise(partition, leaps.front().time, cap);
  }
  auto left = leaps.begin();
  while (left != leaps.end()) {
    const auto behind = static_cast<std::size_t>(leaps.end() - left);
    if (behind < leaps_needed(ahead_of(*partition.highest_time, left->time), skew)) break;
    raise(partition, left->time, cap);
    ++left;
  }
  leaps.erase(leaps.begin(), left);
  return passed_over;
}

}  // namespace ratchet
