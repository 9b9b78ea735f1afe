// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/window.hpp"

#include <algorithm>

namespace ratchet {

window_floor::window_floor(stream_state& state, std::chrono::milliseconds window)
    : state_{&state}, window_{window} {
  recompute();
}

void window_floor::handled(partition_state& partition, timestamp record_time, timestamp cap) {
  const timestamp time = std::min(record_time, cap);
  const bool counted_before = !partition.idle;
  const std::optional<timestamp> before = partition.highest_time;
  partition.idle = false;
  if (before && time <= *before && counted_before) return;
  partition.highest_time = before ? std::max(*before, time) : time;
  // Only the partition that holds the floor back can move it; all others are ahead of it.
  if (!counted_before || !before || !lowest_ || *before == *lowest_) recompute();
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

}  // namespace ratchet
