// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/window.hpp"

#include <algorithm>
#include <utility>

namespace ratchet {

window_floor::window_floor(stream_state& state, std::chrono::milliseconds window)
    : state_{&state}, window_{window} {
  recompute();
}

void window_floor::handled(partition_state& partition, std::optional<timestamp> record_time, timestamp cap) {
  const std::optional<timestamp> before = partition.highest_time;
  if (!record_time && !before) return;  // nothing that could stand in
  const bool was_idle = std::exchange(partition.idle, false);
  const bool is_higher = record_time && (!before || std::min(*record_time, cap) > *before);
  if (is_higher) partition.highest_time = std::min(*record_time, cap);
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
