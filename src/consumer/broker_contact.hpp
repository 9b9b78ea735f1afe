// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "ports/clock.hpp"
#include "ports/source.hpp"
#include "process/log.hpp"
#include "telemetry/instance_status.hpp"

namespace ratchet {

/// Whether brokers answer at all, and the questions that find it out: about the logs of partitions, which no
/// fetch tells. Thread-safety: the owner's thread.
class broker_contact {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  struct dependencies {
    ratchet::source& source;
    const clock_port& clock;
    instance_status& status;
    log_ptr log;
  };
  /// What is to be asked about.
  struct questions {
    std::vector<topic_partition> anyhow;     ///< whose logs no fetch tells
    std::span<const topic_partition> known;  ///< one more each time of these, to see whether brokers answer
  };

  explicit broker_contact(dependencies deps) : deps_{std::move(deps)} {}

  /// A broker has answered, whatever it was.
  void note_answer();
  /// Records flow.
  void note_records();
  void note_trouble(const notice::trouble&);
  /// The question about this one has ended.
  void note_told(const topic_partition& where) { open_.erase(where); }

  /// Says where no broker has answered for a while, and asks a round of questions where one is due: `what` is
  /// called for it then. `is_urgent`: somebody waits for an answer.
  void turn(time_point now, bool is_urgent, const std::function<questions()>& what);

 private:
  void tell_of_silence(time_point now);
  [[nodiscard]] std::optional<topic_partition> next_of(std::span<const topic_partition> known);

  dependencies deps_;
  std::optional<time_point> last_turn_;
  std::optional<time_point> last_asked_;
  std::optional<topic_partition> asked_last_;   ///< only to see whether brokers answer
  std::optional<time_point> last_answer_;       ///< of any broker
  std::optional<time_point> unanswered_since_;  ///< when the first question since the last answer was asked
  std::set<topic_partition> open_;  ///< questions of the round under way; no other one begins meanwhile,
  time_point round_ends_{};         ///< but behind this
  bool are_away_{true};             ///< no broker answers, or nothing is known of that yet
  bool in_trouble_{false};          ///< a trouble was logged, and no record came since
  log_pace troubles_;
};

}  // namespace ratchet
