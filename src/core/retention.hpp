// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/step.hpp"
#include "core/stream_state.hpp"

/// `retention`: an aggregate of which nothing was handled for so long is forgotten. That is judged by times
/// alone, record by record: an aggregate that is forgotten is as if it had no row, whether its row is still
/// there or was removed since. So nobody sees when rows are removed.
namespace ratchet {

/// How far the stream is when a record comes, as `retention` measures it.
struct event_age {
  /// What was handled last before this is forgotten. None: nothing is.
  std::optional<timestamp> before{};
  /// Rows without a time of their own, too.
  bool forgets_untimed{false};
  /// When its aggregate will have been handled last, if the event is let through.
  std::optional<timestamp> seen{};
};

/// Whether anything is forgotten, or ever was.
[[nodiscard]] inline bool forgets(const stream_rules& rules, const stream_state& state) noexcept {
  return rules.retention || state.retention.before;
}

/// `seen`: aggregate_row::seen. The caller knows that none of its events waits, but for which it is kept.
[[nodiscard]] inline bool is_forgotten(const event_age& at, std::optional<timestamp> seen) noexcept {
  return at.before && (seen ? *seen < *at.before : at.forgets_untimed);
}

/// The same for whoever reads, where all that a stream has handled is at hand.
[[nodiscard]] inline bool is_forgotten(const retention_state& of, std::optional<timestamp> seen) noexcept {
  const std::optional<timestamp> last = seen ? seen : of.since;
  return of.before && last && *last < *of.before;
}

/// Moves on what is forgotten to where the stream is. For every step, behind what moves stream time.
void keep_up_retention(const stream_rules&, stream_state&);

/// `state` is that before the record, `partition` one of its own: where events of an aggregate come from one
/// partition, the time of that decides, and no other one's, but where it stood idle.
[[nodiscard]] event_age age_of(const stream_rules&, const stream_state&, const partition_state&,
                               std::optional<timestamp> record_time);

/// The event of an aggregate without a row is too old to be taken for its first. `seen`: its id says that it
/// was handled.
[[nodiscard]] bool is_too_old(const stream_rules&, const decoded_event&, const event_age&,
                              bool seen) noexcept;

/// The timer's step: takes away what is stored of those of the plan's aggregates that are forgotten. The plan
/// has no events.
[[nodiscard]] stream_change remove_forgotten(const stream_rules&, const stream_state& before,
                                             const step_plan&, const step_rows&);

}  // namespace ratchet
