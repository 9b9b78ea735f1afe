// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/aggregate_backlog.hpp"

#include <algorithm>

#include "core/backoff.hpp"
#include "core/counted_sequence.hpp"
#include "core/decide_version.hpp"
#include "core/parked_epoch.hpp"
#include "core/sequence_range.hpp"
#include "core/shown_id.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

namespace {

constexpr const char* k_id_too_old =
    "its id is older than the window, so Ratchet cannot tell whether it was handled: replay it, or skip it";
constexpr const char* k_too_old =
    "it is older than `retention` and its aggregate is unknown, so Ratchet cannot tell whether it was "
    "handled: replay it, or skip it";

/// Why an event waits that is too old.
[[nodiscard]] const char* text_of_too_old(order o) noexcept {
  return o == order::arrival ? k_id_too_old : k_too_old;
}

[[nodiscard]] waiting_event make_waiting(const incoming_event& in, bool with_id, timestamp now) {
  const decoded_event& e = *in.event;
  const record& from = *e.from;
  waiting_event out;
  out.head.sequence = in.sequence;
  out.head.begins_at = e.begins_at;
  if (with_id && e.has_id) out.head.id = e.id;
  out.head.payload_hash = e.payload_hash;
  out.tombstone = e.kind == decoded_kind::tombstone;
  out.type = std::string{e.type};
  out.time = e.time;
  out.first_seen = now;
  out.record.where = *from.where;
  out.record.offset = from.offset;
  out.record.index = from.index;
  out.record.time = e.record_time;
  if (from.key) out.record.key = std::string{*from.key};
  out.record.value = value_alone(from);
  for (const header& h : from.headers) {
    out.record.headers.emplace_back(h.name, h.value ? std::optional{std::string{*h.value}} : std::nullopt);
  }
  const char* const begin = from.value ? from.value->data() : nullptr;
  const bool inside = begin != nullptr && e.payload.data() >= begin &&
                      e.payload.data() + e.payload.size() <= begin + from.value->size();
  if (inside) {
    const std::size_t before = from.part_of != nullptr ? from.part_of->before.size() : 0;
    out.payload_begin = before + static_cast<std::uint64_t>(e.payload.data() - begin);
    out.payload_size = e.payload.size();
  } else if (!out.tombstone) {
    out.own_payload = std::string{e.payload};
  }
  return out;
}

[[nodiscard]] waiting_end end_of(std::uint64_t counters::*becomes) noexcept {
  if (becomes == &counters::applied) return waiting_end::released;
  if (becomes == &counters::superseded) return waiting_end::superseded;
  if (becomes == &counters::stale) return waiting_end::stale;
  return becomes == &counters::skipped ? waiting_end::skipped : waiting_end::discarded;
}

}  // namespace

void waiting_room::add(std::uint64_t event_bytes) noexcept {
  ++events;
  bytes += event_bytes;
  if (events > most_events || bytes > most_bytes) exceeded = true;
}

void waiting_room::remove(std::uint64_t event_bytes) noexcept {
  --events;
  bytes -= event_bytes;
}

waiting_room room_of(const stream_rules& rules, const counters& now) {
  return {now.waiting(), now.waiting_bytes, rules.waiting.events, rules.waiting.bytes};
}

const backlog_rows* find_backlog(const step_rows& rows, std::uint32_t aggregate) {
  const auto at =
      std::lower_bound(rows.backlogs.begin(), rows.backlogs.end(), aggregate,
                       [](const auto& entry, std::uint32_t index) { return entry.first < index; });
  return at != rows.backlogs.end() && at->first == aggregate ? &at->second : nullptr;
}

partition_stop stop_of(partition_stop stop, const reducer_call& ended) {
  stop.cause = ended.cause;
  stop.what = ended.thrown;
  stop.remedy = ended.remedy;
  return stop;
}

published_outputs outputs_of(std::uint32_t aggregate, const event& e, std::optional<timestamp> record_time,
                             std::vector<owned_output> outputs) {
  return {aggregate,
          e.sequence,
          e.id,
          std::string{e.type},
          {std::string{e.topic}, e.partition},
          e.offset,
          record_time,
          std::move(outputs),
          e.index};
}

aggregate_backlog::aggregate_backlog(const dependencies& deps, std::string_view aggregate,
                                     const aggregate_row* row, const backlog_rows* stored)
    : deps_{deps}, aggregate_{aggregate}, row_{row}, stored_{stored}, time_here_{deps.stream_time} {
  if (row != nullptr) seen_ = row->seen;
  if (row != nullptr && row->has_last) {
    has_last_ = true;
    last_ = row->last;
    id_ = row->id;
    payload_hash_ = row->payload_hash;
    time_ = row->time;
    if (!row->deleted) state_.assign(row->snapshot);
  }
  defers_ = deps.rules.deferred || (stored != nullptr && stored->backlog.accepted);
  if (defers_) handled_ = {has_last_, last_, id_, payload_hash_, time_};
  if (stored == nullptr) return;
  backlog_ = stored->backlog;
  ready_ = backlog_.goes_on();
  if (const auto& accepted = backlog_.accepted) {
    has_last_ = true;
    last_ = accepted->sequence;
    id_ = accepted->id;
    payload_hash_ = accepted->payload_hash;
    accepted_events_ = accepted->events;
  }
  for (const waiting_event& e : stored->queue) {
    entries& among = backlog_.is_accepted(e.head.sequence) ? accepted_ : entries_;
    among.emplace(e.head.sequence, entry{.event = e, .stored = true, .index = {}});
  }
  if (!stored->complete && !stored->queue.empty()) last_loaded_ = stored->queue.back().head.sequence;
  accepted_are_loaded_ = accepted_events_ == 0 || !accepted_.empty();
  others_are_loaded_ = stored->complete || !entries_.empty();
  if (accepted_.size() < accepted_events_ && !accepted_.empty()) accepted_end_ = accepted_.rbegin()->first;
  for (const asked_row& asked : stored->asked) {
    const waiting_head& head = asked.event.head;
    entries& among = backlog_.is_accepted(head.sequence) ? accepted_ : entries_;
    entry before{.event = {}, .whole = false, .stored = true, .index = {}};
    before.event.head = asked.previous;
    among.emplace(asked.previous.sequence, std::move(before));
    among.insert_or_assign(head.sequence,
                           entry{.event = asked.event, .stored = true, .index = {}, .asked = true});
  }
  for (const waiting_head& head : stored->near) {
    entry known{.event = {}, .whole = false, .stored = true, .index = {}};
    known.event.head = head;
    entries_.emplace(head.sequence, std::move(known));
  }
}

bool aggregate_backlog::take(const incoming_event& came) {
  if (stopped_) return false;
  incoming_event in = came;
  at_ = in.index;
  const bool has_time = in.stream_time && !has_no_time(deps_.rules, *in.stream_time - deps_.rules.window);
  time_here_ = has_time ? in.stream_time : std::nullopt;
  if (defers_) accept_next();  // of a stream that did not defer, or that an earlier version left
  forget_reopened(in.floor);
  const bool anew = is_gone(in.age);
  const gate_facts facts = facts_of(in, anew);
  const decision d = decide_version(deps_.rules.gate, facts);
  const bool waits_as_dead = is_kept_as_dead(deps_.rules, d, facts);
  const bool is_taken = d.verdict == verdict::applied || d.verdict == verdict::parked || waits_as_dead;
  if (anew && is_taken) begin_anew();
  if (d.verdict == verdict::applied) {
    defers_ ? accept(in) : run_incoming(in);
  } else if (d.verdict == verdict::parked) {
    wait(in, waiting_state::parked, nullptr);
    // Whether it may be next is for a step that has more of the queue.
    waiting_head head;
    head.sequence = in.sequence;
    head.begins_at = in.event->begins_at;
    const bool looks_again = head.begins_at && !backlog_.held && has_hidden_below(in.sequence);
    if (looks_again && may_be_next(head)) ready_ = true;
  } else if (waits_as_dead) {
    wait(in, waiting_state::dead, nullptr);
  } else {
    decide_now(in, d);
  }
  // A gap that this event leaves behind may be an old one.
  const gap_config& gap = deps_.rules.gap;
  const bool skips = is_strict() && gap.policy == gap_policy::skip && has_time;
  if (skips) skip_gaps(*in.stream_time - gap.timeout);
  return !stopped_ && !deps_.room.exceeded;
}

/// What the event is counted as; see counted_sequence(). One that waits above the last one handled is no
/// delete, and says which life the aggregate is in: all that wait are of one.
sequence aggregate_backlog::count(const decoded_event& e, bool seen) const {
  if (!deps_.rules.restarts || !has_last_) return e.sequence;
  const bool has_newer = !entries_.empty() && entries_.begin()->first > last_;
  if (has_newer) return {entries_.begin()->first.epoch, e.sequence.number};
  const bool was_delete = payload_hash_ == hash128{} && !backlog_.was_skipped(last_);
  return counted_sequence({last_, was_delete}, e, seen);
}

/// None of its events waits, and what was handled of it is forgotten.
bool aggregate_backlog::is_gone(const event_age& age) const {
  return backlog_.events() == 0 && is_forgotten(age, seen_);
}

/// As if nothing had ever come of it; its rows are written over.
void aggregate_backlog::begin_anew() {
  folded_.drop();
  state_.erase();
  ran_ = true;
  moved_ = true;
  if (has_last_) ++deps_.counts.forgotten;
  has_last_ = false;
  last_ = {};
  id_.reset();
  payload_hash_ = {};
  time_.reset();
  seen_.reset();
  handled_ = {};
  backlog_ = {};
  began_anew_ = true;
}

/// Something of it is handled.
void aggregate_backlog::touch(std::optional<timestamp> when) {
  if (deps_.rules.retention) {
    seen_ = std::max(seen_, when);  // none is below all
  } else {
    seen_.reset();
  }
}

/// An accepted event counts from when it came, so that what is forgotten does not rest on how far reducers
/// have come; but what has waited for longer than that is not forgotten at once, nor what came without a
/// `retention`.
void aggregate_backlog::touch_late() {
  const auto& retention = deps_.rules.retention;
  const bool is_late = !seen_ || (retention && time_here_ && *seen_ < *time_here_ - *retention);
  if (!retention || is_late) touch(time_here_);
}

gate_facts aggregate_backlog::facts_of(incoming_event& in, bool anew) {
  const decoded_event& e = *in.event;
  gate_facts facts;
  const bool has_last = has_last_ && !anew;
  if (has_last) {
    facts.last = last_;
    facts.last_was_skipped = backlog_.was_skipped(last_);
  }
  facts.has_id = e.has_id && deps_.rules.dedup;
  if (deps_.rules.monotonic_ids) {
    facts.id_seen = facts.has_id && in.number_known;
  } else if (facts.has_id) {
    const auto here = filed_.find(e.id);
    const std::optional<timestamp> filed = here == filed_.end() ? in.id_filed : here->second;
    facts.id_below_floor = in.floor && in.id_time < *in.floor;
    facts.id_seen = filed && (!in.floor || *filed >= *in.floor) && !is_reopened(e.id);
    facts.same_id_as_last = id_ == e.id;
  }
  facts.same_payload_as_last = payload_hash_ == e.payload_hash;
  in.sequence = anew ? e.sequence : count(e, facts.id_seen);
  facts.incoming = in.sequence;
  facts.in_skipped_gap = !anew && backlog_.was_skipped(in.sequence);
  // What waits makes its aggregate a known one, unless it came too old itself.
  const bool has_known = backlog_.events() > 0 && backlog_.too_old == 0;
  const bool is_known = has_last || has_known || facts.in_skipped_gap;
  if (!is_known) facts.older_than_retention = is_too_old(deps_.rules, e, in.age, facts.id_seen);
  // What waits at L is later than what was applied there, so that this one comes behind it.
  if (has_last && is_latest() && in.sequence == last_ && entries_.contains(last_))
    facts.same_id_as_last = facts.same_payload_as_last = false;
  facts.begins_at = e.begins_at;
  facts.waiting = claimed_by(e, in.sequence);
  facts.below_first = backlog_.adopted && in.sequence < *backlog_.adopted;
  facts.blocked = is_blocked(in.sequence, in.event->begins_at);
  return facts;
}

bool aggregate_backlog::waits_under(const event_id& id) {
  if (!ids_) {
    ids_.emplace();
    for (const auto& [number, known] : entries_) enter_id(known.event.head);
  }
  return ids_->contains(id);
}

void aggregate_backlog::enter_id(const waiting_head& head) {
  if (ids_ && head.id) ids_->insert(*head.id);
}

void aggregate_backlog::forget_id(const waiting_head& head) {
  if (ids_ && head.id) ids_->erase(*head.id);
}

/// As the gate judges an event of L's number.
claim aggregate_backlog::claimed_by(const decoded_event& e, sequence number) {
  if (is_arrival()) return e.has_id && waits_under(e.id) ? claim::same_id : claim::none;
  const auto at = entries_.find(number);
  if (at == entries_.end()) return claim::none;
  const waiting_head& head = at->second.event.head;
  const bool has_ids = head.id && e.has_id && deps_.rules.dedup;
  const bool may_tie = deps_.rules.gate.ties_by_offset;
  if (has_ids && *head.id == e.id) return claim::same_id;
  if ((!has_ids || may_tie) && head.payload_hash == e.payload_hash) return claim::same_id;
  // The later one of two events that tie. One that is known by its head alone cannot be replaced: behind
  // k_queue_events others it keeps its place.
  return may_tie && at->second.whole ? claim::none : claim::other_id;
}

/// A time that lies further ahead than any pause was set by a clock that has been set back since: it would
/// come hours too late.
bool aggregate_backlog::is_due(const waiting_event& e) const {
  return e.due <= deps_.now || *e.due - deps_.now > longest_pause(deps_.rules.retry, e.attempts);
}

bool aggregate_backlog::is_left_to_people(sequence s) const {
  return has_last_ && ratchet::is_left_to_people(deps_.rules.gate, last_, s);
}

bool aggregate_backlog::is_never_skipped(sequence s) const {
  return has_last_ && ratchet::is_never_skipped(deps_.rules, last_, s);
}

void aggregate_backlog::moved_to(sequence s, std::optional<event_id> id, hash128 payload_hash,
                                 std::optional<timestamp> time) {
  has_last_ = true;
  last_ = s;
  id_ = id;
  payload_hash_ = payload_hash;
  time_ = time;
  moved_ = true;
  backlog_.adopted.reset();
}

void aggregate_backlog::decide_now(const incoming_event& in, decision d) {
  said_.push_back({in.index, d});
  resolved_.push_back({in.index, d});
}

/// Of one that is not kept yet, and did not fail.
wait_reason aggregate_backlog::reason_of(sequence s, std::optional<std::uint64_t> begins_at) const {
  if (backlog_.held) return wait_reason::limit;
  if (is_blocked(s, begins_at) || (!entries_.empty() && entries_.begin()->first < s))
    return wait_reason::behind;
  return is_left_to_people(s) ? wait_reason::epoch : wait_reason::gap;
}

void aggregate_backlog::wait(const incoming_event& in, waiting_state as, const reducer_call* failure) {
  event_wait why{in.index,
                 failure != nullptr ? wait_reason::reducer : reason_of(in.sequence, in.event->begins_at),
                 failure != nullptr ? failure->error() : std::string{}};
  if (as == waiting_state::dead && failure == nullptr)
    why = {in.index, wait_reason::too_old, text_of_too_old(deps_.rules.gate.order)};
  (void)keep(in, as, failure);
  hold_if_too_many();
  if (backlog_.held && as == waiting_state::parked) why.reason = wait_reason::limit;
  waits_.push_back(std::move(why));
  said_.push_back({in.index, {verdict_of(as, backlog_.held), reject_reason::none}});
}

aggregate_backlog::entries::iterator aggregate_backlog::keep(const incoming_event& in, waiting_state as,
                                                             const reducer_call* failure) {
  entry kept{.event = make_waiting(in, deps_.rules.dedup, deps_.now), .changed = true, .index = in.index};
  waiting_head& head = kept.event.head;
  if (is_arrival()) head.sequence = next_number();
  // Only a tie comes upon an event of its own number: of the two the later one is kept, with the columns that
  // the other one alone brought.
  if (const auto tie = entries_.find(head.sequence); tie != entries_.end()) {
    const auto row = completed(in.event->type, in.event->payload, std::next(tie));
    if (row) kept.event.own_payload = *row;
    remove(tie, &counters::superseded);
  }
  head.state = as;
  // The gap below it is as old as the oldest event above it, for that event waited for these numbers, too;
  // but one that waits for people did not.
  // Where the stream has no time yet, a record's own stands in, and like that never passes the clock.
  std::optional<timestamp> began = in.stream_time ? in.stream_time : in.event->record_time;
  if (began && !in.stream_time) began = std::min(*began, deps_.now + deps_.rules.max_skew);
  head.since = began;
  const auto above = entries_.upper_bound(head.sequence);
  const bool waited_too =
      above != entries_.end() && (!is_never_skipped(above->first) || is_never_skipped(head.sequence));
  if (waited_too && above->second.event.head.since) {
    const timestamp older = *above->second.event.head.since;
    head.since = head.since ? std::min(*head.since, older) : older;
  }
  const bool needs_time = deps_.rules.opaque_ids && head.id && !kept.event.record.time;
  if (needs_time && head.since != began) kept.event.id_time = began.value_or(timestamp{});
  if (failure != nullptr) note_failure(kept.event, *failure);
  if (kept.event.is_undecided()) kept.event.error = text_of_too_old(deps_.rules.gate.order);
  deps_.room.add(kept.event.bytes());
  backlog_.highest = std::max(backlog_.highest, head.sequence);
  count_entry(as, 1);
  count_undecided(kept.event, 1);
  enter_id(head);
  return entries_.emplace(head.sequence, std::move(kept)).first;
}

/// Accepted ones are in no trouble, however many they are.
void aggregate_backlog::hold_if_too_many() {
  if (backlog_.held || not_accepted() <= deps_.rules.waiting.per_aggregate) return;
  backlog_.held = true;
  audit("aggregate_held", "aggregate `" + shown_id(aggregate_) + "`: more than " +
                              std::to_string(deps_.rules.waiting.per_aggregate) +
                              " events wait; all of them are dead until an operator decides");
}

void aggregate_backlog::count_entry(waiting_state state, std::int64_t change) {
  std::uint64_t& count = state == waiting_state::parked     ? backlog_.parked
                         : state == waiting_state::retrying ? backlog_.retrying
                                                            : backlog_.dead;
  count += static_cast<std::uint64_t>(change);
}

/// In the order of arrival whatever waits stands in the way of all that comes behind it.
void aggregate_backlog::count_undecided(const waiting_event& e, std::int64_t change) {
  if (!is_arrival() && e.is_undecided()) backlog_.too_old += static_cast<std::uint64_t>(change);
}

void aggregate_backlog::set_state(entry& e, waiting_state state) {
  count_entry(e.event.head.state, -1);
  e.event.head.state = state;
  count_entry(state, 1);
  e.changed = true;
}

/// What the id of an event that waited is filed under. What stood in for a record's time when it came is not
/// kept, but when the event began to wait is, in stream time: `since`, unless that is of an older event.
timestamp aggregate_backlog::filed_time_of(const waiting_event& e) const {
  if (!deps_.rules.opaque_ids) return e.head.id->time();
  if (e.record.time) return *e.record.time;
  return e.id_time ? *e.id_time : e.head.since.value_or(timestamp{});
}

/// A number that grows is remembered by its partition, and filed nowhere.
void aggregate_backlog::file(const event_id& id, timestamp filed, std::optional<timestamp> record_time) {
  if (deps_.rules.monotonic_ids) return;
  filed_[id] = filed;
  std::erase_if(backlog_.reopened, [&id](const reopened_id& r) { return r.id == id; });
  count_if_ahead(filed, record_time, 1);
}

void aggregate_backlog::count_if_ahead(timestamp filed, std::optional<timestamp> record_time,
                                       std::int64_t change) {
  const bool is_ahead = record_time && filed - deps_.rules.max_skew > *record_time;
  if (is_ahead) ids_ahead_ += static_cast<std::uint64_t>(change);
}

void aggregate_backlog::remove(entries::iterator at, std::uint64_t counters::*becomes) {
  entry& e = at->second;
  waiting_event& event = e.event;
  const bool was_accepted = is_accepted(at->first);
  count_entry(event.head.state, -1);
  count_undecided(event, -1);
  deps_.room.remove(event.bytes());
  // In the order of arrival, and among ties, no number says that it was skipped: its id does.
  const bool is_told_by_id = is_arrival() || deps_.rules.gate.ties_by_offset;
  const bool is_in_window = becomes == &counters::applied || becomes == &counters::superseded ||
                            (is_told_by_id && becomes == &counters::skipped);
  if (event.head.id && is_in_window) {
    if (!was_accepted) file(*event.head.id, filed_time_of(event), event.record.time);
  } else if (defers_) {
    reopen(event);
    if (was_accepted && event.head.id) count_if_ahead(filed_time_of(event), event.record.time, -1);
  }
  if (e.index) {
    const verdict v = becomes == &counters::applied ? verdict::applied
                      : becomes == &counters::stale ? verdict::stale
                                                    : verdict::superseded;
    resolved_.push_back({*e.index, {v, reject_reason::none}});
  } else {
    ++(deps_.counts.*becomes);
  }
  tell(event.head, end_of(becomes), std::move(event.record.where), event.record.place());
  if (e.stored) removed_.push_back(event.head);
  if (was_accepted) --accepted_events_;
  if (was_accepted && at == accepted_.begin()) ++lowest_gone_;
  if (!was_accepted) forget_id(event.head);
  (was_accepted ? accepted_ : entries_).erase(at);
  if (not_accepted() == 0) backlog_.held = false;  // as it would be in a step behind this
}

void aggregate_backlog::tell(const waiting_head& head, waiting_end end, topic_partition where,
                             event_place place, std::string error) {
  fates_.push_back(
      {0, at_, head.sequence, end, std::move(where), place.offset, std::move(error), place.index});
}

}  // namespace ratchet
