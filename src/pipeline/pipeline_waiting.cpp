// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The pipeline's steps that no record begins: what is due of waiting events, and what is decided about them.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/retention.hpp"
#include "core/success.hpp"
#include "decode/record_hash.hpp"
#include "outbox/dead_letters.hpp"
#include "outbox/published_rows.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/rejected_rows.hpp"

namespace ratchet {

namespace {

/// For a step that no record begins; its aggregates are to be added.
[[nodiscard]] step_plan resuming_plan(const partition_task& task) {
  step_plan plan;
  plan.order = task.rules.gate.order;
  plan.needs_snapshots = !task.stream.reduce.traits().full_state || task.rules.keeps_columns;
  plan.resumes = true;
  plan.runs_accepted = true;
  return plan;
}

/// So many waiting events were looked up.
[[nodiscard]] std::size_t events_of(const step_rows& rows) {
  std::size_t events = 0;
  for (const auto& [aggregate, known] : rows.backlogs) events += known.queue.size();
  return events;
}

/// Of order latest any event may be the one that is due, and the lowest may be dead; of ranges that overlap
/// any may be the next. Of an aggregate whose queue is not there as a whole, as those before it have many, a
/// step could not tell what it left. It is for the next one, and so are those behind it.
void keep_whole_ones(step_rows& rows) {
  if (rows.backlogs.empty()) return;
  const auto cut = std::find_if(rows.backlogs.begin() + 1, rows.backlogs.end(),
                                [](const auto& known) { return !known.second.complete; });
  if (cut == rows.backlogs.end()) return;
  rows.aggregates.resize(cut->first);
  rows.backlogs.erase(cut, rows.backlogs.end());
}

/// Of so many something came.
[[nodiscard]] std::size_t events_of(const stream_change& change) {
  std::size_t events = 0;
  for (const backlog_change& b : change.backlogs) events += b.removals.size() + b.puts.size();
  return events;
}

}  // namespace

void pipeline::note_backlogs(partition_task& task, const step_plan& plan, const stream_change& change) {
  const auto lower = [](std::optional<timestamp>& known, std::optional<timestamp> found) {
    if (found && (!known || *found < *known)) known = found;
  };
  for (const backlog_change& b : change.backlogs) {
    if (!b.after) continue;
    lower(task.oldest_gap, b.after->gap_since);
    if (task.rules.deferred ? b.after->goes_on() : b.after->ready) {
      task.ready.emplace_back(plan.aggregates[b.aggregate]);
    } else {
      lower(task.next_wake, b.after->wake);
    }
  }
}

std::optional<timestamp> pipeline::next_wake() const {
  std::optional<timestamp> next;
  for (const auto& s : tasks_) {
    if (s->looks_for_forgotten) return timestamp{};  // the rest of the rows is to be looked at
    if (s->next_wake && (!next || *s->next_wake < *next)) next = s->next_wake;
  }
  return next;
}

result<void> pipeline::resume_waiting() {
  for (const auto& s : tasks_) {
    RATCHET_TRY(resume_waiting_of(*s));
    RATCHET_TRY(call_in_what_is_too_late(*s));
    RATCHET_TRY(drop_old_rejected(*s));
    RATCHET_TRY(remove_forgotten(*s));
  }
  return success();
}

/// Nobody sees when a row goes, so that there is no hurry: all rows are looked at each time that a sixteenth
/// of the retention has passed, a few thousand at a time.
result<void> pipeline::remove_forgotten(partition_task& task) {
  constexpr int k_walks = 16;
  constexpr std::size_t k_rows = 2048;
  const retention_state& of = task.state.retention;
  if (!of.before) return success();
  if (!task.looks_for_forgotten) {
    const auto every = task.rules.retention.value_or(std::chrono::milliseconds{0}) / k_walks;
    auto& looked_for = task.forgotten_looked_for;
    if (looked_for && (*of.before == *looked_for || *of.before - *looked_for < every)) return success();
    looked_for = of.before;
    task.looks_for_forgotten = true;
    task.forgotten_after.reset();
  }
  RATCHET_TRY(const forgotten_aggregates found,
              store_.find_forgotten(task.place(), of, task.forgotten_after, k_rows));
  task.forgotten_after = found.last;
  task.looks_for_forgotten = found.last.has_value();
  if (found.names.empty()) return success();
  step_plan plan;
  plan.order = task.rules.gate.order;
  plan.most_queued = 1;  // what waits is not looked at
  for (const std::string& name : found.names) plan.add(name);
  step_rows rows;
  RATCHET_TRY(store_.lookup(task.place(), plan, rows));
  stream_change change = ratchet::remove_forgotten(task.rules, task.state, plan, rows);
  if (change.rows.empty()) return success();
  return take_change(task, plan, change);
}

result<void> pipeline::call_in_what_is_too_late(partition_task& task) {
  constexpr std::chrono::minutes k_look_every{1};
  if (!task.next_wake) return success();
  const auto now = clock_.steady();
  auto& looked_at = task.too_late_looked_at;
  const bool are_all = *task.next_wake > clock_.now() + task.rules.retry.most;
  if (!are_all && looked_at && now - *looked_at < k_look_every) return success();
  looked_at = now;
  RATCHET_TRY(const bool did_some, resume_some(task, look_for::too_late));
  if (did_some) looked_at.reset();            // there may be more, for the next turn
  if (are_all) task.next_wake = timestamp{};  // what it was is no time to come: a look tells
  return resume_backlogs(task);
}

result<void> pipeline::drop_old_rejected(partition_task& task) {
  constexpr std::chrono::minutes k_look_every{1};
  const timestamp now = clock_.now();
  auto& looked_at = task.rejected_looked_at;
  // A clock that was set back does not put the next look off.
  if (looked_at && *looked_at <= now && now < *looked_at + k_look_every) return success();
  looked_at = now;
  const rejected_limits limits = limits_at(task.stream.config.rejected, now);
  const auto oldest = store_.oldest_rejected(task.stream.id);
  if (!limits.before || !oldest || *oldest > *limits.before) return success();
  const step_plan nothing;
  stream_change change;
  change.after = task.state;
  step_part part = part_of(task, nothing, change);
  part.keep_rejected = limits;
  return write({std::move(part)}, {});
}

result<void> pipeline::resume_waiting_of(partition_task& task) {
  if (task.rules.deferred) {
    RATCHET_TRY(resume_backlogs(task));  // first what a step before a crash left
    RATCHET_TRY(work_off(task));
  } else if (is_due(task)) {
    RATCHET_TRY(const bool did_some, resume_some(task, look_for::all));
    (void)did_some;
  }
  return resume_backlogs(task);
}

bool pipeline::is_due(const partition_task& task) const {
  return task.next_wake && *task.next_wake <= clock_.now();
}

bool pipeline::has_deferred() const {
  return std::any_of(tasks_.begin(), tasks_.end(),
                     [this](const auto& s) { return s->rules.deferred && is_due(*s); });
}

bool pipeline::is_nearly_full(const partition_task& task, bool pauses) const {
  if (!task.rules.deferred || !is_due(task)) return false;
  const auto share = [pauses](std::uint64_t limit) { return pauses ? limit / 2 : limit / 4 * 3; };
  const counters& now = task.state.counters;
  const waiting_config& most = task.rules.waiting;
  return now.waiting() > share(most.events) || now.waiting_bytes > share(most.bytes);
}

/// Steps of a few events while the reducer is slow, so that reading, syncs and commits go on between them; of
/// many where it is fast, as each step has a price of its own.
result<void> pipeline::work_off(partition_task& task) {
  constexpr std::chrono::milliseconds k_slice{50};
  constexpr std::chrono::milliseconds k_long_step{25};
  constexpr std::chrono::milliseconds k_short_step{10};
  const auto begin = clock_.steady();
  for (auto now = begin; is_due(task) && task.ready.empty() && now - begin < k_slice;) {
    const auto before = now;
    RATCHET_TRY(const bool did_some, resume_some(task, look_for::all));
    if (!did_some) break;
    now = clock_.steady();
    const auto took = now - before;
    std::size_t& at_once = task.events_at_once;
    if (took > k_long_step) at_once = std::max<std::size_t>(at_once / 2, 1);
    if (took < k_short_step) at_once = std::min(at_once * 2, k_queue_events);
  }
  return success();
}

result<void> pipeline::resume_backlogs(partition_task& task) {
  for (;;) {
    // A stream that stops takes no more records; what was begun, by an operator say, still goes to its end.
    // What is released may leave a gap behind that is too old already.
    RATCHET_TRY(stop_for_gap(task));
    const auto gaps = gaps_due(task.rules, task.state);
    const bool has_old_gap =
        task.rules.gap.policy == gap_policy::skip && gaps && task.oldest_gap && *task.oldest_gap <= *gaps;
    const bool goes_on = !task.ready.empty() || task.may_have_ready;
    if (!has_old_gap && !goes_on) return success();
    const look_for left = task.rules.deferred ? look_for::bounded : look_for::all;
    RATCHET_TRY(const bool did_some, resume_some(task, goes_on ? left : look_for::gaps));
    if (!did_some && left != look_for::bounded) return success();
    if (!did_some && !goes_on) return success();
    if (!may_go_on()) return success();
  }
}

result<std::vector<std::string>> pipeline::take_due(partition_task& task, look_for what) {
  constexpr std::size_t k_aggregates = 1024;
  // Each aggregate that is looked up has a price of its own.
  constexpr std::size_t k_events_of_each = 8;
  const bool defers = task.rules.deferred;
  const bool works_off = defers && runs_accepted(what);
  const std::size_t limit =
      works_off ? std::clamp<std::size_t>(task.events_at_once / k_events_of_each, 1, k_aggregates)
      : defers  ? k_aggregates
                : std::clamp<std::size_t>(task.events_in_time, 1, k_aggregates);
  if (what == look_for::too_late) {
    return store_.due_behind(task.place(), clock_.now() + task.rules.retry.most, limit);
  }
  if (where_from(task, what) == came_from::memory) {
    // Their names are known, so that the store's index, which their removals filled with tombstones, need not
    // be asked: that was a quarter of the time of a long release.
    const auto end = task.ready.begin() + static_cast<std::ptrdiff_t>(std::min(limit, task.ready.size()));
    std::vector<std::string> names(std::make_move_iterator(task.ready.begin()), std::make_move_iterator(end));
    task.ready.erase(task.ready.begin(), end);
    // Another step may have found one of them ready as well, and two must not run the same events.
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }
  const bool skips = task.rules.gap.policy == gap_policy::skip && (!defers || what == look_for::gaps);
  const auto gaps = skips ? gaps_due(task.rules, task.state) : std::nullopt;
  const timestamp until = what == look_for::all       ? clock_.now()
                          : what == look_for::bounded ? timestamp{}
                                                      : timestamp::min();
  RATCHET_TRY(due_aggregates due, store_.due(task.place(), until, gaps, limit));
  // Of those that are named neither time is told, though of deferring ones only one is looked after.
  if (!defers || what != look_for::gaps) task.next_wake = due.next_wake;
  if (!defers || what == look_for::gaps) task.oldest_gap = due.next_gap;
  if (!works_off) task.may_have_ready = due.names.size() == limit;
  return std::move(due.names);
}

/// Of one that defers, what runs reducers asks the store, by whose times aggregates take turns.
pipeline::came_from pipeline::where_from(const partition_task& task, look_for what) {
  const bool asks = what == look_for::too_late || (task.rules.deferred && what == look_for::all);
  if (!asks && !task.ready.empty()) return came_from::memory;
  return task.may_have_ready ? came_from::start : came_from::store;
}

/// These were to be looked after, and a step that had its time did not come to them.
void pipeline::leave_for_the_next(partition_task& task, std::span<const std::string> names, came_from from) {
  if (names.empty()) return;
  if (from == came_from::memory) {
    task.ready.insert(task.ready.begin(), names.begin(), names.end());
    return;
  }
  // The store knows them, and is to be asked again, whatever it said of those behind them.
  task.next_wake = timestamp{};
  if (task.rules.gap.policy == gap_policy::skip) task.oldest_gap = timestamp::min();
  if (from == came_from::start) task.may_have_ready = true;
}

/// One step of what is due, if anything is.
result<bool> pipeline::resume_some(partition_task& task, look_for what) {
  const came_from from = where_from(task, what);
  RATCHET_TRY(const std::vector<std::string> names, take_due(task, what));
  if (names.empty()) return false;
  step_plan plan = resuming_plan(task);
  for (const std::string& name : names) plan.add(name);
  plan.runs_accepted = runs_accepted(what);
  const std::size_t at_once = task.rules.deferred ? task.events_at_once : task.events_in_time;
  const bool is_bounded = plan.runs_accepted || !task.rules.deferred;
  const bool works_off = task.rules.deferred && plan.runs_accepted;
  const bool wants_whole = plan.order == order::latest || (task.rules.has_ranges && !works_off);
  if (is_bounded && !wants_whole) plan.most_queued = std::max<std::size_t>(at_once / names.size(), 1);
  step_rows rows;
  RATCHET_TRY(store_.lookup(task.place(), plan, rows));
  if (wants_whole) keep_whole_ones(rows);
  const auto begin = clock_.steady();
  stream_change change = ratchet::resume_waiting(task.rules, task.stream.reduce, task.state, plan, rows,
                                                 clock_.now(), step_time());
  const std::size_t came_to = events_of(change);
  const std::size_t given = wants_whole ? came_to : events_of(rows);
  if (!task.rules.deferred) note_time(task, given, came_to, clock_.steady() - begin);
  const std::size_t looked_at = change.looked_at;
  RATCHET_TRY(take_change(task, plan, change));
  // Behind these are those that were not looked up, as the others have much, or that had no time left.
  const std::size_t done = std::min(looked_at, rows.aggregates.size());
  leave_for_the_next(task, std::span{names}.subspan(done), from);
  return true;
}

result<void> pipeline::take_change(partition_task& task, const step_plan& plan, stream_change& change) {
  assert_goes_on(task, change.after);
  std::vector<audit_row> audits = audits_of(change, clock_.now());
  const step_part part = part_of(task, plan, change);
  outbox_change outbox;
  tell_of_dead_ones(task.stream, plan, change, outbox.puts);
  add_published(origin_of(task.stream), plan, std::move(change.outputs), outbox.puts);
  RATCHET_TRY(write({part}, std::move(audits), {}, std::move(outbox)));
  for (const waiting_fate& fate : change.fates) explain(task.stream, plan, fate);
  note_backlogs(task, plan, change);
  task.state = std::move(change.after);
  return enter_stops(change.stops);
}

result<std::vector<waiting_answer>> pipeline::run_commands(partition_task& task, std::span<const decided> all,
                                                           const decider& who) {
  auto done = carry_out(task, all, who);
  if (!done) failed_ = done.error();
  return done;
}

result<std::vector<waiting_answer>> pipeline::carry_out(partition_task& task, std::span<const decided> all,
                                                        const decider& who) {
  std::vector<waiting_answer> answers(all.size(), waiting_answer::none_waits);
  std::vector<std::size_t> left(all.size());
  std::iota(left.begin(), left.end(), std::size_t{0});
  while (!left.empty()) {
    RATCHET_TRY(auto rest, carry_out_some(task, all, left, who, answers));
    left = std::move(rest);
    RATCHET_TRY(resume_backlogs(task));
  }
  return answers;
}

/// One step of them. Returns those that are for another one, as what their aggregates have is large.
result<std::vector<std::size_t>> pipeline::carry_out_some(partition_task& task, std::span<const decided> all,
                                                          const std::vector<std::size_t>& which,
                                                          const decider& who,
                                                          std::vector<waiting_answer>& answers) {
  step_plan plan = resuming_plan(task);
  std::map<std::string_view, std::uint32_t> known;
  std::vector<std::uint32_t> aggregate_of;
  for (const std::size_t i : which) {
    const auto [at, is_new] = known.try_emplace(all[i].aggregate, static_cast<std::uint32_t>(known.size()));
    if (is_new) plan.add(all[i].aggregate);
    aggregate_of.push_back(at->second);
    plan.asked.push_back({at->second, all[i].sequence});
  }
  step_rows rows;
  RATCHET_TRY(store_.lookup(task.place(), plan, rows));
  std::vector<std::size_t> left;
  std::vector<std::size_t> taken;
  std::vector<waiting_command> orders;
  for (std::size_t n = 0; n < which.size(); ++n) {
    if (aggregate_of[n] >= rows.aggregates.size()) {
      left.push_back(which[n]);
      continue;
    }
    taken.push_back(which[n]);
    const decided& d = all[which[n]];
    waiting_command& order = orders.emplace_back();
    order.aggregate = aggregate_of[n];
    order.verb = d.verb;
    order.sequence = d.sequence;
    order.payload = d.payload;
    if (d.payload) order.payload_hash = payload_hash(*d.payload);
  }
  std::vector<waiting_answer> said;
  stream_change change = ratchet::run_commands(task.rules, task.stream.reduce, task.state, plan, rows, orders,
                                               clock_.now(), said, step_time());
  for (std::size_t n = 0; n < taken.size(); ++n) answers[taken[n]] = said[n];
  for (audit_row& row : change.audits) row.text += decided_by(who);
  RATCHET_TRY(take_change(task, plan, change));
  return left;
}

result<void> pipeline::stop_for_gap(partition_task& task) {
  if (task.rules.gap.policy != gap_policy::stop || !task.oldest_gap) return success();
  const auto gaps = gaps_due(task.rules, task.state);
  if (!gaps || *task.oldest_gap > *gaps) return success();
  if (task.rules.gaps_from && *task.rules.gaps_from > *gaps) return success();
  // What is remembered may be older than what is there.
  constexpr std::size_t k_one = 1;
  RATCHET_TRY(const due_aggregates due, store_.due(task.place(), timestamp::min(), gaps, k_one));
  if (due.names.empty()) {
    task.oldest_gap = due.next_gap;
    return success();
  }
  for (const auto& [where, partition] : task.state.partitions) {
    if (stopped_.contains(where)) continue;
    partition_stop stop;
    stop.where = where;
    stop.offset = std::max<std::int64_t>(partition.next_offset, 0);
    stop.index = partition.next_index;
    stop.code = make_error_code(errc::gap_too_old);
    stop.aggregate = due.names.front();
    stop_partition(std::move(stop));
  }
  return success();
}

}  // namespace ratchet
