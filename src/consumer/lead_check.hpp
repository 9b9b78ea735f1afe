// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "consumer/space_guard.hpp"
#include "ports/disk_space.hpp"
#include "process/log.hpp"
#include "ratchet/config.hpp"
#include "ratchet/error.hpp"
#include "telemetry/instance_status.hpp"

namespace ratchet {

/// Whether an instance could own a replicated state: its disk has room for what the log brings, and its
/// config has a place for all that the state holds. A start asks that once; a state that follows a log
/// becomes another one behind the start. Raises a condition while it could not, and says so in the log. Lives
/// as long as the run. Thread-safety: the owner's thread.
class lead_check {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  struct dependencies {
    const config& settings;
    const disk_space_port* space;  ///< null: the system's
    instance_status& status;
    log_ptr log;
    /// What a start would be refused for with the state that is here; an error of the store counts as
    /// nothing, as whoever leads will meet it.
    std::function<std::optional<problem>()> refusal;
  };
  explicit lead_check(dependencies deps);

  /// Looks at the disk, once in a while. True: the log is to be read no further.
  [[nodiscard]] bool has_no_room(time_point now);
  /// The same while this instance leads, when its session raises and says that: why it can take nothing in;
  /// empty: it can.
  [[nodiscard]] std::string short_of_room(time_point now);
  /// Why this instance must not be in the group; empty: it may be. Looks at the state once in a while, where
  /// the log was read to its end; what was refused has to be right for some seconds, as whoever joins the
  /// group disturbs its owner.
  [[nodiscard]] std::string why_not(time_point now, bool is_at_end);
  /// The lead is here: looks at once. False: it is to be given back.
  [[nodiscard]] bool may_lead(time_point now);

 private:
  void take(std::optional<problem> refused, time_point now);
  void allow();

  dependencies deps_;
  space_guard space_;
  log_pace space_lines_;
  log_pace refusal_lines_;
  std::optional<time_point> looked_at_;
  std::optional<time_point> right_since_;  ///< while it was refused before
  std::string refused_;                    ///< why; empty: nothing stands against it
};

}  // namespace ratchet
