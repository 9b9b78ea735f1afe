// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <string_view>

#include "consumer/outbox_delivery.hpp"
#include "consumer/space_guard.hpp"
#include "pipeline/pipeline.hpp"
#include "ports/outbox_store.hpp"
#include "process/log.hpp"
#include "ratchet/config.hpp"
#include "telemetry/instance_status.hpp"

namespace ratchet {

/// Why reading pauses: the disk or the outbox is nearly full, which holds everything; too much waits for a
/// sink, or too many deferred events, which holds the streams that make it. Each reason ends well below its
/// limit, so that it does not toggle. Decides and tells; who reads does the pausing. Thread-safety: the
/// owner's thread.
class flow_control {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  struct dependencies {
    const config& settings;
    const task_list& tasks;
    const outbox_store& store;
    instance_status& status;
    log_ptr log;
    const pipeline& steps;
    const outbox_delivery& delivery;
    const disk_space_port* space{nullptr};  ///< none: the system's
  };
  explicit flow_control(dependencies);

  /// Forgets what the session before has put on the status.
  void begin();
  /// Finds out what is full now.
  void look(time_point now);
  /// Says now and then that the disk is nearly full.
  void tell_of_disk(time_point now);
  /// Says that nothing holds everything any more.
  void tell_of_room();

  /// Nothing is read, and nothing is written that can wait.
  [[nodiscard]] bool holds_all() const noexcept { return space_.low() || outbox_is_full_; }
  [[nodiscard]] bool holds_any() const noexcept { return holds_all() || !streams_.empty(); }
  /// The stream is not read.
  [[nodiscard]] bool holds(stream_id id) const { return holds_all() || streams_.contains(id); }
  [[nodiscard]] const space_guard& space() const noexcept { return space_; }
  /// Where it holds all: for whoever wants to write.
  [[nodiscard]] std::string why_all() const;

 private:
  void look_at_outbox();
  void look_at_sinks();
  void look_at_deferred();
  [[nodiscard]] bool is_full(std::uint64_t bytes, bool was_full) const noexcept;
  [[nodiscard]] std::set<stream_id> streams_to_hold() const;

  dependencies deps_;
  space_guard space_;
  log_pace space_lines_;
  bool outbox_is_full_{false};
  std::set<std::string> full_sinks_;
  std::set<stream_id> full_streams_;  ///< of deferred events
  std::set<stream_id> streams_;       ///< those that are held
};

}  // namespace ratchet
