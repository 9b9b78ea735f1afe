// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/window.hpp"

#include <algorithm>
#include <utility>

#include "core/assert.hpp"

namespace ratchet {

window_floor::window_floor(stream_state& state, std::chrono::milliseconds window)
    : state_{&state}, window_{window} {
  recompute();
}

void window_floor::handled(partition_state& partition, std::optional<timestamp> record_time, timestamp cap) {
  const std::optional<timestamp> before = partition.highest_time;
  if (record_time) raise_time(partition, *record_time, cap);
  moved(before, partition);
}

odd_times window_floor::handled(partition_state& partition, time_leap of_record, timestamp cap,
                                std::chrono::milliseconds max_skew) {
  odd_times odd;
  odd.before = partition.highest_time;
  odd.is_behind = lies_behind(partition, of_record.time, window_ + max_skew);
  odd.news = believe_time(partition, of_record, cap, max_skew);
  state_->counters.times_passed_over += odd.news.passed_over;
  state_->counters.times_behind += odd.is_behind ? 1U : 0U;
  moved(odd.before, partition);
  return odd;
}

/// A record was handled, before which the partition's highest time was this.
void window_floor::moved(std::optional<timestamp> before, partition_state& partition) {
  RATCHET_ASSERT(partition.highest_time >= before);  // none is below all
  if (!partition.highest_time) return;               // nothing that could stand in
  const bool was_idle = std::exchange(partition.idle, false);
  const bool is_higher = partition.highest_time != before;
  // Only the partition that holds the floor back can move it; all others are ahead of it.
  if (was_idle || (is_higher && (!before || !lowest_ || *before == *lowest_))) recompute();
}

void window_floor::recompute() {
  lowest_.reset();
  for (const auto& [where, partition] : state_->partitions) {
    if (partition.idle) continue;
    if (!partition.highest_time) {
      lowest_.reset();
      return;
    }
    lowest_ = lowest_ ? std::min(*lowest_, *partition.highest_time) : *partition.highest_time;
  }
  if (!lowest_) return;
  const timestamp floor = *lowest_ - window_;
  if (!state_->floor || floor > *state_->floor) state_->floor = floor;
}

timestamp filed_time(const decoded_event& e, const stream_state& state, const partition_state& partition,
                     std::chrono::milliseconds window) noexcept {
  if (e.record_time) return *e.record_time;
  if (partition.highest_time) return *partition.highest_time;
  return state.floor ? *state.floor + window : timestamp{};
}

}  // namespace ratchet
