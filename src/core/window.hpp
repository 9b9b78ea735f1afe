// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>

#include "core/believed_time.hpp"
#include "core/decoded_event.hpp"
#include "core/stream_state.hpp"
#include "ratchet/types.hpp"

namespace ratchet {

/// What is odd about a record's time, or comes to light with it.
struct odd_times {
  time_news news;
  bool is_behind{false};            ///< it lies more than window and `max_skew` behind its partition's time
  std::optional<timestamp> before;  ///< the partition's time before it
};

/// Moves the floor of one stream's window, record by record: the lowest of the partitions' highest believed
/// record times, less the window. It only grows. A partition that has shown no time yet holds it back; one
/// that is idle does not count. Works on a stream_state in place and must not outlive it.
class window_floor {
 public:
  window_floor(stream_state&, std::chrono::milliseconds window);

  [[nodiscard]] std::optional<timestamp> floor() const noexcept { return state_->floor; }
  [[nodiscard]] bool is_below(timestamp t) const noexcept { return state_->floor && t < *state_->floor; }

  /// A record of this partition was handled. `cap` is the clock plus the allowed skew: a record from the
  /// future cannot empty the window. Without a time the partition's last one stands in. The partition must be
  /// one of the state's.
  void handled(partition_state&, std::optional<timestamp> record_time, timestamp cap);
  /// The same, where the time has to be borne out: see believe_time(). Counts what is passed over for it, and
  /// times that lie behind the window of their own partition.
  odd_times handled(partition_state&, time_leap of_record, timestamp cap, std::chrono::milliseconds max_skew);
  /// The set of counted partitions changed.
  void recompute();

 private:
  void moved(std::optional<timestamp> before, partition_state&);

  stream_state* state_;
  std::chrono::milliseconds window_;
  /// The lowest of the highest times; none while a counted partition has shown no time, or none is counted.
  std::optional<timestamp> lowest_;
};

/// What an id without a time of its own is filed under, and compared with the floor by: the time of its
/// record. Where that has none, the highest time that its partition has shown; else, where the stream is
/// (floor plus `window`); else 1970, as nothing is before the window then. `state` is that before the record,
/// `partition` one of its own. Never the clock: a replay must file what the first run filed.
[[nodiscard]] timestamp filed_time(const decoded_event&, const stream_state&, const partition_state&,
                                   std::chrono::milliseconds window) noexcept;

}  // namespace ratchet
