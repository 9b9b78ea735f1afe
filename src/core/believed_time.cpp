// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/believed_time.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>

namespace ratchet {

// ADR 102 has the rules that were weighed, and what each lets through.
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

/// The furthest leaps, as far as they lie too far beyond a record of this time: what it speaks against.
std::span<time_leap> spoken_against(std::vector<time_leap>& leaps, timestamp by, milliseconds skew) {
  std::size_t count = 0;
  while (count < std::min(k_most_spoken_against, leaps.size()) &&
         ahead_of(by, leaps[leaps.size() - 1 - count].time) > skew) {
    ++count;
  }
  return std::span{leaps}.last(count);
}

/// Those that nobody was told of yet.
std::vector<time_leap> untold(std::span<const time_leap> leaps) {
  std::vector<time_leap> out;
  std::copy_if(leaps.begin(), leaps.end(), std::back_inserter(out),
               [](const time_leap& l) { return l.offset != k_passed_over; });
  return out;
}

/// Believes what enough of the leaps bear out.
void settle(partition_state& partition, timestamp cap, milliseconds skew) {
  std::vector<time_leap>& leaps = partition.leaps;
  auto left = leaps.begin();
  while (left != leaps.end()) {
    const auto beyond = static_cast<std::size_t>(leaps.end() - left);
    if (beyond < leaps_needed(ahead_of(*partition.highest_time, left->time), skew)) break;
    raise_time(partition, left->time, cap);
    ++left;
  }
  leaps.erase(leaps.begin(), left);
}

}  // namespace

void raise_time(partition_state& partition, timestamp to, timestamp cap) noexcept {
  const timestamp believed = std::min(to, cap);
  if (!partition.highest_time || believed > *partition.highest_time) partition.highest_time = believed;
}

std::size_t leaps_needed(milliseconds ahead, milliseconds skew) noexcept {
  if (ahead <= skew) return 0;
  const auto doublings = std::bit_width(static_cast<std::uint64_t>((ahead - milliseconds{1}) / skew));
  return std::min<std::size_t>(2 * static_cast<std::size_t>(doublings), k_most_leaps);
}

std::vector<time_leap> believe_time(partition_state& partition, time_leap of_record, timestamp cap,
                                    milliseconds max_skew) {
  const milliseconds skew = std::max(max_skew, milliseconds{1000});
  std::vector<time_leap>& leaps = partition.leaps;
  const auto& highest = partition.highest_time;
  if (highest && ahead_of(*highest, of_record.time) < -skew) return {};
  const bool is_near = highest && ahead_of(*highest, of_record.time) <= skew;
  const std::span<time_leap> against = spoken_against(leaps, of_record.time, skew);
  std::vector<time_leap> passed_over = untold(against);
  if (is_near) {
    leaps.resize(leaps.size() - against.size());
    raise_time(partition, of_record.time, cap);
  } else {
    for (time_leap& leap : against) leap = {of_record.time + skew, k_passed_over};
    leaps.push_back(of_record);
    std::sort(leaps.begin(), leaps.end(), is_before);
    if (!highest && leaps.size() < k_first_times) return passed_over;
    if (!highest) raise_time(partition, leaps.front().time, cap);
  }
  settle(partition, cap, skew);
  return passed_over;
}

}  // namespace ratchet
