// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Which waiting events are handled, and when: releases, retries, and gaps that are skipped.
#include <algorithm>

#include "core/aggregate_backlog.hpp"
#include "core/sequence_range.hpp"
#include "core/shown_id.hpp"

namespace ratchet {

/// Releases what is next, until there is a gap or something fails; or the step has done enough: the next one
/// goes on.
void aggregate_backlog::cascade() {
  if (defers_) return accept_next();
  ready_ = false;
  while (!backlog_.held && backlog_.events() > 0) {
    if (next_is_hidden()) {
      ready_ = true;
      return;
    }
    const auto next = entries_.begin();
    const waiting_event& e = next->second.event;
    if (e.head.state == waiting_state::dead) return;
    if (e.head.state == waiting_state::retrying && !is_due(e)) return;
    if (e.head.state == waiting_state::parked && !may_be_next(e.head)) return;
    if (has_done_enough()) {
      ready_ = true;
      return;
    }
    if (!run_entry(next)) return;
  }
}

void aggregate_backlog::resume(std::optional<timestamp> gaps, bool runs_accepted) {
  if (is_latest()) return retry_latest();
  if (!backlog_.held) cascade();
  if (gaps) skip_gaps(*gaps);
  if (runs_accepted) run_accepted();
}

/// Skips what began then or before, one gap behind the other.
void aggregate_backlog::skip_gaps(timestamp began) {
  while (!stopped_ && !backlog_.held && not_accepted() > 0 && !next_is_hidden()) {
    const waiting_head& next = entries_.begin()->second.event.head;
    if (next.state != waiting_state::parked || !next.since || *next.since > began) return;
    if (is_left_to_people(next.sequence)) return;
    // What is behind the gap would be for the next step, and so is the gap.
    if (has_done_enough()) {
      ready_ = true;
      return;
    }
    skip_gap();
    cascade();
    if (ready_) return;
  }
}

/// Makes the lowest waiting event the next one. Only where it is parked behind a gap.
void aggregate_backlog::skip_gap() {
  const sequence next = entries_.begin()->first;
  if (!has_last_ && deps_.rules.gate.first == first_number::any) {
    backlog_.adopted = next;
    return audit("first_adopted", "aggregate `" + shown_id(aggregate_) + "` begins with " +
                                      deps_.rules.number_text(next) +
                                      ", the lowest number that came in time");
  }
  pass_over_gap(" did not come in time");
}

/// The numbers below the lowest waiting event are past, and it is handled unless cascade() is to do so.
void aggregate_backlog::pass_over_gap(const char* why) {
  const sequence next = entries_.begin()->first;
  const sequence first = has_last_ ? behind(last_) : sequence{next.epoch, first_of_epoch()};
  const std::optional<std::uint64_t> begin = entries_.begin()->second.event.head.begins_at;
  const sequence to = before(begin ? sequence{next.epoch, *begin} : next);
  if (first <= to) {  // else L is the last number of its epoch already
    add_range(backlog_.skipped, {first, to});
    moved_to(to, std::nullopt, {}, time_);
    touch(time_here_);
    audit_skipped({first, to}, why);
  }
  if (may_be_next(entries_.begin()->second.event.head)) return;
  // A number of another epoch has no predecessor that says so: it goes by force.
  const auto at = entries_.begin();
  if (defers_) {
    touch(std::max(time_here_, at->second.event.record.time));
    return accept_entry(at);
  }
  (void)run_entry(at);
}

void aggregate_backlog::retry_latest() {
  ready_ = false;
  for (auto at = entries_.begin(); at != entries_.end();) {
    const auto here = at++;
    if (!here->second.whole) continue;
    if (has_done_enough()) {
      ready_ = true;
      return;
    }
    const waiting_event& e = here->second.event;
    if (has_last_ && e.head.sequence <= last_) {
      remove(here, &counters::superseded);
    } else if (!backlog_.held && e.head.state == waiting_state::retrying && is_due(e)) {
      if (run_entry(here)) {
        supersede_older();
        at = entries_.upper_bound(last_);
      }
    }
  }
  look_behind();
}

/// A newer event of `latest` was applied: nothing older is needed, and nothing that ties with it.
void aggregate_backlog::supersede_older() {
  while (!entries_.empty() && entries_.begin()->first <= last_ && entries_.begin()->second.whole)
    remove(entries_.begin(), &counters::superseded);
  look_behind();
}

/// All of `latest` that were at hand are gone, so that those behind them may be needless, too: whether this
/// step moved L or an earlier one did.
void aggregate_backlog::look_behind() {
  if (next_is_hidden()) ready_ = true;
}

/// What follows from an L that moved.
void aggregate_backlog::follow_up() {
  is_latest() ? supersede_older() : cascade();
}

}  // namespace ratchet
