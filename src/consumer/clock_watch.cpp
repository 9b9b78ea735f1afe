// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/clock_watch.hpp"

#include <algorithm>

#include "decode/time_text.hpp"
#include "text/units.hpp"

namespace ratchet {

namespace {

constexpr const char* k_next =
    "nothing is decided wrongly, but the window stands still until the clock is past that: set the clock "
    "(`timedatectl` shows whether it is synchronized)";

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
  const std::string clock = "this machine's clock says " + to_rfc3339(now);
  if (newest && *newest > limit) {
    return clock + ", " + format_rounded(*newest - now) + " before " + to_rfc3339(*newest) +
           ", which the state has seen: it is behind now, or was ahead then; " + k_next;
  }
  if (oldest_of_future_ && *oldest_of_future_ > limit) {
    return clock + ", and every record that comes is at least " + format_rounded(*oldest_of_future_ - now) +
           " later: it is behind, or the producers' clocks are ahead; " + k_next;
  }
  return std::nullopt;
}

}  // namespace ratchet
