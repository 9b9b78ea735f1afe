// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/waiting_machine.hpp"

#include <algorithm>

#include "core/backoff.hpp"
#include "core/sequence_range.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

namespace {

[[nodiscard]] waiting_event make_waiting(const decoded_event& e, bool with_id, timestamp now) {
  const record& from = *e.from;
  waiting_event out;
  out.head.sequence = e.sequence;
  if (with_id && e.has_id) out.head.id = e.id;
  out.head.payload_hash = e.payload_hash;
  out.tombstone = e.kind == decoded_kind::tombstone;
  out.type = std::string{e.type};
  out.time = e.time;
  out.first_seen = now;
  out.record.where = *from.where;
  out.record.offset = from.offset;
  out.record.time = e.record_time;
  if (from.key) out.record.key = std::string{*from.key};
  if (from.value) out.record.value = std::string{*from.value};
  for (const header& h : from.headers) {
    out.record.headers.emplace_back(h.name, h.value ? std::optional{std::string{*h.value}} : std::nullopt);
  }
  const char* const begin = from.value ? from.value->data() : nullptr;
  const bool inside = begin != nullptr && e.payload.data() >= begin &&
                      e.payload.data() + e.payload.size() <= begin + from.value->size();
  if (inside) {
    out.payload_begin = static_cast<std::uint64_t>(e.payload.data() - begin);
    out.payload_size = e.payload.size();
  } else if (!out.tombstone) {
    out.own_payload = std::string{e.payload};
  }
  return out;
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
  stop.effect = ended.effect;
  stop.cause = ended.cause;
  stop.what = ended.thrown;
  return stop;
}

waiting_machine::waiting_machine(const surroundings& around, std::string_view aggregate,
                                 const aggregate_row* row, const backlog_rows* stored)
    : around_{around}, aggregate_{aggregate}, row_{row}, stored_{stored} {
  if (row != nullptr && row->has_last) {
    has_last_ = true;
    last_ = row->last;
    id_ = row->id;
    payload_hash_ = row->payload_hash;
    time_ = row->time;
    if (!row->deleted) state_.assign(row->snapshot);
  }
  if (stored == nullptr) return;
  backlog_ = stored->backlog;
  ready_ = backlog_.ready;
  for (const waiting_event& e : stored->queue) {
    entries_.emplace(e.head.sequence, entry{.event = e, .stored = true, .index = {}});
  }
  if (!stored->complete && !stored->queue.empty()) last_loaded_ = stored->queue.back().head.sequence;
  for (const waiting_head& head : stored->near) {
    entry known{.event = {}, .whole = false, .stored = true, .index = {}};
    known.event.head = head;
    entries_.emplace(head.sequence, std::move(known));
  }
}

bool waiting_machine::take(const incoming_event& in) {
  if (stopped_) return false;
  const decision d = decide(around_.rules.gate, facts_of(in));
  if (d.verdict == verdict::applied) {
    run_incoming(in);
  } else if (d.verdict == verdict::parked) {
    keep(in, waiting_state::parked, nullptr);
  } else {
    settled_.push_back({in.index, d});
  }
  // A gap that this event leaves behind may be an old one.
  const gap_config& gap = around_.rules.gap;
  if (is_strict() && gap.policy == gap_policy::skip && in.stream_time)
    skip_gaps(*in.stream_time - gap.timeout);
  return !stopped_ && !around_.room.exceeded;
}

gate_facts waiting_machine::facts_of(const incoming_event& in) const {
  const decoded_event& e = *in.event;
  gate_facts facts;
  facts.waiting = claimed_by(e);
  if (has_last_) {
    facts.last = last_;
    facts.last_was_skipped = backlog_.was_skipped(last_);
  }
  facts.incoming = e.sequence;
  facts.has_id = e.has_id && around_.rules.dedup;
  if (facts.has_id) {
    facts.id_below_floor = in.floor && e.id.time() < *in.floor;
    facts.id_seen = !facts.id_below_floor && (in.id_stored || filed_.contains(e.id));
    facts.same_id_as_last = id_ == e.id;
  }
  facts.same_payload_as_last = payload_hash_ == e.payload_hash;
  facts.in_skipped_gap = backlog_.was_skipped(e.sequence);
  facts.below_first = backlog_.adopted && e.sequence < *backlog_.adopted;
  facts.blocked = is_blocked(e);
  return facts;
}

claim waiting_machine::claimed_by(const decoded_event& e) const {
  if (is_arrival()) {
    const bool held = e.has_id && std::any_of(entries_.begin(), entries_.end(), [&](const auto& known) {
                        return known.second.event.head.id == e.id;
                      });
    return held ? claim::same_id : claim::none;
  }
  const auto at = entries_.find(e.sequence);
  if (at == entries_.end()) return claim::none;
  // An event that is known by its head alone cannot be replaced: behind k_queue_events others it keeps its
  // place.
  if (around_.rules.gate.ties_by_offset && at->second.whole &&
      at->second.event.head.payload_hash != e.payload_hash) {
    return claim::none;  // the later one of two events at one log position
  }
  const std::optional<event_id>& id = at->second.event.head.id;
  if (!id || !e.has_id || !around_.rules.dedup) return claim::same_id;  // as an event of L's number
  return *id == e.id ? claim::same_id : claim::other_id;
}

/// Some waiting events lie between those that were loaded and those that are known by their heads alone.
bool waiting_machine::next_is_hidden() const {
  return last_loaded_ && (entries_.empty() || entries_.begin()->first > *last_loaded_);
}

bool waiting_machine::is_blocked(const decoded_event& e) const {
  if (is_latest() || backlog_.events() == 0) return false;
  if (is_arrival() || backlog_.held || next_is_hidden()) return true;
  return entries_.begin()->first < e.sequence;
}

sequence waiting_machine::next_number() const {
  const sequence highest = std::max(has_last_ ? last_ : seq(0), backlog_.highest);
  return behind(highest);
}

bool waiting_machine::may_be_next(sequence s) const {
  if (is_arrival()) return true;
  const gate_rules& rules = around_.rules.gate;
  if (has_last_) return is_successor(last_, s, rules);
  if (rules.first == first_number::any) return backlog_.adopted == s;
  return s.number == (rules.first == first_number::one ? 1U : 0U);
}

void waiting_machine::moved_to(sequence s, std::optional<event_id> id, hash128 payload_hash,
                               std::optional<timestamp> time) {
  has_last_ = true;
  last_ = s;
  id_ = id;
  payload_hash_ = payload_hash;
  time_ = time;
  moved_ = true;
  backlog_.adopted.reset();
}

reducer_call waiting_machine::call(const event& e, bool tombstone) {
  if (tombstone) {
    state_.erase();
    ran_ = true;
    return {};
  }
  const bool full_state = around_.reduce.traits().full_state;
  state before = state_;
  if (full_state) state_.erase();  // what came before must not show through
  reducer_call ended = call_reducer(around_.reduce, e, state_);
  if (ended.how == ending::done) {
    ran_ = true;
  } else {
    state_ = std::move(before);
  }
  return ended;
}

void waiting_machine::run_incoming(const incoming_event& in) {
  const decoded_event& e = *in.event;
  const bool with_id = e.has_id && around_.rules.dedup;
  const event view{.stream = around_.rules.stream,
                   .aggregate = aggregate_,
                   .sequence = is_arrival() ? next_number() : e.sequence,
                   .id = with_id ? std::optional{e.id} : std::nullopt,
                   .type = e.type,
                   .time = e.time,
                   .payload = e.payload,
                   .topic = e.from->where->topic,
                   .partition = e.from->where->partition,
                   .offset = e.from->offset};
  reducer_call ended = call(view, e.kind == decoded_kind::tombstone);
  switch (ended.how) {
    case ending::done:
      moved_to(view.sequence, view.id, e.payload_hash, e.time ? e.time : e.record_time);
      if (with_id) {
        filed_.insert(e.id);
        if (e.record_time && e.id.time() > *e.record_time + around_.rules.max_skew) ++ids_ahead_;
      }
      settled_.push_back({in.index, {verdict::applied, reject_reason::none}});
      return settle();
    case ending::retry:
      return keep(in, around_.rules.retry.attempts > 1 ? waiting_state::retrying : waiting_state::dead,
                  &ended);
    case ending::give_up:
      return keep(in, waiting_state::dead, &ended);
    case ending::stop:
      stopped_ = stop{in.event, std::move(ended)};
  }
}

void waiting_machine::keep(const incoming_event& in, waiting_state as, const reducer_call* failure) {
  entry kept{
      .event = make_waiting(*in.event, around_.rules.dedup, around_.now), .changed = true, .index = in.index};
  waiting_head& head = kept.event.head;
  if (is_arrival()) head.sequence = next_number();
  // Only a tie comes upon an event of its own number: of the two the later one is kept.
  if (const auto tie = entries_.find(head.sequence); tie != entries_.end()) {
    remove(tie, &counters::superseded);
  }
  head.state = as;
  // The gap below it is as old as the oldest event above it, for that event waited for these numbers, too.
  head.since = in.stream_time ? in.stream_time : in.event->record_time;
  const auto above = entries_.upper_bound(head.sequence);
  if (above != entries_.end() && above->second.event.head.since) {
    const timestamp older = *above->second.event.head.since;
    head.since = head.since ? std::min(*head.since, older) : older;
  }
  if (failure != nullptr) note_failure(kept.event, *failure);
  around_.room.add(kept.event.bytes());
  backlog_.highest = std::max(backlog_.highest, head.sequence);
  count_entry(as, 1);
  entries_.emplace(head.sequence, std::move(kept));
  if (backlog_.held || backlog_.events() <= around_.rules.waiting.per_aggregate) return;
  backlog_.held = true;
  audit("aggregate_held", "aggregate `" + std::string{aggregate_} + "`: more than " +
                              std::to_string(around_.rules.waiting.per_aggregate) +
                              " events wait; all of them are dead until somebody decides");
}

void waiting_machine::note_failure(waiting_event& e, const reducer_call& failure) const {
  ++e.attempts;
  e.last_attempt = around_.now;
  e.error = failure.error();
  e.due.reset();
  if (e.head.state == waiting_state::retrying) {
    e.due = around_.now + backoff(around_.rules.retry, aggregate_, e.head.sequence, e.attempts);
  }
}

void waiting_machine::count_entry(waiting_state state, std::int64_t change) {
  std::uint64_t& count = state == waiting_state::parked     ? backlog_.parked
                         : state == waiting_state::retrying ? backlog_.retrying
                                                            : backlog_.dead;
  count += static_cast<std::uint64_t>(change);
}

void waiting_machine::set_state(entry& e, waiting_state state) {
  count_entry(e.event.head.state, -1);
  e.event.head.state = state;
  count_entry(state, 1);
  e.changed = true;
}

void waiting_machine::remove(entries::iterator at, std::uint64_t counters::*becomes) {
  entry& e = at->second;
  const waiting_event& event = e.event;
  count_entry(event.head.state, -1);
  around_.room.remove(event.bytes());
  const bool is_in_window = becomes == &counters::applied || becomes == &counters::superseded;
  if (event.head.id && is_in_window) {
    filed_.insert(*event.head.id);
    const auto& of_record = event.record.time;
    if (of_record && event.head.id->time() > *of_record + around_.rules.max_skew) ++ids_ahead_;
  }
  if (e.index) {
    const verdict v = becomes == &counters::applied ? verdict::applied : verdict::superseded;
    settled_.push_back({*e.index, {v, reject_reason::none}});
  } else {
    ++(around_.counts.*becomes);
  }
  if (e.stored) removed_.push_back(event.head);
  entries_.erase(at);
  if (backlog_.events() == 0) backlog_.held = false;  // as it would be in a step behind this
}

bool waiting_machine::run_entry(entries::iterator at) {
  entry& e = at->second;
  waiting_event& waiting = e.event;
  const event view{.stream = around_.rules.stream,
                   .aggregate = aggregate_,
                   .sequence = waiting.head.sequence,
                   .id = waiting.head.id,
                   .type = waiting.type,
                   .time = waiting.time,
                   .payload = waiting.payload(),
                   .topic = waiting.record.where.topic,
                   .partition = waiting.record.where.partition,
                   .offset = waiting.record.offset,
                   .attempt = waiting.attempts + 1};
  const reducer_call ended = call(view, waiting.tombstone);
  if (ended.how == ending::done) {
    moved_to(waiting.head.sequence, waiting.head.id, waiting.head.payload_hash,
             waiting.time ? waiting.time : waiting.record.time);
    remove(at, &counters::applied);
    return true;
  }
  const bool again = ended.how == ending::stop ||
                     (ended.how == ending::retry && waiting.attempts + 1 < around_.rules.retry.attempts);
  around_.room.bytes -= waiting.bytes();
  set_state(e, again ? waiting_state::retrying : waiting_state::dead);
  note_failure(waiting, ended);
  around_.room.bytes += waiting.bytes();
  if (ended.how == ending::stop) {
    partition_stop failure;
    failure.where = waiting.record.where;
    failure.offset = waiting.record.offset;
    failure.code = make_error_code(errc::reducer_failed);
    failure.aggregate = std::string{aggregate_};
    stops_.push_back(stop_of(std::move(failure), ended));
  }
  return false;
}

/// Releases what is next, until there is a gap or something fails.
void waiting_machine::cascade() {
  ready_ = false;
  while (!backlog_.held && backlog_.events() > 0) {
    if (next_is_hidden()) {
      ready_ = true;
      return;
    }
    const auto next = entries_.begin();
    const waiting_event& e = next->second.event;
    if (e.head.state == waiting_state::dead) return;
    if (e.head.state == waiting_state::retrying && e.due > around_.now) return;
    if (e.head.state == waiting_state::parked && !may_be_next(e.head.sequence)) return;
    if (!run_entry(next)) return;
  }
}

void waiting_machine::resume(std::optional<timestamp> gaps) {
  if (is_latest()) return retry_latest();
  if (backlog_.held) return;
  cascade();
  if (gaps) skip_gaps(*gaps);
}

/// Skips what began then or before, one gap behind the other.
void waiting_machine::skip_gaps(timestamp began) {
  while (!stopped_ && !backlog_.held && backlog_.events() > 0 && !next_is_hidden()) {
    const waiting_head& next = entries_.begin()->second.event.head;
    if (next.state != waiting_state::parked || !next.since || *next.since > began) return;
    skip_gap();
    cascade();
  }
}

/// Makes the lowest waiting event the next one. Only where it is parked behind a gap.
void waiting_machine::skip_gap() {
  const sequence next = entries_.begin()->first;
  const gate_rules& rules = around_.rules.gate;
  if (!has_last_ && rules.first == first_number::any) {
    backlog_.adopted = next;
    return audit("first_adopted", "aggregate `" + std::string{aggregate_} + "` begins with " + to_text(next) +
                                      ", the lowest number that came in time");
  }
  const sequence first =
      has_last_ ? behind(last_) : sequence{next.epoch, rules.first == first_number::one ? 1U : 0U};
  const sequence to = before(next);
  add_range(backlog_.skipped, {first, to});
  moved_to(to, std::nullopt, {}, time_);
  audit_skipped({first, to}, " did not come in time");
  if (may_be_next(next)) return;
  // A number of another epoch has no predecessor that says so: it goes by force.
  const auto at = entries_.begin();
  (void)run_entry(at);
}

void waiting_machine::retry_latest() {
  ready_ = false;
  for (auto at = entries_.begin(); at != entries_.end();) {
    const auto here = at++;
    if (!here->second.whole) break;
    const waiting_event& e = here->second.event;
    if (has_last_ && e.head.sequence <= last_) {
      remove(here, &counters::superseded);
    } else if (!backlog_.held && e.head.state == waiting_state::retrying && e.due <= around_.now) {
      if (run_entry(here)) {
        supersede_older();
        at = entries_.upper_bound(last_);
      }
    }
  }
  if (next_is_hidden() && moved_) ready_ = true;
}

/// A newer event of `latest` was applied: nothing older is needed, and nothing that ties with it.
void waiting_machine::supersede_older() {
  while (!entries_.empty() && entries_.begin()->first <= last_ && entries_.begin()->second.whole)
    remove(entries_.begin(), &counters::superseded);
  if (last_loaded_ && next_is_hidden()) ready_ = true;
}

/// What follows from an L that moved.
void waiting_machine::settle() {
  is_latest() ? supersede_older() : cascade();
}

void waiting_machine::audit_skipped(const sequence_range& r, const char* why) {
  audit("gap_skipped",
        "aggregate `" + std::string{aggregate_} + "`: " +
            (r.first == r.last ? "number " + to_text(r.last)
                               : "the numbers " + to_text(r.first) + " to " + to_text(r.last)) +
            why);
}

void waiting_machine::audit(const char* kind, std::string text) {
  audit_row row;
  row.kind = kind;
  row.stream = std::string{around_.rules.stream};
  row.text = std::move(text);
  audits_.push_back(std::move(row));
}

std::optional<timestamp> waiting_machine::wake_of(const ratchet::backlog& b) const {
  if (b.ready) return timestamp{};  // whatever the clock says, also where somebody sets it back
  if (b.held) return std::nullopt;
  std::optional<timestamp> wake;
  for (const auto& [number, e] : entries_) {
    if (!e.whole) break;
    if (e.event.due && (!wake || *e.event.due < *wake)) wake = e.event.due;
    if (!is_latest()) break;  // only the lowest can be tried
  }
  return wake;
}

ratchet::backlog waiting_machine::backlog_after() {
  ratchet::backlog after = std::move(backlog_);
  if (after.events() == 0) {
    after.held = false;
    after.highest = {};
  }
  // In `latest` a newer event makes held ones needless, too.
  after.ready = ready_ && after.events() > 0 && (!after.held || is_latest());
  after.gap_since.reset();
  if (!after.held && after.events() > 0 && !next_is_hidden() && is_strict()) {
    const waiting_head& next = entries_.begin()->second.event.head;
    if (next.state == waiting_state::parked) after.gap_since = next.since;
  }
  after.wake = wake_of(after);
  return after;
}

void waiting_machine::finish(std::uint32_t aggregate, std::vector<settled_event>& settled,
                             stream_change& out) {
  const auto before = stored_ != nullptr ? std::optional<ratchet::backlog>{stored_->backlog} : std::nullopt;
  backlog_change change;
  change.aggregate = aggregate;
  ratchet::backlog after = backlog_after();
  const auto count_of = [this](const ratchet::backlog& b, std::uint64_t sign) {
    around_.counts.waiting_parked += sign * (b.held ? 0 : b.parked);
    around_.counts.waiting_retrying += sign * (b.held ? 0 : b.retrying);
    around_.counts.waiting_dead += sign * (b.held ? b.events() : b.dead);
  };
  constexpr auto k_minus = ~std::uint64_t{0};  // modulo 2^64
  if (before) count_of(*before, k_minus);
  count_of(after, 1);
  for (auto& [number, e] : entries_) {
    if (e.index) {
      const verdict waits = after.held || e.event.head.state == waiting_state::dead ? verdict::dead
                            : e.event.head.state == waiting_state::parked           ? verdict::parked
                                                                                    : verdict::retrying;
      settled_.push_back({*e.index, {waits, reject_reason::none}});
    }
    if (e.changed) change.puts.push_back(std::move(e.event));
  }
  change.removals = std::move(removed_);
  const bool waits = !after.empty();
  if (waits) change.after = std::move(after);
  change.before = before;
  const bool flag_moved = (row_ != nullptr && row_->waits) != waits;
  if (moved_ || ran_ || flag_moved) {
    const bool known = row_ != nullptr && row_->has_last;
    aggregate_change row{.aggregate = aggregate, .row = {}, .keeps_snapshot = !ran_ && known};
    row.row.has_last = has_last_;
    row.row.waits = waits;
    row.row.last = has_last_ ? last_ : sequence{};
    row.row.id = id_;
    row.row.payload_hash = payload_hash_;
    row.row.time = time_;
    row.row.deleted = ran_ ? !state_.exists() : !known || row_->deleted;
    if (ran_ && state_.exists()) row.row.snapshot = std::move(state_).take();
    out.rows.push_back(std::move(row));
  }
  if (before != change.after || !change.puts.empty() || !change.removals.empty()) {
    out.backlogs.push_back(std::move(change));
  }
  for (const event_id& id : filed_) out.ids.push_back({aggregate, id});
  around_.counts.ids_ahead += ids_ahead_;
  for (audit_row& row : audits_) out.audits.push_back(std::move(row));
  for (partition_stop& s : stops_) out.stops.push_back(std::move(s));
  settled.insert(settled.end(), settled_.begin(), settled_.end());
}

}  // namespace ratchet
