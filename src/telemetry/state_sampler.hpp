// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <optional>

#include "ports/store.hpp"
#include "streams/partition_task.hpp"
#include "telemetry/run_meter.hpp"

namespace ratchet {

/// Takes samples of the streams' state for the meter, as seldom as offsets are committed. What a step changed
/// is shown once that step is durable, so that no counter ever goes back, not even over a power cut.
/// One owner thread.
class state_sampler {
 public:
  state_sampler(const task_list&, store&, run_meter&);

  /// Call it with each step that is written: its values may be the largest.
  void note(const step_batch&);
  /// Call it in every turn. Takes a sample at most once in `interval`.
  void turn(std::chrono::steady_clock::time_point now, std::chrono::milliseconds interval);

 private:
  [[nodiscard]] state_sample sample();

  const task_list& tasks_;
  store& store_;
  run_meter& meter_;
  std::optional<state_sample> waiting_;  ///< for its step to become durable
  std::map<stream_id, largest_values> largest_;
  std::uint64_t taken_;  ///< the step of the last sample
  std::chrono::steady_clock::time_point last_;
};

/// The streams as they stand after `step`, but for their oldest gaps, which only the store knows.
[[nodiscard]] state_sample sample_of(const task_list&, std::uint64_t step, const outbox_lanes&);

}  // namespace ratchet
