// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/step.hpp"
#include "core/stream_state.hpp"
#include "decode/decoder.hpp"
#include "ports/step_store.hpp"
#include "streams/stream_definition.hpp"

namespace ratchet {

/// One slot of a stream: the state that the owner thread holds of it, and what is next to do there. A stream
/// has one task, whose slot is the whole instance. One thread: the owner's, but for `stream`.
struct partition_task {
  const stream_definition& stream;
  ratchet::slot slot{k_instance_slot};
  stream_rules rules;       ///< the stream's, with what the state says beside them
  stream_state state{};     ///< as of the last step written
  stream_state at_start{};  ///< to tell what this run did
  /// Not later than the first time, by the clock, when something that waits is to be done; none: nothing is.
  std::optional<timestamp> next_wake{};
  /// Aggregates whose release was bounded by its step, and goes on before anything else.
  std::vector<std::string> ready{};
  /// So many events are taken into the next step at most: twice those of the last one that a release, a limit
  /// or an old gap ended early, and more again with each that came to its end. Otherwise a batch that has to
  /// go in many steps would be looked up whole for each of them.
  std::size_t pace{std::numeric_limits<std::size_t>::max()};
  /// Of so many events a step runs the reducer at most, so that none lasts much longer than a second: between
  /// steps it is seen that the program is alive, and that it is to stop. Follows how long the last ones took.
  std::size_t events_in_time{1024};
  /// There may be others of which only the store knows.
  bool may_have_ready{false};
  /// `deferred`: of how many events a step runs the reducer, so that it takes about as long as it may.
  std::size_t events_at_once{16};
  /// Not later than the time, in stream time, when the oldest gap began.
  std::optional<timestamp> oldest_gap{};
  /// Of what this process has decoded, and then handled.
  field_counts fields{};
  bool unlikely_times_told{false};  ///< in the log, once
  /// When it was last looked for what is due too late, by the steady clock.
  std::optional<std::chrono::steady_clock::time_point> too_late_looked_at{};
  /// When the ages of rejected records were last looked at, by the clock.
  std::optional<timestamp> rejected_looked_at{};
  /// Rows of forgotten aggregates are being looked for, behind this aggregate.
  bool looks_for_forgotten{false};
  std::optional<std::string> forgotten_after{};
  /// Those that were handled before this were looked for, or are.
  std::optional<timestamp> forgotten_looked_for{};

  /// `of` must outlive it.
  explicit partition_task(const stream_definition& of, ratchet::slot in = k_instance_slot)
      : stream{of}, slot{in}, rules{of.rules} {}

  /// Where the store has it.
  [[nodiscard]] stream_slot place() const noexcept { return {stream.id, slot}; }
};

using task_list = std::vector<std::unique_ptr<partition_task>>;

/// One for each stream, in their order. The streams must outlive them.
[[nodiscard]] task_list make_tasks(const stream_list&);

/// Grows with each event that is taken in, and with each that stops waiting.
[[nodiscard]] std::uint64_t handled_in(const task_list&) noexcept;

/// Reads ids and states from the store. Errors: those of store::load.
[[nodiscard]] result<void> load_tasks(const stream_list&, const task_list&, step_store&);

}  // namespace ratchet
