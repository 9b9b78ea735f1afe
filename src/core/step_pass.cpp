// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/step_pass.hpp"

#include <algorithm>
#include <utility>

#include "core/assert.hpp"
#include "core/counted_sequence.hpp"
#include "core/decide_version.hpp"
#include "core/parked_epoch.hpp"
#include "core/reducer_call.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

namespace {

/// By aggregate: whether an event of the step comes below an event of it that failed and waits. Empty where
/// none waits that failed, as in most steps.
[[nodiscard]] std::vector<bool> come_below_failed(const step_plan& plan, const step_rows& rows) {
  std::vector<const waiting_head*> failed;
  for (const auto& [aggregate, known] : rows.backlogs) {
    if (known.queue.empty() || known.queue.front().head.state == waiting_state::parked) continue;
    failed.resize(plan.aggregates.size(), nullptr);
    failed[aggregate] = &known.queue.front().head;
  }
  std::vector<bool> below(failed.size(), false);
  for (std::size_t i = 0; !failed.empty() && i < plan.events.size(); ++i) {
    const std::uint32_t aggregate = plan.aggregate_of[i];
    if (aggregate == k_no_index || failed[aggregate] == nullptr) continue;
    if (plan.events[i].sequence < failed[aggregate]->sequence) below[aggregate] = true;
  }
  return below;
}

/// When the oldest gap began that this step can come upon, or an earlier time: one that comes to light where
/// the gap before it is closed may be older than that one, as the stream had no time when the first ones
/// came; and one below an event that failed is as old as that. A new epoch that people are to let in has none
/// where gaps are skipped.
[[nodiscard]] std::optional<timestamp> oldest_gap_of(const stream_rules& rules, const step_plan& plan,
                                                     const step_rows& rows) {
  std::optional<timestamp> oldest = rows.oldest_gap;
  const std::vector<bool> below_failed = come_below_failed(plan, rows);
  for (const auto& [aggregate, known] : rows.backlogs) {
    if (known.backlog.held || known.queue.empty()) continue;
    if (known.queue.front().head.state != waiting_state::parked && !below_failed[aggregate]) continue;
    const auto& row = rows.aggregates[aggregate];
    std::optional<sequence> last;
    if (row && row->has_last) last = row->last;
    if (known.backlog.accepted) last = known.backlog.accepted->sequence;
    if (!last && known.backlog.too_old > 0) continue;  // none of its gaps counts before an operator decides
    for (const waiting_event& e : known.queue) {
      if (last && is_never_skipped(rules, *last, e.head.sequence)) break;
      std::optional<timestamp> since = e.head.since;
      if (since) since = std::max(since, known.backlog.opened);  // none is below all
      if (since && (!oldest || *since < *oldest)) oldest = since;
    }
  }
  if (oldest && rules.gaps_from) oldest = std::max(*oldest, *rules.gaps_from);
  return oldest;
}

}  // namespace

partition_in_step& pass::partition_of(const decoded_event& e) {
  const topic_partition* where = e.from->where;
  for (partition_in_step& p : partitions_) {
    if (p.where == where) return p;
  }
  const auto known = change_.after.partitions.find(*where);
  partition_state* state = known == change_.after.partitions.end() ? nullptr : &known->second;
  partitions_.push_back({.where = where, .state = state});
  return partitions_.back();
}

/// Enters a new partition with its first handled record, and no sooner: its next offset is a position.
partition_state& pass::state_of(partition_in_step& partition) {
  if (partition.state == nullptr) {
    partition.state = &change_.after.partitions[*partition.where];
    // It has shown no time yet, so it holds the floor back; a plain file only counts once it has one.
    partition.state->idle = partition.where->topic.empty();
    floor_->recompute();
  }
  return *partition.state;
}

std::optional<pass_failure> pass::run(bool without_last) {
  for (std::uint32_t i = 0; i < aggregates_.size(); ++i) {
    const auto& row = rows_.aggregates[i];
    if (row) {
      aggregates_[i] = {row->has_last, false, row->last, row->id, row->payload_hash, row->time, k_no_index};
      aggregates_[i].seen = row->seen;
    }
    if (rules_.deferred || (row && row->waits)) wait_from_here(i);
  }
  floors_.resize(events_.size());
  reached_gate_.resize(events_.size());
  floor_.emplace(change_.after, rules_.window);
  decide_all(without_last);
  keep_up_retention(rules_, change_.after);
  if (auto failed = apply_all()) return failed;
  if (any_wait_) {
    if (auto failed = handle_waiting()) return failed;
  }
  count_all();
  return std::nullopt;
}

void pass::decide_all(bool without_last) {
  const std::size_t taken = events_.size() - (without_last ? 1 : 0);
  partition_in_step* partition = nullptr;
  change_.looked_at = events_.size();
  const bool gaps_grow_old = rules_.gate.order == order::strict && rules_.gap.policy != gap_policy::wait;
  std::optional<timestamp> oldest_gap = gaps_grow_old ? oldest_gap_of(rules_, plan_, rows_) : std::nullopt;
  bool had_time = gaps_grow_old && !has_no_time(rules_, change_.after.floor);
  // A gap that begins in this step is no older than this.
  if (had_time) oldest_gap = oldest_gap ? std::min(*oldest_gap, *stream_time()) : *stream_time();
  for (std::uint32_t i = 0; i < events_.size(); ++i) {
    const decoded_event& e = events_[i];
    floors_[i] = change_.after.floor;
    if (partition == nullptr || partition->where != e.from->where) partition = &partition_of(e);
    if (i < taken && !partition->stopped) handle(i, *partition);
    if (!gaps_grow_old || has_no_time(rules_, change_.after.floor)) continue;
    if (had_time && *stream_time() - rules_.gap.timeout < *oldest_gap) continue;
    // From here on a gap may be too old, and that is to be judged first.
    change_.looked_at = i + 1;
    return;
  }
}

void pass::handle(std::uint32_t index, partition_in_step& partition) {
  const decoded_event& e = events_[index];
  decision& d = change_.decisions[index];
  const bool has_position = !partition.where->topic.empty();
  if (has_position && partition.state != nullptr && e.from->place() < partition.state->next()) {
    d = {verdict::duplicate, reject_reason::none};
    return;
  }
  const bool is_undecoded = e.kind == decoded_kind::malformed && is_undecodable(e.malformed);
  if (is_undecoded && poisons(index, partition)) return;
  partition_state& where = state_of(partition);
  if (forgets_) [[unlikely]]
    note_age(index, where);
  if (e.kind == decoded_kind::malformed) {
    // A record counts once, whatever it holds.
    const std::uint32_t one = e.from->index == 0 ? 1 : 0;
    where.malformed_run = is_undecoded ? where.malformed_run + one : 0;
    d = {verdict::rejected, reject_reason::malformed};
  } else {
    where.malformed_run = 0;  // it could be read, whatever comes of it
    const bool is_too_many = rules_.monotonic_ids && is_one_source_too_many(e, where);
    if (rules_.monotonic_ids && !is_too_many) note_id_number(index, where);
    if (rules_.opaque_ids) filed_[index] = filed_time(e, change_.after, where, rules_.window);
    if (e.kind == decoded_kind::ignored) {
      d = {verdict::ignored, reject_reason::none};
    } else {
      d = is_too_many ? decision{verdict::rejected, reject_reason::malformed} : decide_event(index);
    }
  }
  if (has_position && e.from->more) {
    // The record is not behind us yet: its time is that of all its events, and moves the floor with the last.
    where.next_offset = e.from->offset;
    where.next_index = e.from->index + 1;
    return;
  }
  if (has_position) where.move_to(e.from->offset + 1);
  move_floor(e, where);
}

void pass::note_age(std::uint32_t index, const partition_state& where) {
  keep_up_retention(rules_, change_.after);  // with the records before it
  ages_[index] = age_of(rules_, change_.after, where, events_[index].record_time);
}

void pass::move_floor(const decoded_event& e, partition_state& where) {
  const timestamp cap = now_ + rules_.max_skew;
  if (!rules_.checks_times || !e.record_time) {
    floor_->handled(where, e.record_time, cap);
    return;
  }
  const odd_times odd = floor_->handled(where, {*e.record_time, e.from->offset}, cap, rules_.max_skew);
  if (odd.is_behind || odd.news.passed_over != 0 || odd.news.followed) [[unlikely]]
    note_odd(*e.from, *e.record_time, odd, where);
}

void pass::note_odd(const record& from, timestamp time, const odd_times& odd, const partition_state& where) {
  const time_news& news = odd.news;
  if (news.passed_over != 0 && !change_.passed_over)
    change_.passed_over = {*from.where, news.first_passed_over, *where.highest_time};
  if (odd.is_behind && !change_.behind)
    change_.behind = {*from.where, {time, from.offset}, *where.highest_time};
  if (news.followed && odd.before && !change_.jumped &&
      lies_behind(where, *odd.before, rules_.window + rules_.max_skew)) {
    change_.jumped = {*from.where, {*where.highest_time, from.offset}, *odd.before};
  }
}

/// Stops the partition where this record, which cannot be decoded, is the one that reaches the limit.
bool pass::poisons(std::uint32_t index, partition_in_step& partition) {
  const decoded_event& e = events_[index];
  const std::uint32_t run = partition.state == nullptr ? 0 : partition.state->malformed_run;
  if (rules_.poison_limit == 0 || run + 1 < rules_.poison_limit || e.from->index != 0) return false;
  partition.stopped = true;
  partition_stop stop = stop_at(e, make_error_code(errc::poisoned));
  stop.malformed = e.malformed;
  stop.first_value = first_value_of_run(index, run);
  change_.stops.push_back(std::move(stop));
  return true;
}

/// The beginning of the first record of the run of which `index` is the last, as far as this step has them.
std::optional<std::string> pass::first_value_of_run(std::uint32_t index, std::uint32_t before) const {
  constexpr std::size_t k_most_shown = 256;
  const topic_partition* where = events_[index].from->where;
  const record* first = events_[index].from;
  for (std::uint32_t i = index; i > 0 && before > 0; --i) {
    if (events_[i - 1].from->where != where || events_[i - 1].from->index != 0) continue;
    first = events_[i - 1].from;
    --before;
  }
  if (!first->value) return std::nullopt;
  return std::string{first->value->substr(0, k_most_shown)};
}

/// Of a source too many nothing could be remembered: that its event is new nobody could tell from then on.
bool pass::is_one_source_too_many(const decoded_event& e, const partition_state& where) {
  return e.has_id && where.last_ids.size() >= k_most_sources && !where.last_ids.contains(e.source);
}

/// Whatever becomes of the event, applied or waiting, its number has come.
void pass::note_id_number(std::uint32_t index, partition_state& where) {
  const decoded_event& e = events_[index];
  if (!e.has_id) return;
  const auto at = where.last_ids.find(e.source);
  if (at == where.last_ids.end()) {
    where.last_ids.emplace(e.source, e.id_number);
  } else if (e.id_number <= at->second) {
    known_[index] = 1;
  } else {
    at->second = e.id_number;
  }
}

gate_facts pass::facts_of(std::uint32_t index, const aggregate_in_step& aggregate) const {
  const decoded_event& e = events_[index];
  gate_facts facts;
  if (aggregate.exists) facts.last = aggregate.last;
  facts.incoming = e.sequence;
  facts.begins_at = e.begins_at;
  facts.has_id = e.has_id && rules_.dedup;
  if (rules_.monotonic_ids) {
    facts.id_seen = facts.has_id && known_[index] != 0;
  } else if (facts.has_id) {
    const std::optional<timestamp> filed = filed_before(index);
    facts.id_below_floor = floor_->is_below(id_time(index));
    facts.id_seen = filed && !floor_->is_below(*filed);
    facts.same_id_as_last = aggregate.id == e.id;
  }
  facts.same_payload_as_last = aggregate.payload_hash == e.payload_hash;
  if (rules_.restarts && aggregate.exists) {
    const bool was_delete = aggregate.payload_hash == hash128{};
    facts.incoming = counted_sequence({aggregate.last, was_delete}, e, facts.id_seen);
  }
  return facts;
}

/// When the id of this event was filed, in the store or by this step.
std::optional<timestamp> pass::filed_before(std::uint32_t index) const {
  const std::uint32_t id = plan_.id_of[index];
  if (id_in_step_[id] == 0) return stored_before(index);
  return rules_.opaque_ids ? filed_in_step_[id] : events_[index].id.time();
}

std::optional<timestamp> pass::stored_before(std::uint32_t index) const {
  const std::uint32_t id = plan_.id_of[index];
  if (id == k_no_index || rows_.id_stored[id] == 0) return std::nullopt;
  return rules_.opaque_ids ? rows_.id_filed[id] : events_[index].id.time();
}

decision pass::decide_event(std::uint32_t index) {
  reached_gate_[index] = 1;
  const std::uint32_t at = plan_.aggregate_of[index];
  aggregate_in_step& aggregate = aggregates_[at];
  if (aggregate.waits) return {};  // decided later, with all others of its aggregate
  if (forgets_) [[unlikely]]
    return decide_forgetting(index);
  const gate_facts facts = facts_of(index, aggregate);
  const decision d = decide_version(rules_.gate, facts);
  if (d.verdict == verdict::applied) admit(index, facts.incoming, aggregate);
  if (d.verdict == verdict::parked || is_kept_as_dead(rules_, d, facts)) {
    wait_from_here(at);
    return {};
  }
  return d;
}

/// Of a stream that has a `retention`, or had one.
decision pass::decide_forgetting(std::uint32_t index) {
  const std::uint32_t at = plan_.aggregate_of[index];
  aggregate_in_step& aggregate = aggregates_[at];
  const event_age& age = ages_[index];
  const bool anew = aggregate.exists && is_forgotten(age, aggregate.seen);
  gate_facts facts = facts_of(index, anew ? aggregate_in_step{} : aggregate);
  if (!facts.last) facts.older_than_retention = is_too_old(rules_, events_[index], age, facts.id_seen);
  const decision d = decide_version(rules_.gate, facts);
  if (d.verdict == verdict::parked || is_kept_as_dead(rules_, d, facts)) {
    wait_from_here(at);
    return {};
  }
  if (d.verdict != verdict::applied) return d;
  if (anew) {
    aggregate.exists = false;
    aggregate.seen.reset();
    ++aggregate.forgotten;
  }
  admit(index, facts.incoming, aggregate);
  to_run_.back().begins_anew = anew;
  // A clock that was ahead once does not let it go the sooner.
  aggregate.seen = rules_.retention ? std::max(aggregate.seen, age.seen) : std::nullopt;
  return d;
}

void pass::admit(std::uint32_t index, sequence number, aggregate_in_step& aggregate) {
  const decoded_event& e = events_[index];
  if (rules_.gate.order == order::arrival) {
    aggregate.last = seq(aggregate.exists ? aggregate.last.number + 1 : 1);
  } else {
    aggregate.last = number;
  }
  aggregate.exists = true;
  aggregate.changed = true;
  aggregate.id = e.has_id && rules_.dedup ? std::optional{e.id} : std::nullopt;
  aggregate.payload_hash = e.payload_hash;
  aggregate.time = e.time ? e.time : e.record_time;
  if (aggregate.id && !rules_.monotonic_ids) {
    const std::uint32_t id = plan_.id_of[index];
    const timestamp filed = id_time(index);
    id_in_step_[id] = 1;
    if (rules_.opaque_ids) filed_in_step_[id] = filed;
    change_.ids.push_back({plan_.ids[id].aggregate, e.id, filed});
    if (e.record_time && filed - rules_.max_skew > *e.record_time) ++aggregate.ids_ahead;
  }
  if (supersede_ && aggregate.newest != k_no_index) {
    change_.decisions[aggregate.newest].verdict = verdict::superseded;
  }
  aggregate.newest = index;
  to_run_.push_back({index, aggregate.last});
}

std::optional<pass_failure> pass::apply_all() {
  states_.resize(aggregates_.size());
  std::vector<std::uint8_t> loaded(plan_.needs_snapshots ? aggregates_.size() : 0);
  for (const admitted& to_run : to_run_) {
    const std::uint32_t aggregate = plan_.aggregate_of[to_run.index];
    if (aggregates_[aggregate].waits) continue;
    if (change_.decisions[to_run.index].verdict != verdict::applied) continue;
    state& s = states_[aggregate];
    if (plan_.needs_snapshots && loaded[aggregate] == 0) {
      loaded[aggregate] = 1;
      const auto& row = rows_.aggregates[aggregate];
      if (row && !row->deleted) s.assign(row->snapshot);
    }
    if (to_run.begins_anew) {
      if (folded_state* folded = folded_state::of(s)) folded->drop();
      s.erase();
    }
    if (!plan_.needs_snapshots) s.erase();  // full state: what came before must not show through
    std::optional<partition_stop> stop;
    if (s.value().size() >= folded_state::k_long) {
      work_.moved(folded_.call(aggregate, s, [&] { stop = apply_one(to_run, s); }));
    } else {
      const std::size_t before = s.value().size();
      stop = apply_one(to_run, s);
      work_.moved(before + s.value().size());
    }
    if (stop) return pass_failure{.stop = std::move(stop)};
    work_.called();
    const bool is_last = to_run.index + 1 == change_.looked_at;
    if (work_.is_over() && !is_last) return pass_failure{.end = to_run.index + 1};
  }
  folded_.fold();
  return std::nullopt;
}

std::optional<partition_stop> pass::apply_one(const admitted& to_run, state& s) {
  const decoded_event& e = events_[to_run.index];
  if (e.kind == decoded_kind::tombstone) {
    if (folded_state* folded = folded_state::of(s)) folded->drop();
    s.erase();
    return std::nullopt;
  }
  const event view{.stream = rules_.stream,
                   .aggregate = e.aggregate,
                   .sequence = to_run.sequence,
                   .id = e.has_id && rules_.dedup ? std::optional{e.id} : std::nullopt,
                   .type = e.type,
                   .time = e.time,
                   .payload = e.payload,
                   .topic = e.from->where->topic,
                   .partition = e.from->where->partition,
                   .offset = e.from->offset,
                   .index = e.from->index};
  reducer_call ended = call_reducer(reducer_, rules_.outputs, view, s);
  if (ended.how == ending::done) {
    work_.made(ended);
    if (!ended.outputs.empty()) {
      change_.outputs.push_back(
          outputs_of(plan_.aggregate_of[to_run.index], view, e.record_time, std::move(ended.outputs)));
    }
    add_changes(change_.tables, plan_.aggregate_of[to_run.index], to_run.index, std::move(ended.tables));
    return std::nullopt;
  }
  if (ended.how != ending::stop) {
    if (folded_state* folded = folded_state::of(s)) folded->drop();  // its machine begins anew
    wait_from_here(plan_.aggregate_of[to_run.index]);
    return std::nullopt;
  }
  return stop_of(stop_at(e, make_error_code(errc::reducer_failed)), ended);
}

/// But for events of aggregates that wait, which were counted by what became of them.
void pass::count_all() {
  counters& counts = change_.after.counters;
  for (std::uint32_t i = 0; i < change_.looked_at; ++i) {
    const decision d = change_.decisions[i];
    if (d.verdict == verdict::rejected) {
      change_.rejected.push_back(i);
      change_.rejected_floors.push_back(floors_[i]);
    }
    const bool was_counted = any_wait_ && reached_gate_[i] != 0 && aggregates_[plan_.aggregate_of[i]].waits;
    if (!was_counted) counts.count(d);
  }
  for (const aggregate_in_step& a : aggregates_) {
    if (a.waits) continue;
    counts.ids_ahead += a.ids_ahead;
    counts.forgotten += a.forgotten;
  }
  counts.waiting_bytes = room_.bytes;
}

stream_change pass::take(const stream_state& before) {
  change_.rows.reserve(aggregates_.size());
  for (std::uint32_t i = 0; i < aggregates_.size(); ++i) {
    aggregate_in_step& a = aggregates_[i];
    if (!a.changed || a.waits) continue;
    const bool exists = states_[i].exists();
    // The ratchet: what was handled last of an aggregate never moves back. In `arrival` nothing has an order.
    RATCHET_ASSERT(rules_.gate.order == order::arrival || !rows_.aggregates[i] || a.forgotten > 0 ||
                   !rows_.aggregates[i]->has_last || rows_.aggregates[i]->last <= a.last);
    aggregate_row row{true, false, a.last, a.id, a.payload_hash, a.time, !exists, {}};
    if (rules_.retention) row.seen = a.seen;
    if (exists) row.snapshot = std::move(states_[i]).take();
    change_.rows.push_back({i, std::move(row)});
  }
  for (const auto& [where, partition] : change_.after.partitions) {
    const auto was = before.partitions.find(where);
    if (was == before.partitions.end() || was->second != partition) change_.touched.push_back(where);
    RATCHET_ASSERT(was == before.partitions.end() || partition.next() >= was->second.next());
    RATCHET_ASSERT(was == before.partitions.end() || partition.highest_time >= was->second.highest_time);
  }
  RATCHET_ASSERT(change_.after.partitions.size() >= before.partitions.size());
  RATCHET_ASSERT(change_.after.floor >= before.floor);  // none is below all
  RATCHET_ASSERT(change_.looked_at <= events_.size() && change_.decisions.size() >= change_.looked_at);
  return std::move(change_);
}

}  // namespace ratchet
