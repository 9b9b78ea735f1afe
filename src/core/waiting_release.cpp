// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Which waiting events are handled, and when: releases, retries, and gaps that are skipped.
#include <algorithm>

#include "core/aggregate_backlog.hpp"
#include "core/decide_version.hpp"
#include "core/sequence_range.hpp"
#include "core/shown_id.hpp"

namespace ratchet {

namespace {

constexpr const char* k_out_of_order =
    "Ratchet cannot tell whether it is newer than the last event that was handled: the sequence of one is a "
    "number "
    "and that of the other text, or both are digits as text, of two lengths";

}  // namespace

/// Releases what is next, until there is a gap or something fails; or the step has done enough: the next one
/// goes on.
void aggregate_backlog::cascade() {
  if (defers_) return accept_next();
  ready_ = false;
  pass_skipped();
  if (has_last_) drop_passed(last_);  // also what an earlier step did not have at hand
  while (!backlog_.held && backlog_.events() > 0) {
    if (next_is_hidden()) {
      ready_ = true;
      return;
    }
    const auto next = next_in_turn();
    const waiting_event& e = next->second.event;
    if (e.head.state == waiting_state::dead || waits_for_unknown(e.head)) return;
    if (e.head.state == waiting_state::retrying && !is_due(e)) return;
    if (e.head.state == waiting_state::parked && !may_be_next(e.head)) return;
    if (has_done_enough()) {
      ready_ = true;
      return;
    }
    if (!run_entry(next)) return;
    pass_skipped();
    drop_passed(last_);
  }
}

/// An event with a range was handled, or accepted, or skipped: what waited inside of it is stale, as if it
/// had come behind it. In the order of numbers nothing else that waits lies below.
void aggregate_backlog::drop_passed(sequence up_to) {
  if (!deps_.rules.has_ranges || !is_strict()) return;
  while (!entries_.empty() && entries_.begin()->first < up_to && entries_.begin()->second.whole)
    remove(entries_.begin(), &counters::stale);
}

/// What is behind L was skipped before what lies below it was taken back: it stays so.
void aggregate_backlog::pass_skipped() {
  const bool is_ahead = !backlog_.skipped.empty() && has_last_ && backlog_.skipped.back().last > last_;
  if (!is_ahead || !is_strict()) return;
  const sequence next = behind(last_);
  for (const sequence_range& r : backlog_.skipped) {
    if (r.holds(next)) return moved_to(r.last, std::nullopt, {}, time_);
  }
}

/// Adds what was not skipped yet, and says why.
void aggregate_backlog::skip_range(const sequence_range& range, const char* why) {
  for (const sequence_range& news : add_range(backlog_.skipped, range)) audit_skipped(news, why);
}

/// Since when the gap below this event is one: not before an operator opened it.
std::optional<timestamp> aggregate_backlog::age_of_gap(const waiting_head& above) const {
  if (!above.since || !backlog_.opened) return above.since;
  return std::max(*above.since, *backlog_.opened);
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
    const waiting_head& lowest = entries_.begin()->second.event.head;
    const std::optional<timestamp> since = age_of_gap(lowest);
    if (lowest.state != waiting_state::parked || !since || *since > began) return;
    if (is_left_to_people(lowest.sequence) || is_unknown()) return;
    // Of ranges one that was not looked up may begin below it; and nothing is missing below one that failed.
    if (deps_.rules.has_ranges && last_loaded_ && !deps_.stream_time) {
      ready_ = true;
      return;
    }
    if (next_in_turn()->second.event.head.state != waiting_state::parked) return;
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

/// Makes the event behind the lowest gap the next one. Only where it is parked.
void aggregate_backlog::skip_gap() {
  const sequence next = next_in_turn()->first;
  if (!has_last_ && deps_.rules.gate.first == first_number::any) {
    backlog_.adopted = next;
    return audit("first_adopted", "aggregate `" + shown_id(aggregate_) + "` begins with " +
                                      deps_.rules.number_text(next) +
                                      ", the lowest number that came in time");
  }
  pass_over_gap(" did not come in time");
}

/// The numbers below the waiting event that begins first are past, and it is handled unless cascade() is to
/// do so.
void aggregate_backlog::pass_over_gap(const char* why) {
  const auto at = next_in_turn();
  const sequence next = at->first;
  const sequence first = has_last_ ? behind(last_) : sequence{next.epoch, first_of_epoch()};
  const sequence to = before(at->second.event.head.begin());
  if (first <= to) {  // else L is the last number of its epoch already
    moved_to(to, std::nullopt, {}, time_);
    touch(time_here_);
    skip_range({first, to}, why);
  }
  if (may_be_next(at->second.event.head)) return;
  // A number of another epoch has no predecessor that says so: it goes by force.
  if (defers_) {
    drop_passed(next);
    touch(std::max(time_here_, at->second.event.record.time));
    return accept_entry(at);
  }
  if (run_entry(at)) drop_passed(next);
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
    if (is_out_of_order(e.head.sequence)) {
      leave_to_people(here);
      continue;
    }
    // One at L itself is a tie with what was applied there, and came later.
    if (has_last_ && e.head.sequence < last_) {
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

/// A newer event of `latest` was applied: nothing older is needed, and nothing that ties with it. They go in
/// their order, so that of two with one id the same one is filed last, whatever was at hand.
void aggregate_backlog::supersede_older() {
  for (auto at = entries_.begin(); at != entries_.end() && at->first <= last_ && at->second.whole;) {
    if (is_behind_hidden(at)) {
      ready_ = true;
      break;
    }
    const auto here = at++;
    is_out_of_order(here->first) ? leave_to_people(here) : remove(here, &counters::superseded);
  }
  look_behind();
}

bool aggregate_backlog::is_out_of_order(sequence s) const {
  return has_last_ && has_no_order(deps_.rules.gate, last_, s);
}

/// To run it may have an older event win, and to drop it may lose the newest.
void aggregate_backlog::leave_to_people(entries::iterator at) {
  waiting_event& e = at->second.event;
  if (e.head.state == waiting_state::dead) return;
  deps_.room.bytes -= e.bytes();
  set_state(at->second, waiting_state::dead);
  e.attempts = std::max(e.attempts, std::uint32_t{1});  // without any it would be one that came too old
  e.error = k_out_of_order;
  e.due.reset();
  deps_.room.bytes += e.bytes();
  tell(e.head, waiting_end::dead, e.record.where, e.record.place(), e.error);
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
