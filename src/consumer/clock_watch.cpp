// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/clock_watch.hpp"

#include <algorithm>

#include "decode/time_text.hpp"
#include "text/units.hpp"

namespace ratchet {

namespace {

constexpr const char* k_next =
    "no verdict is wrong, but the window does not advance until the clock has passed that time: set the "
    "clock (`timedatectl` shows whether it is synchronized)";

}  // namespace

std::chrono::milliseconds clock_watch::allowed() const {
  std::chrono::milliseconds most{0};
  for (const auto& s : tasks_) most = std::max(most, s->stream.config.dedup.max_skew);
  return most + k_tolerance;
}

void clock_watch::look_at(std::span<const record> records, timestamp now) {
  const timestamp limit = now + allowed();
  std::optional<timestamp> oldest;
  for (const record& r : records) {
    if (!r.time) continue;
    if (*r.time <= limit) {
      oldest_of_future_.reset();
      return;
    }
    oldest = oldest ? std::min(*oldest, *r.time) : *r.time;
  }
  if (oldest) oldest_of_future_ = oldest;
}

std::optional<std::string> clock_watch::fault(timestamp now) const {
  const timestamp limit = now + allowed();
  std::optional<timestamp> newest;
  for (const auto& s : tasks_) {
    for (const auto& [where, partition] : s->state.partitions) {
      if (partition.highest_time && (!newest || *partition.highest_time > *newest)) {
        newest = partition.highest_time;
      }
    }
  }
  const std::string clock = "this machine's clock is at " + to_rfc3339(now);
  if (newest && *newest > limit) {
    return clock + ", " + format_rounded(*newest - now) + " before " + to_rfc3339(*newest) +
           ", a time that the state has seen: the clock is behind now, or was ahead then; " + k_next;
  }
  if (oldest_of_future_ && *oldest_of_future_ > limit) {
    return clock + ", and every new record is at least " + format_rounded(*oldest_of_future_ - now) +
           " later: the clock is behind, or the producers' clocks are ahead; " + k_next;
  }
  return std::nullopt;
}

}  // namespace ratchet
