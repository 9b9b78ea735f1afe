// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <span>

#include "consumer/clock_watch.hpp"
#include "consumer/durability.hpp"
#include "consumer/flow_control.hpp"
#include "pipeline/step_lines.hpp"
#include "ports/clock.hpp"
#include "ports/source.hpp"
#include "ports/store.hpp"
#include "process/log.hpp"
#include "ratchet/config.hpp"
#include "telemetry/instance_status.hpp"
#include "telemetry/run_meter.hpp"
#include "telemetry/state_sampler.hpp"

namespace ratchet {

/// Tells how a session fares: metrics, samples of the state, lines of steps, the clock. Decides nothing.
/// Thread-safety: the owner's thread.
class session_reporter {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  struct dependencies {
    const config& settings;
    const stream_list& streams;
    const task_list& tasks;
    ratchet::store& store;  ///< asked for its oldest gaps
    const ratchet::source& source;
    const clock_port& clock;
    instance_status& status;
    run_meter& meter;
    log_ptr log;
    const durability& durable;
    const flow_control& flow;
  };
  explicit session_reporter(dependencies);
  /// Says what lines were held back.
  ~session_reporter();
  session_reporter(const session_reporter&) = delete;
  session_reporter& operator=(const session_reporter&) = delete;

  /// A step was written.
  void note(const step_batch&);
  /// These have just come.
  void look_at(std::span<const record>);
  void turn(time_point now);
  /// Says what is wrong with the clock, and when that is over.
  void watch_clock();
  /// Everything is durable, and the run is about to end.
  void end(time_point now);

 private:
  void tell_resources();

  dependencies deps_;
  state_sampler sampler_;
  step_lines lines_;
  clock_watch clock_watch_;
  std::optional<time_point> last_resources_;
  std::optional<time_point> clock_was_wrong_;  ///< last, of what is not over yet
};

}  // namespace ratchet
