// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "pipeline/pipeline.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "core/assert.hpp"
#include "core/retention.hpp"
#include "core/shown_id.hpp"
#include "core/shown_text.hpp"
#include "core/success.hpp"
#include "core/typed_command.hpp"
#include "core/window.hpp"
#include "decode/record_hash.hpp"
#include "outbox/dead_letters.hpp"
#include "outbox/published_rows.hpp"
#include "pipeline/audit_rows.hpp"
#include "pipeline/rejected_rows.hpp"

namespace ratchet {

namespace {

/// The hash of the last handled record of each partition tells a topic that was made anew from the one we
/// know; where a step ends within a record, that of this one, of which the rest is still to come.
void note_last_hashes(std::span<const decoded_event> events, stream_change& change) {
  std::vector<const topic_partition*> seen;
  for (std::size_t i = events.size(); i-- > 0;) {
    const record& last = *events[i].from;
    const record& r = whole_of(last);
    if (change.decisions[i].verdict == verdict::unhandled || r.where->topic.empty()) continue;
    if (std::find(seen.begin(), seen.end(), r.where) != seen.end()) continue;
    partition_state& partition = change.after.partitions.at(*r.where);
    // Files may repeat older ones behind it.
    const event_place behind =
        last.more ? event_place{r.offset, last.index + 1} : event_place{r.offset + 1, 0};
    if (partition.next() != behind) continue;
    seen.push_back(r.where);
    partition.last_record = {r.offset, record_hash(r.key, r.value)};
  }
}

/// An event of the step would have to wait, and no more may.
[[nodiscard]] bool finds_no_room(const stream_change& change) {
  return std::any_of(change.stops.begin(), change.stops.end(), [](const partition_stop& stop) {
    return stop.code == make_error_code(errc::waiting_full);
  });
}

/// Says whose events take the most room.
void name_the_worst(const store& from, const partition_task* task, partition_stop& stop) {
  if (task == nullptr) return;
  const auto view = from.view();
  if (!view) return;  // the message can do without
  std::uint64_t most = 0;
  std::string worst;
  const auto read = view.value()->backlogs(task->place(), [&](std::string_view aggregate, const backlog& b) {
    if (b.events() > most) {
      most = b.events();
      worst = std::string{aggregate};
    }
    return true;
  });
  if (read && most > 0)
    stop.what += "; of aggregate `" + shown_id(worst) + "` alone " + std::to_string(most) + " wait";
}

/// Of the partitions that the floor looks at those that nothing will ever move again.
[[nodiscard]] std::vector<topic_partition> unread_partitions(const partition_task& s,
                                                             pipeline::plain_files files) {
  const auto is_read = [&](const topic_partition& where) {
    if (where == k_transactions) return s.rules.transactions_move_floor;
    if (where.topic.empty()) return files == pipeline::plain_files::are_read;
    const auto& topics = s.stream.config.topics;
    return std::find(topics.begin(), topics.end(), where.topic) != topics.end();
  };
  std::vector<topic_partition> unread;
  for (const auto& [where, partition] : s.state.partitions) {
    if (!partition.idle && !is_read(where)) unread.push_back(where);
  }
  return unread;
}

}  // namespace

pipeline::pipeline(task_list& tasks, store& to, const clock_port& clock)
    : tasks_{tasks}, store_{to}, clock_{clock} {}

partition_task* pipeline::task_of(const std::string& topic) const {
  if (topic.empty()) return plain_task_;
  for (const auto& s : tasks_) {
    const auto& topics = s->stream.config.topics;
    if (std::find(topics.begin(), topics.end(), topic) != topics.end()) return s.get();
  }
  return nullptr;
}

partition_task* pipeline::task_named(const std::string& name) const {
  const auto at = std::find_if(tasks_.begin(), tasks_.end(),
                               [&](const auto& s) { return s->stream.config.name == name; });
  return at == tasks_.end() ? nullptr : at->get();
}

const partition_state* pipeline::find(const topic_partition& where) const {
  const partition_task* task = task_of(where.topic);
  if (task == nullptr) return nullptr;
  const auto at = task->state.partitions.find(where);
  return at == task->state.partitions.end() || !at->second.has_position() ? nullptr : &at->second;
}

void pipeline::stop_partition(partition_stop stop) {
  topic_partition where = stop.where;
  stopped_.insert_or_assign(std::move(where), std::move(stop));
}

result<void> pipeline::handle(const decoded_input& input) {
  note_events_a_record(input);
  std::vector<work> works;
  works.reserve(input.parts.size());
  for (const decoded_part& part : input.parts) {
    if (part.decoded.events.empty()) continue;
    works.push_back({.task = tasks_[part.stream].get(), .events = part.decoded.events, .plan = &part.plan});
  }
  // A crash may have come between a step and what was to follow it, and a disk that was nearly full may have
  // put that off.
  for (const work& w : works) {
    RATCHET_TRY(resume_backlogs(*w.task));
  }
  // A gap that may be too old ends a step early, for it is to be judged before the records behind it.
  while (!works.empty() && !left_) {
    RATCHET_TRY(take_step(works));
    std::erase_if(works, [](const work& w) { return w.events.empty(); });
    if (!works.empty() && !may_go_on()) break;
  }
  if (input.has_more() && !left_) (void)may_go_on();
  return success();
}

bool pipeline::may_go_on() {
  if (go_on_ && !go_on_()) left_ = true;
  return !left_;
}

result<void> pipeline::take_step(std::vector<work>& works) {
  for (work& w : works) {
    if (stopped_.empty()) continue;
    const auto is_stopped = [this](const decoded_event& e) { return stopped_.contains(*e.from->where); };
    if (std::none_of(w.events.begin(), w.events.end(), is_stopped)) continue;
    std::vector<decoded_event> kept;
    std::remove_copy_if(w.events.begin(), w.events.end(), std::back_inserter(kept), is_stopped);
    w.filtered = std::move(kept);
    w.events = w.filtered;
    w.plan = nullptr;
  }
  std::erase_if(works, [](const work& w) { return w.events.empty(); });
  if (works.empty()) return success();
  std::vector<step_part> parts;
  std::vector<audit_row> audits;
  outbox_change outbox;
  for (work& w : works) {
    RATCHET_TRY(auto part, decide(w, outbox.puts));
    if (w.task->rules.deferred && finds_no_room(w.change)) {
      RATCHET_TRY(const bool did_some, resume_some(*w.task, look_for::all));
      RATCHET_TRY(resume_backlogs(*w.task));
      if (did_some) return success();  // what was decided is thrown away
    }
    assert_goes_on(*w.task, w.change.after);
    parts.push_back(std::move(part));
    std::vector<audit_row> of_stream = audits_of(w.change, clock_.now());
    std::move(of_stream.begin(), of_stream.end(), std::back_inserter(audits));
  }
  RATCHET_TRY(write(std::move(parts), std::move(audits), {}, std::move(outbox)));
  for (work& w : works) {
    RATCHET_TRY(finish(w));
  }
  for (work& w : works) {
    RATCHET_TRY(resume_backlogs(*w.task));
  }
  return success();
}

result<step_part> pipeline::decide(work& w, std::vector<output_row>& outputs) {
  const partition_task& s = *w.task;
  w.taken = w.events.first(std::min({w.events.size(), s.pace, s.events_in_time}));
  if (w.plan == nullptr || w.taken.size() < w.events.size()) {
    w.own_plan = plan_step(s.rules, s.stream.reduce.traits(), w.taken);
    w.plan = &w.own_plan;
  }
  step_rows rows;
  RATCHET_TRY(store_.lookup(s.place(), *w.plan, rows));
  rows.oldest_gap = s.oldest_gap;
  const timestamp now = clock_.now();
  const auto begin = clock_.steady();
  w.change = run_step(s.rules, s.stream.reduce, s.state, w.taken, *w.plan, rows, now, step_time());
  w.took = clock_.steady() - begin;
  const auto looked_at = w.taken.first(w.change.looked_at);
  note_last_hashes(looked_at, w.change);
  step_part out = part_of(s, *w.plan, w.change);
  for (std::size_t n = 0; n < w.change.rejected.size(); ++n) {
    const std::uint32_t i = w.change.rejected[n];
    const rejected_row& row =
        out.rejected.emplace_back(make_rejected_row(s.rules, w.events[i], w.change.decisions[i], now));
    tell_of_rejected(s.stream, w.events[i], row, w.change.rejected_floors[n], outputs);
  }
  out.keep_rejected = limits_at(s.stream.config.rejected, now);
  tell_of_dead_ones(s.stream, *w.plan, w.change, outputs);
  add_published(origin_of(s.stream), *w.plan, std::move(w.change.outputs), outputs);
  return out;
}

void pipeline::explain(const work& w) const {
  std::size_t told = 0;
  auto wait = w.change.waits.begin();
  for (std::size_t i = 0; i < w.change.looked_at; ++i) {
    const bool waits = wait != w.change.waits.end() && wait->index == i;
    if (explain_) explain_(w.task->stream, w.events[i], w.change.decisions[i], waits ? &*wait : nullptr);
    if (waits) ++wait;
    while (told < w.change.fates.size() && w.change.fates[told].behind == i)
      explain(w.task->stream, *w.plan, w.change.fates[told++]);
  }
}

void pipeline::explain(const stream_definition& stream, const step_plan& plan,
                       const waiting_fate& fate) const {
  if (explain_fate_) explain_fate_(stream, plan.aggregates[fate.aggregate], fate);
}

/// What follows from a step that is written.
result<void> pipeline::finish(work& w) {
  if (explain_ || explain_fate_) explain(w);
  note_backlogs(*w.task, *w.plan, w.change);
  std::size_t& pace = w.task->pace;
  if (w.change.looked_at < w.taken.size()) {
    pace = 2 * w.change.looked_at;
  } else if (pace <= w.taken.size()) {
    pace *= 2;
  }
  note_time(*w.task, w.taken.size(), w.change.looked_at, w.took);
  w.task->state = std::move(w.change.after);
  w.events = w.events.subspan(w.change.looked_at);
  w.plan = nullptr;
  return enter_stops(w.change.stops);
}

result<void> pipeline::enter_stops(std::vector<partition_stop>& stops) {
  std::vector<topic_partition> stopped;
  for (partition_stop& stop : stops) {
    if (stop.code == make_error_code(errc::waiting_full))
      name_the_worst(store_, task_of(stop.where.topic), stop);
    if (!stop.where.topic.empty()) stopped.push_back(stop.where);
    stop_partition(std::move(stop));
  }
  return hold_floor_back(stopped);
}

std::vector<audit_row> pipeline::audits_of(stream_change& change, timestamp now) {
  for (audit_row& row : change.audits) row.time = now;
  return std::move(change.audits);
}

step_part pipeline::part_of(const partition_task& task, const step_plan& plan, const stream_change& change) {
  return {.stream = task.stream.id, .plan = &plan, .change = &change, .rejected = {}, .slot = task.slot};
}

/// Of the ledger the difference is compared: what another version has left cannot end this one.
void pipeline::assert_goes_on(const partition_task& task, const stream_state& after) {
  const counters& was = task.state.counters;
  const counters& is = after.counters;
  RATCHET_ASSERT(after.floor >= task.state.floor);  // none is below all
  RATCHET_ASSERT(is.consumed >= was.consumed);
  RATCHET_ASSERT(is.consumed - is.accounted() == was.consumed - was.accounted());
}

result<void> pipeline::write(std::vector<step_part> parts, std::vector<audit_row> audits, store_change change,
                             outbox_change outbox) {
  step_batch batch;
  batch.step = store_.last_step() + 1;
  for (step_part& part : parts) {
    for (rejected_row& row : part.rejected) row.step = batch.step;
  }
  for (audit_row& row : audits) row.step = batch.step;
  batch.parts = std::move(parts);
  batch.audits = std::move(audits);
  batch.change = std::move(change);
  if (!outbox.puts.empty()) outbox.number(store_.outboxes(), store_.outbox_epoch());
  batch.outbox = std::move(outbox);
  RATCHET_TRY(store_.write(batch));
  if (look_at_step_) look_at_step_(batch);
  if (take_outputs_ && !batch.outbox.puts.empty()) take_outputs_(std::move(batch.outbox.puts));
  return success();
}

result<void> pipeline::trim_outbox(outbox_change trim, std::vector<audit_row> audits) {
  return write({}, std::move(audits), {}, std::move(trim));
}

result<void> pipeline::skip_output(skipped_output skipped, audit_row audit) {
  outbox_change change;
  change.skipped = std::move(skipped);
  std::vector<audit_row> audits;
  audits.push_back(std::move(audit));
  auto done = write({}, std::move(audits), {}, std::move(change));
  if (done) done = store_.sync();
  if (!done) failed_ = done.error();
  return done;
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): what it holds is moved out
result<void> pipeline::write_states(std::map<partition_task*, stream_state> changed,
                                    std::vector<audit_row> audits, store_change of_store) {
  std::vector<stream_change> changes;
  changes.reserve(changed.size());
  std::vector<step_part> parts;
  const step_plan nothing;
  for (auto& [task, after] : changed) {
    stream_change& change = changes.emplace_back();
    for (const auto& [where, partition] : after.partitions) {
      const auto was = task->state.partitions.find(where);
      if (was == task->state.partitions.end() || was->second != partition) change.touched.push_back(where);
    }
    assert_goes_on(*task, after);
    change.after = std::move(after);
    parts.push_back(part_of(*task, nothing, change));
  }
  RATCHET_TRY(write(std::move(parts), std::move(audits), std::move(of_store)));
  std::size_t next = 0;
  for (auto& [task, unused] : changed) task->state = std::move(changes[next++].after);
  return success();
}

result<void> pipeline::move_to(const topic_partition& where, std::int64_t offset) {
  partition_task* task = task_of(where.topic);
  if (task == nullptr || stopped_.contains(where) || left_) return success();
  stream_state after = task->state;
  partition_state& partition = after.partitions[where];
  if (offset <= partition.next_offset) return success();
  partition.move_to(offset);
  return write_states({{task, std::move(after)}}, {});
}

namespace {

/// As if the furthest had come to its end last: where all is read, the time of the stream is that of its
/// newest record, whoever came to an end first. All at once nobody would be left to say it.
stream_state leave_out_behind_first(const partition_task& task, std::vector<topic_partition> list) {
  const auto time_of = [&](const topic_partition& where) {
    const auto known = task.state.partitions.find(where);
    return known == task.state.partitions.end() ? std::nullopt : known->second.highest_time;
  };
  std::iter_swap(list.end() - 1,
                 std::max_element(list.begin(), list.end(),
                                  [&](const auto& a, const auto& b) { return time_of(a) < time_of(b); }));
  const std::span all{list};
  const stream_state others_left = leave_out(task.rules, task.state, all.first(all.size() - 1));
  return leave_out(task.rules, others_left, all.last(1));
}

}  // namespace

result<void> pipeline::leave_out_of_floor(std::span<const topic_partition> partitions) {
  std::map<partition_task*, std::vector<topic_partition>> by_task;
  for (const topic_partition& where : partitions) {
    if (partition_task* task = task_of(where.topic)) by_task[task].push_back(where);
  }
  std::map<partition_task*, stream_state> changed;
  for (const auto& [task, list] : by_task) changed.emplace(task, leave_out_behind_first(*task, list));
  if (changed.empty()) return success();
  RATCHET_TRY(write_states(std::move(changed), {}));
  // Stream time has moved.
  for (const auto& [task, list] : by_task) {
    RATCHET_TRY(resume_backlogs(*task));
  }
  return success();
}

result<void> pipeline::leave_out_unread(plain_files files) {
  std::map<partition_task*, stream_state> changed;
  std::vector<partition_task*> moved;
  std::vector<audit_row> audits;
  for (const auto& s : tasks_) {
    const std::vector<topic_partition> unread = unread_partitions(*s, files);
    if (unread.empty()) continue;
    std::map<std::string, std::size_t> topics;
    for (const topic_partition& where : unread) {
      if (!where.topic.empty()) ++topics[where.topic];
    }
    for (const auto& [topic, count] : topics)
      audits.push_back(audit_of_topic_left(s->stream.config.name, topic, count, clock_.now()));
    changed.emplace(s.get(), leave_out(s->rules, s->state, unread));
    moved.push_back(s.get());
  }
  if (changed.empty()) return success();
  RATCHET_TRY(write_states(std::move(changed), std::move(audits)));
  for (partition_task* task : moved) {
    RATCHET_TRY(resume_backlogs(*task));
  }
  return success();
}

namespace {

/// `begins`: where one that is not known yet is to be read from.
void hold_back(stream_state& state, const topic_partition& where, std::int64_t begins) {
  const auto [at, is_new] = state.partitions.try_emplace(where);
  if (is_new) at->second.next_offset = begins;
  at->second.idle = false;
}

/// How far a partition's times have come says nothing of its offsets, and stays.
void forget_positions(stream_state& state) {
  for (auto& [where, partition] : state.partitions) {
    if (where == k_transactions || where.topic.empty()) continue;
    partition.next_offset = k_from_log_start;
    partition.last_record.reset();
    partition.leaps.clear();
    partition.malformed_run = 0;
  }
}

/// Where none counted, one that counts again gives the stream a time: in this very step, and not in whichever
/// comes next.
void recompute_floors(std::map<partition_task*, stream_state>& changed) {
  for (auto& [task, after] : changed) {
    window_floor{after, task->rules.window}.recompute();
    keep_up_retention(task->rules, after);
  }
}

}  // namespace

result<void> pipeline::hold_floor_back(std::span<const topic_partition> partitions) {
  std::map<partition_task*, stream_state> changed;
  for (const topic_partition& where : partitions) {
    partition_task* task = task_of(where.topic);
    if (task == nullptr) continue;
    const auto known = task->state.partitions.find(where);
    if (known != task->state.partitions.end() && !known->second.idle) continue;
    hold_back(changed.try_emplace(task, task->state).first->second, where, k_from_log_start);
  }
  if (changed.empty()) return success();
  recompute_floors(changed);
  return write_states(std::move(changed), {});
}

result<void> pipeline::enter_positions(std::span<const position> positions,
                                       std::span<const topic_partition> unread, std::vector<audit_row> audits,
                                       store_change of_store, known_positions known) {
  std::map<partition_task*, stream_state> changed;
  if (known == known_positions::are_forgotten) {
    for (const auto& s : tasks_) forget_positions(changed.try_emplace(s.get(), s->state).first->second);
  }
  for (const position& p : positions) {
    partition_task* task = task_of(p.where.topic);
    if (task == nullptr) continue;
    stream_state& after = changed.try_emplace(task, task->state).first->second;
    partition_state& partition = after.partitions[p.where];
    if (partition.next_offset == p.offset) continue;
    partition.move_to(p.offset);
    partition.last_record.reset();
    partition.malformed_run = 0;
  }
  for (const topic_partition& where : unread) {
    partition_task* task = task_of(where.topic);
    if (task == nullptr) continue;
    const bool from_end = task->stream.config.start == start_position::latest && !task->state.has_positions();
    hold_back(changed.try_emplace(task, task->state).first->second, where,
              from_end ? k_from_log_end : k_from_log_start);
  }
  recompute_floors(changed);
  return write_states(std::move(changed), std::move(audits), std::move(of_store));
}

}  // namespace ratchet
