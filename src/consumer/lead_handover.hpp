// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

#include "pipeline/handover_desk.hpp"
#include "ports/clock.hpp"
#include "ports/source.hpp"
#include "process/log.hpp"
#include "ratchet/error.hpp"
#include "replicate/log_epoch.hpp"

namespace ratchet {

/// The owner's part of a planned hand-over: it looks for a standby, has the session end at rest, and stays
/// out of the group until another instance has fenced. Lives as long as the run: the group's client changes
/// meanwhile. Thread-safety: the owner's thread, but for is_leaving().
class lead_handover {
 public:
  /// `group`: its name, for people.
  lead_handover(handover_desk& desk, const clock_port& clock, log_ptr log, std::string group)
      : desk_{desk}, clock_{clock}, log_{std::move(log)}, group_{std::move(group)} {}

  // While this instance leads.
  /// Where a hand-over was asked for: begins it, or refuses it where the group has no standby. May wait for
  /// the brokers for two seconds then. `cannot_go_on`: why this instance can take nothing in; empty: it can.
  /// Where that lasts, it hands over unasked as soon as there is a standby.
  void look(source& group, const std::string& cannot_go_on = {});
  /// The session is to end as it does where it is told to stop.
  [[nodiscard]] const std::atomic<bool>& is_leaving() const noexcept { return is_leaving_; }
  /// The session ended in another way: this instance goes on.
  void gave_up(const std::string& why);
  /// All is confirmed, and the lead is let go. `epoch`: the highest of the log.
  void gave(replicate::log_epoch epoch);

  // While it does not.
  /// Where a hand-over was asked for: refuses it, and names the owner.
  void refuse(source& group);
  /// It keeps out of the group until the successor had the lead for some seconds, or did not take it.
  [[nodiscard]] bool awaits_successor(replicate::log_epoch epoch);
  /// Who is awaited; empty: nobody.
  [[nodiscard]] const std::string& successor() const noexcept { return to_; }

 private:
  using time_point = std::chrono::steady_clock::time_point;

  void begin(const group_member& next, const std::string& why);

  handover_desk& desk_;
  const clock_port& clock_;
  log_ptr log_;
  std::string group_;
  std::atomic<bool> is_leaving_{false};
  std::optional<time_point> stuck_since_;       ///< or since a standby was looked for in vain
  std::string to_;                              ///< while one is under way
  std::optional<replicate::log_epoch> own_at_;  ///< this instance let the lead go: at this epoch of the log
  time_point gave_at_;
  std::optional<time_point> led_at_;  ///< the successor has the lead since then
};

}  // namespace ratchet
