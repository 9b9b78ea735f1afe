// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "consumer/member_name.hpp"
#include "ports/clock.hpp"
#include "ports/source.hpp"
#include "process/log.hpp"
#include "ratchet/config.hpp"
#include "ratchet/error.hpp"
#include "telemetry/instance_status.hpp"

namespace ratchet {

/// Whether another instance of a pair has the name of this one. People are sent to an instance by its name,
/// so of two with one name the second is refused. One that was killed is in the group until its session ends,
/// and may have been this instance before a restart: it is waited for. An instance that was in the group
/// without another of its name is refused no more, but says that there is one. Lives as long as the run.
/// Thread-safety: the owner's thread.
class namesakes {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  struct dependencies {
    const config& settings;
    const member_names& own;
    const clock_port& clock;
    instance_status& status;
    log_ptr log;
  };
  explicit namesakes(dependencies deps);

  /// Looks who is in the group: asks the brokers, and waits for them, for a second at most. What they do not
  /// say is asked again. `is_member`: this instance is in the group.
  void look(source& group, bool is_member);
  /// It is time to look again.
  [[nodiscard]] bool is_due(time_point now) const;
  /// The group gave the slot to this instance.
  void took_lead();
  /// Those that were seen may be gone, or others be there: the group was joined, or has assigned anew.
  void look_again() noexcept { next_look_.reset(); }
  /// Why this instance must end; none: it may go on.
  [[nodiscard]] const std::optional<problem>& refused() const noexcept { return refused_; }
  /// Who may have its name; empty: nobody.
  [[nodiscard]] std::string why_not_ready() const;

 private:
  [[nodiscard]] std::optional<group_member> find(const std::vector<group_member>&) const;
  [[nodiscard]] std::chrono::milliseconds patience() const;
  void found(const group_member&, time_point now);
  void forget();

  dependencies deps_;
  std::optional<time_point> next_look_;  ///< none: now
  std::optional<time_point> since_;      ///< there is one
  std::string other_;                    ///< where it is
  bool came_second_{false};              ///< it was there before this instance
  bool has_name_{false};                 ///< this instance was in the group without another of its name
  std::optional<problem> refused_;
};

}  // namespace ratchet
