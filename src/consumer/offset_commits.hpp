// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "consumer/committer.hpp"
#include "ports/clock.hpp"
#include "ports/durable_steps.hpp"
#include "ports/source.hpp"
#include "process/log.hpp"
#include "ratchet/config.hpp"
#include "telemetry/instance_status.hpp"
#include "telemetry/run_meter.hpp"

namespace ratchet {

/// When offsets are committed to the group, and what follows where the brokers refuse it. Only what is
/// durable is ever committed. Thread-safety: the owner's thread.
class offset_commits {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  struct dependencies {
    const config& settings;
    const durable_steps& store;
    ratchet::source& source;
    const clock_port& clock;
    instance_status& status;
    run_meter& meter;
    log_ptr log;
    const std::vector<std::string>& topics;                             ///< that are read
    std::function<std::string_view(const topic_partition&)> stream_of;  ///< the name of who reads it
  };

  explicit offset_commits(dependencies);

  /// Whose commits they are. To be called before anything else; again, where it takes the group over.
  void sign(std::string store_uuid, incarnation);
  /// Takes these over for the group, at these offsets, and waits for that. How many. Errors: of the source.
  [[nodiscard]] result<std::size_t> claim(std::span<const position>);
  void also_assigned(std::span<const position>);
  void unassigned();
  /// The step moved the next offsets of these.
  void moved(std::uint64_t step, std::span<const position>);

  /// Begins a commit of what is durable, where one is due.
  void turn(time_point now);
  /// The commit under way has ended.
  void ended(const notice::commit_done&);
  /// Commits all that is durable and waits for it; nothing where nothing is left. Errors: of the source.
  [[nodiscard]] result<void> commit_all(std::chrono::milliseconds timeout);

  /// The brokers refuse this user since it reads: not ready until a commit is taken again.
  void note_denied(access_kind, const std::string& text, const std::string& topic);

 private:
  void note_allowed();
  void tell_committed(std::span<const commit_request>);

  dependencies deps_;
  std::optional<committer> offsets_;
  time_point last_;
  std::optional<std::string> denied_;  ///< why the brokers refuse this user, while they do
  log_pace denials_;
  log_pace failures_;
};

}  // namespace ratchet
