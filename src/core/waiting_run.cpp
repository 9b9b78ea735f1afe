// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of aggregate_backlog that runs the reducer, and says what follows from its answer.
#include <algorithm>
#include <string>
#include <utility>

#include "core/aggregate_backlog.hpp"
#include "core/backoff.hpp"
#include "core/unavailable_columns.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

reducer_call aggregate_backlog::call(const event& e, std::optional<timestamp> record_time, bool tombstone) {
  if (tombstone) {
    folded_.drop();
    state_.erase();
    ran_ = true;
    return {};
  }
  std::optional<state> before;  // a folded one takes its last patch back
  if (!folded_.is_folded()) before = state_;
  const std::size_t size = state_.value().size();
  const bool whole = deps_.reduce.traits().full_state && !deps_.rules.keeps_columns;
  if (whole) state_.erase();  // what came before must not show through
  reducer_call ended = call_folding(e);
  if (ended.how == ending::done) {
    ran_ = true;
    state_.keep();  // it stays for the events behind this one, which may go before
    deps_.work.made(ended);
    if (!ended.outputs.empty()) outputs_.push_back(outputs_of(0, e, record_time, std::move(ended.outputs)));
    add_changes(tables_, 0, at_, std::move(ended.tables));
  } else if (!folded_.is_folded() && before) {
    state_ = std::move(*before);
  }
  deps_.work.moved(folded_.is_folded() ? folded_.take_work() : size + state_.value().size());
  deps_.work.called();
  return ended;
}

/// Where it fails, what it did to a state that is folded is undone; to one that is not, it is not.
reducer_call aggregate_backlog::call_folding(const event& e) {
  const auto call = [&] { return call_reducer(deps_.reduce, deps_.rules.outputs, e, state_); };
  if (state_.value().size() < folded_state::k_long) return call();
  const std::size_t patches = folded_.patches();
  const folded_state::turn turn{folded_};
  reducer_call ended = call();
  if (ended.how != ending::done && folded_.patches() > patches) folded_.undo();
  return ended;
}

/// The row of a change that lacks columns, with those that the changes before `end` brought, the newest
/// first: they wait, so that what is stored does not have them yet. None: it lacks none, or nothing waits
/// before it.
std::optional<std::string> aggregate_backlog::completed(std::string_view type, std::string_view payload,
                                                        entries::const_iterator end) const {
  if (!deps_.rules.keeps_columns || end == entries_.begin()) return std::nullopt;
  const unavailable_columns unavailable{deps_.rules.unavailable};
  std::optional<std::string> row;
  while (end != entries_.begin() && !brings_all_columns(type) &&
         unavailable.may_be_in(row ? std::string_view{*row} : payload)) {
    const waiting_event& before = (--end)->second.event;
    if (!end->second.whole) continue;
    type = before.type;  // of a row that is new nothing before it is looked for
    row = unavailable.filled(row ? std::string_view{*row} : payload, before.payload());
  }
  return row;
}

void aggregate_backlog::run_incoming(const incoming_event& in) {
  const decoded_event& e = *in.event;
  const bool with_id = e.has_id && deps_.rules.dedup;
  const auto row = completed(e.type, e.payload, entries_.upper_bound(in.sequence));
  const event view{.stream = deps_.rules.stream,
                   .aggregate = aggregate_,
                   .sequence = is_arrival() ? next_number() : in.sequence,
                   .id = with_id ? std::optional{e.id} : std::nullopt,
                   .type = e.type,
                   .time = e.time,
                   .payload = row ? std::string_view{*row} : e.payload,
                   .topic = e.from->where->topic,
                   .partition = e.from->where->partition,
                   .offset = e.from->offset,
                   .index = e.from->index};
  reducer_call ended = call(view, e.record_time, e.kind == decoded_kind::tombstone);
  switch (ended.how) {
    case ending::done:
      moved_to(view.sequence, view.id, e.payload_hash, e.time ? e.time : e.record_time);
      touch(in.age.seen);
      if (with_id) file(e.id, in.id_time, e.record_time);
      if (e.begins_at) drop_passed(in.sequence);
      decide_now(in, {verdict::applied, reject_reason::none});
      return follow_up();
    case ending::retry:
      return wait(in, deps_.rules.retry.attempts > 1 ? waiting_state::retrying : waiting_state::dead, &ended);
    case ending::give_up:
      return wait(in, waiting_state::dead, &ended);
    case ending::stop:
      stopped_ = stop{in.event, std::move(ended)};
  }
}

void aggregate_backlog::note_failure(waiting_event& e, const reducer_call& failure) const {
  ++e.attempts;
  e.last_attempt = deps_.now;
  e.error = failure.error();
  e.due.reset();
  if (e.head.state == waiting_state::retrying) {
    e.due = deps_.now + backoff(deps_.rules.retry, aggregate_, e.head.sequence, e.attempts);
  }
}

bool aggregate_backlog::run_entry(entries::iterator at) {
  entry& e = at->second;
  waiting_event& waiting = e.event;
  const auto row = completed(waiting.type, waiting.payload(), at);
  const event view{.stream = deps_.rules.stream,
                   .aggregate = aggregate_,
                   .sequence = waiting.head.sequence,
                   .id = waiting.head.id,
                   .type = waiting.type,
                   .time = waiting.time,
                   .payload = row ? std::string_view{*row} : waiting.payload(),
                   .topic = waiting.record.where.topic,
                   .partition = waiting.record.where.partition,
                   .offset = waiting.record.offset,
                   .index = waiting.record.index,
                   .attempt = waiting.attempts + 1};
  const reducer_call ended = call(view, waiting.record.time, waiting.tombstone);
  if (ended.how == ending::done) {
    const auto time = waiting.time ? waiting.time : waiting.record.time;
    if (defers_) {
      handled_ = {true, waiting.head.sequence, waiting.head.id, waiting.head.payload_hash, time};
      touch_late();
    } else {
      moved_to(waiting.head.sequence, waiting.head.id, waiting.head.payload_hash, time);
      touch(std::max(time_here_, waiting.record.time));
    }
    remove(at, &counters::applied);
    return true;
  }
  const bool again = ended.how == ending::stop ||
                     (ended.how == ending::retry && waiting.attempts + 1 < deps_.rules.retry.attempts);
  deps_.room.bytes -= waiting.bytes();
  set_state(e, again ? waiting_state::retrying : waiting_state::dead);
  note_failure(waiting, ended);
  deps_.room.bytes += waiting.bytes();
  if (!again) {
    tell(waiting.head, waiting_end::dead, waiting.record.where, waiting.record.place(), waiting.error);
  }
  if (ended.how == ending::stop) {
    partition_stop failure;
    failure.where = waiting.record.where;
    failure.offset = waiting.record.offset;
    failure.index = waiting.record.index;
    failure.code = make_error_code(errc::reducer_failed);
    failure.aggregate = std::string{aggregate_};
    stops_.push_back(stop_of(std::move(failure), ended));
  }
  return false;
}

}  // namespace ratchet
