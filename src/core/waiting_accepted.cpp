// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Events that were accepted and wait for their reducer: how they come to be that, are run, and are taken
// back.
#include <algorithm>

#include "core/aggregate_backlog.hpp"
#include "core/sequence_range.hpp"

namespace ratchet {

/// As run_incoming(), but for the reducer.
void aggregate_backlog::accept(const incoming_event& in) {
  const auto at = keep(in, waiting_state::parked, nullptr);
  waiting_event& e = at->second.event;
  // What stands in for its time is known now; where it is taken back and comes to be accepted again, it is
  // not.
  const bool has_own_time = !deps_.rules.opaque_ids || e.record.time;
  if (e.head.id && !has_own_time && filed_time_of(e) != in.id_time) e.id_time = in.id_time;
  if (in.event->begins_at) drop_passed(in.sequence);
  said_.push_back({in.index, {verdict::parked, reject_reason::none}});
  waits_.push_back({in.index, wait_reason::ready, {}});  // whatever its reducer is at: the gate let it in
  accept_entry(at);
  touch(in.age.seen);
  follow_up();
}

void aggregate_backlog::accept_entry(entries::iterator at) {
  const waiting_event& e = at->second.event;
  if (e.head.id) file(*e.head.id, filed_time_of(e), e.record.time);
  if (is_arrival() && at->second.stored) newly_accepted_.push_back(e.head);
  moved_to(e.head.sequence, e.head.id, e.head.payload_hash, std::nullopt);
  forget_id(e.head);
  ++accepted_events_;
  accepted_.insert(entries_.extract(at));
}

/// As cascade(). Whatever their reducers came to: of a stream that did not defer the lowest may have failed.
void aggregate_backlog::accept_next() {
  if (!others_are_loaded_) return;
  ready_ = false;
  pass_skipped();
  if (has_last_) drop_passed(last_);
  while (!backlog_.held && not_accepted() > 0) {
    if (next_is_hidden()) {
      ready_ = true;
      return;
    }
    const auto at = next_in_turn();
    const waiting_event& next = at->second.event;
    if (next.is_undecided() || waits_for_unknown(next.head) || !may_be_next(next.head)) return;
    drop_passed(next.head.sequence);
    touch(std::max(time_here_, next.record.time));
    accept_entry(at);
    pass_skipped();
    drop_passed(last_);
  }
}

/// In their order, until something fails, or the step has done enough.
void aggregate_backlog::run_accepted() {
  if (!accepted_are_loaded_) return;
  while (!accepted_.empty() && !has_done_enough()) {
    const waiting_event& e = accepted_.begin()->second.event;
    if (e.head.state == waiting_state::dead) return;
    if (e.head.state == waiting_state::retrying && !is_due(e)) return;
    ran_accepted_ = true;
    if (!run_entry(accepted_.begin())) return;
  }
}

bool aggregate_backlog::accepted_is_ready() const noexcept {
  if (accepted_events_ == 0) return false;
  if (!accepted_are_loaded_) return stored_->backlog.ready;
  return accepted_.empty() || accepted_.begin()->second.event.head.state == waiting_state::parked;
}

bool aggregate_backlog::is_reopened(const event_id& id) const {
  return std::any_of(backlog_.reopened.begin(), backlog_.reopened.end(),
                     [&id](const reopened_id& r) { return r.id == id; });
}

/// What lies before the window is not seen in any case.
void aggregate_backlog::forget_reopened(std::optional<timestamp> floor) {
  if (!floor) return;
  std::erase_if(backlog_.reopened, [&floor](const reopened_id& r) { return r.filed < *floor; });
}

/// No more of these are kept: who discards is told so, and one that is skipped counts as handled if it comes
/// again.
bool aggregate_backlog::has_room_to_reopen(const waiting_event& e) const {
  if (!e.head.id || deps_.rules.monotonic_ids || is_reopened(*e.head.id)) return true;
  return backlog_.reopened.size() < k_most_reopened;
}

/// It goes, and was not applied: its id may come again.
void aggregate_backlog::reopen(const waiting_event& e) {
  if (!e.head.id || deps_.rules.monotonic_ids || is_reopened(*e.head.id)) return;
  if (!has_room_to_reopen(e)) return;
  backlog_.reopened.push_back({*e.head.id, filed_time_of(e)});
}

/// The accepted event with this number is gone, and the number is open again: those behind it wait for it, as
/// if it had never come. In the order of arrival they do not.
void aggregate_backlog::take_back(const waiting_head& of) {
  const sequence gone = of.sequence;
  if (is_arrival() && gone != last_) return;
  if (!is_arrival()) {
    accepted_events_ = accepted_below(gone);
    // Behind what the queue had of them others may lie.
    if (accepted_end_) last_loaded_ = std::max(*accepted_end_, gone);
  }
  while (!accepted_.empty() && accepted_.rbegin()->first > gone) {
    const auto& [number, last] = *accepted_.rbegin();
    const waiting_event& e = last.event;
    const bool has_time = last.whole && e.head.id && !deps_.rules.monotonic_ids;
    if (has_time) count_if_ahead(filed_time_of(e), e.record.time, -1);
    entries_.insert(accepted_.extract(std::prev(accepted_.end())));
  }
  others_are_loaded_ = true;
  const sequence begin = of.begin();
  const bool is_lowest_of_all = begin == sequence{};
  const sequence below = is_lowest_of_all ? begin : before(begin);
  const bool follows_skipped = !is_arrival() && !is_lowest_of_all && backlog_.was_skipped(below);
  position now = handled_;
  if (!accepted_.empty()) {
    const waiting_head& head = accepted_.rbegin()->second.event.head;
    now = {true, head.sequence, head.id, head.payload_hash, std::nullopt};
  }
  if (follows_skipped && (!now.exists || now.number < below)) now = {true, below, std::nullopt, {}, {}};
  has_last_ = now.exists;
  last_ = now.number;
  id_ = now.id;
  payload_hash_ = now.payload_hash;
  if (is_arrival()) backlog_.highest = last_;
  const bool is_any = deps_.rules.gate.first == first_number::any;
  if (!has_last_ && is_strict() && is_any && not_accepted() > 0) backlog_.adopted = gone;
}

/// Not in the order of arrival: there those behind one that goes stay accepted.
std::uint64_t aggregate_backlog::accepted_below(sequence s) const {
  if (!accepted_end_ || s <= *accepted_end_) {
    const auto below = std::distance(accepted_.begin(), accepted_.lower_bound(s));
    return static_cast<std::uint64_t>(below);
  }
  const auto& asked = stored_->asked;
  const auto at = std::find_if(asked.begin(), asked.end(),
                               [s](const asked_row& row) { return row.event.head.sequence == s; });
  return at->accepted_below - lowest_gone_;
}

/// The lowest accepted event is gone, and L moves past its number.
void aggregate_backlog::skip_accepted(const waiting_head& of) {
  const sequence gone = of.sequence;
  sequence from = of.begin();
  if (handled_.exists) from = std::min(gone, std::max(from, behind(handled_.number)));
  (void)add_range(backlog_.skipped, {from, gone});
  handled_ = {true, gone, std::nullopt, {}, handled_.time};
  touch_late();
  if (gone != last_) return;
  id_.reset();
  payload_hash_ = {};
}

/// When nothing is left to be run, L may still lie behind numbers that were skipped since.
void aggregate_backlog::catch_up() {
  const bool is_behind = has_last_ && (!handled_.exists || handled_.number < last_);
  if (defers_ && accepted_events_ == 0 && is_behind)
    handled_ = {true, last_, id_, payload_hash_, handled_.time};
}

void aggregate_backlog::take_over_position() {
  if (!defers_) return;
  catch_up();
  const bool had_last = row_ != nullptr && row_->has_last;
  moved_ = handled_.exists && (!had_last || row_->last != handled_.number);
  has_last_ = handled_.exists;
  last_ = handled_.number;
  id_ = handled_.id;
  payload_hash_ = handled_.payload_hash;
  time_ = handled_.time;
}

/// Those that have waited longest have their turn first.
std::optional<timestamp> aggregate_backlog::wake_of_accepted(bool is_ready) const {
  const std::optional<timestamp> known = stored_ != nullptr ? stored_->backlog.wake : std::nullopt;
  const bool was_ready = stored_ != nullptr && stored_->backlog.accepted && stored_->backlog.ready;
  // None waits since a time to come; a clock that was set back may say so.
  const bool keeps_place = was_ready && !ran_accepted_ && known > timestamp{};
  if (is_ready) return keeps_place ? std::min(*known, deps_.now) : deps_.now;
  if (accepted_events_ == 0) return std::nullopt;
  return accepted_are_loaded_ ? accepted_.begin()->second.event.due : known;
}

}  // namespace ratchet
