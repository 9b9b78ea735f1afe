// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What an operator decides about waiting events.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "core/aggregate_backlog.hpp"
#include "core/hex.hpp"
#include "core/sequence_range.hpp"
#include "core/shown_id.hpp"

namespace ratchet {

namespace {

constexpr const char* k_decided = " will not come: an operator decided";

/// By which it can be told again which bytes a decision was about.
std::string payload_text(std::size_t size, const hash128& hash) {
  return std::to_string(size) + (size == 1 ? " byte" : " bytes") + ", hash " + to_hex(hash);
}

audit_subject subject_of(const waiting_event& e) {
  return {.where = e.record.where, .offset = e.record.offset};
}

/// The event, where its record lies, and its payload. All that waits of a held aggregate is dead.
std::string told_of(const stream_rules& rules, std::string_view aggregate, const waiting_event& e,
                    bool held) {
  std::string text = "aggregate `" + shown_id(aggregate) + "`: event " + rules.number_text(e.head.sequence) +
                     ", " + name_of(held ? waiting_state::dead : e.head.state) + " (";
  const topic_partition& where = e.record.where;
  if (!where.topic.empty()) {
    text += where.topic + "/" + std::to_string(static_cast<std::int32_t>(where.partition)) + "@" +
            to_text(e.record.place()) + ", ";
  }
  return text + (e.tombstone ? "no payload" : payload_text(e.payload().size(), e.head.payload_hash)) + ")";
}

}  // namespace

/// One order leaves what it would leave in a step of its own.
waiting_answer aggregate_backlog::run(const waiting_command& order) {
  const waiting_answer answer = carry_out(order);
  catch_up();
  return answer;
}

waiting_answer aggregate_backlog::carry_out(const waiting_command& order) {
  entries& among = is_accepted(order.sequence) ? accepted_ : entries_;
  const auto at = among.find(order.sequence);
  if (at == among.end())
    return order.verb == waiting_verb::skip ? skip_to(order.sequence) : waiting_answer::none_waits;
  const std::string told =
      told_of(deps_.rules, aggregate_, at->second.event, backlog_.held && !is_accepted(order.sequence));
  const audit_subject about = subject_of(at->second.event);
  const bool was_accepted = is_accepted(order.sequence);
  const waiting_head head = at->second.event.head;
  // One that came too old was not waiting for its turn.
  const bool was_undecided = is_strict() && at->second.event.is_undecided();
  const bool is_ahead = was_undecided && has_before(head);
  const bool is_first = at == (was_accepted ? among.begin() : next_in_turn()) &&
                        (was_accepted || accepted_events_ == 0) && !waits_for_unknown(head);
  switch (order.verb) {
    case waiting_verb::replay:
      return replay(at, order);
    case waiting_verb::discard:
      if (defers_ && !has_room_to_reopen(at->second.event)) return waiting_answer::too_many_open;
      remove(at, &counters::discarded);
      if (was_accepted) take_back(head);
      if (is_strict() && time_here_) backlog_.opened = time_here_;
      audit("waiting_discarded", told + ", was discarded; its number is open again", about);
      if (!is_latest()) cascade();  // or the next one is not at hand, and its gap to be looked at
      return waiting_answer::done;
    case waiting_verb::skip:
      // What lies between ranges ahead of L still waits: there must be room for others, or two became one.
      if (is_ahead && backlog_.skipped.size() >= k_skipped_ranges / 2) return waiting_answer::not_first;
      if (!is_latest() && !is_first && !was_undecided) return waiting_answer::not_first;
      remove(at, &counters::skipped);
      audit("waiting_skipped", told + ", was skipped", about);
      if (was_accepted) {
        skip_accepted(head);
        return waiting_answer::done;
      }
      if (is_ahead) {
        // Its number is past. L comes to it when those below it have had their turn.
        (void)add_range(backlog_.skipped, {head.begin(), head.sequence});
        touch(time_here_);
      } else {
        skip_number(head);
      }
      follow_up();
      return waiting_answer::done;
  }
  return waiting_answer::none_waits;
}

/// L moves past the number of an event that was the next one, and over the gap below it.
void aggregate_backlog::skip_number(const waiting_head& of) {
  const sequence number = of.sequence;
  if (is_latest() && deps_.rules.gate.ties_by_offset) {
    // Others of its number may follow: only it counts as handled.
    if (has_last_ && number < last_) return;
    moved_to(number, of.id, of.payload_hash, time_);
  } else {
    if (has_last_ && (number <= last_ || is_out_of_order(number))) return;
    const sequence from = first_missing_below(number);
    if (from < of.begin())
      skip_range({from, before(of.begin())}, ": no event came, and the event after them was skipped");
    (void)add_range(backlog_.skipped, {from, number});
    drop_passed(number);
    moved_to(number, std::nullopt, {}, time_);
  }
  touch(time_here_);
}

/// Where an event is the lowest that waits: the first number of the gap before it, or its own.
sequence aggregate_backlog::first_missing_below(sequence lowest) const {
  if (!is_strict()) return lowest;
  if (has_last_) return behind(last_);
  if (deps_.rules.gate.first == first_number::any) return lowest;  // nobody knows where it begins
  return std::min(lowest, sequence{lowest.epoch, first_of_epoch()});
}

waiting_answer aggregate_backlog::replay(entries::iterator at, const waiting_command& order) {
  waiting_event& e = at->second.event;
  const sequence number = order.sequence;
  const bool lets_in = !backlog_.held && begins_an_epoch(at);
  if (e.head.state == waiting_state::parked && !backlog_.held && !order.payload && !lets_in)
    return waiting_answer::not_in_trouble;
  const bool only_released = backlog_.held && e.head.state == waiting_state::parked;
  const bool was_too_old = is_strict() && e.is_undecided();
  std::string told = told_of(deps_.rules, aggregate_, e, backlog_.held && !is_accepted(number)) +
                     (lets_in         ? ", is let in as the first of its epoch"
                      : was_too_old   ? ", counts as one that came in time"
                      : only_released ? ": its aggregate is no longer held and goes on where it can"
                                      : ", is tried again");
  if (order.payload)
    told += " with another payload (" + payload_text(order.payload->size(), order.payload_hash) + ")";
  audit("waiting_replayed", std::move(told), subject_of(e));
  if (backlog_.held && !others_are_loaded_) ready_ = true;  // a look at them is for the next step
  backlog_.held = false;
  deps_.room.bytes -= e.bytes();
  if (order.payload) {
    e.own_payload = order.payload;
    e.head.payload_hash = order.payload_hash;
    e.tombstone = false;
    at->second.changed = true;
    if (is_accepted(number) && number == last_) payload_hash_ = order.payload_hash;
  }
  if (e.head.state != waiting_state::parked) try_again(at);
  deps_.room.bytes += e.bytes();
  if (lets_in) pass_over_gap(k_decided);
  is_latest() ? retry_latest() : cascade();
  // Of those that were accepted this one alone: the others have their turn.
  const bool is_next = is_accepted(number) && accepted_.begin()->first == number;
  if (is_next && accepted_.begin()->second.event.head.state == waiting_state::retrying)
    (void)run_entry(accepted_.begin());
  return waiting_answer::done;
}

/// One that came too old counts from now on as if it had come in time: in strict order it is next, or what is
/// missing below it has the whole time-out to come.
void aggregate_backlog::try_again(entries::iterator at) {
  waiting_event& e = at->second.event;
  bool has_its_turn = true;
  if (e.is_undecided()) {
    count_undecided(e, -1);
    e.error.clear();
    has_its_turn = !is_strict() || (!next_is_hidden() && at == next_in_turn() && may_be_next(e.head));
    if (!has_its_turn && time_here_) backlog_.opened = time_here_;
  }
  set_state(at->second, has_its_turn ? waiting_state::retrying : waiting_state::parked);
  e.attempts = 0;
  e.due.reset();
  if (has_its_turn) e.due = deps_.now;
}

/// The lowest waits for somebody to let its epoch in, and is the first of it. Of a later one the numbers
/// before it are missing, too, and may still come.
bool aggregate_backlog::begins_an_epoch(entries::iterator at) {
  const waiting_head& head = at->second.event.head;
  const bool is_lowest = !is_accepted(head.sequence) && !next_is_hidden() && at == next_in_turn();
  return is_lowest && head.state == waiting_state::parked && is_left_to_people(head.sequence) &&
         (deps_.rules.gate.first == first_number::any ||
          is_first(head.sequence, deps_.rules.gate, head.begins_at));
}

/// Gives up numbers of the gap below the lowest event, up to this one.
waiting_answer aggregate_backlog::skip_to(sequence to) {
  if (!is_strict() || not_accepted() == 0 || next_is_hidden()) return waiting_answer::none_waits;
  if (is_unknown()) return waiting_answer::not_first;
  const sequence begin = next_in_turn()->second.event.head.begin();
  const bool in_gap =
      to < begin && (!has_last_ || to > last_) && (has_last_ || deps_.rules.gate.first != first_number::any);
  if (!in_gap) return waiting_answer::none_waits;
  const sequence first = has_last_ ? behind(last_) : sequence{to.epoch, first_of_epoch()};
  if (to < first) return waiting_answer::none_waits;
  skip_range({first, to}, k_decided);
  moved_to(to, std::nullopt, {}, time_);
  touch(time_here_);
  cascade();
  return waiting_answer::done;
}

}  // namespace ratchet
