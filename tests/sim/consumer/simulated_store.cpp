// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sim/consumer/simulated_store.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace ratchet::sim {

namespace {

auto success() {
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

/// Gives a map its entries as they were; what was not there goes.
template <class Map, class Entries>
void put_back(Map& into, Entries& entries) {
  for (auto& [key, was] : entries) {
    if (was) {
      into.insert_or_assign(key, std::move(*was));
    } else {
      into.erase(key);
    }
  }
}

}  // namespace

simulated_disk::simulated_disk(std::string uuid, std::size_t streams) : durable_floors_(streams) {
  now_.uuid = std::move(uuid);
  now_.streams.resize(streams);
}

/// Everything that the step is about to change, as it is.
void simulated_disk::note_before(const step_part& part, undo& before) const {
  const auto index = static_cast<std::size_t>(part.stream);
  const stream_rows& stream = now_.streams.at(index);
  const auto known = [](const auto& map, const auto& key) {
    const auto at = map.find(key);
    return std::pair{key, at == map.end() ? std::nullopt : std::optional{at->second}};
  };
  undo::of_stream& was = before.streams.emplace_back();
  was.stream = index;
  was.state = stream.state;
  for (const aggregate_change& changed : part.change->rows) {
    was.rows.push_back(known(stream.rows, std::string{part.plan->aggregates.at(changed.aggregate)}));
  }
  for (const id_of_aggregate& id : part.change->ids) {
    const std::string name{part.plan->aggregates.at(id.aggregate)};
    was.ids.push_back(known(stream.ids, std::pair{id.id, name}));
    was.answers.push_back(known(stream.answers, std::pair{id.id, name}));
  }
  const auto& go = part.keep_rejected.before;
  const bool some_go = go && stream.kept.oldest() && *stream.kept.oldest() <= *go;
  if (some_go || !part.rejected.empty()) was.rejected = std::pair{stream.rejected, stream.kept};
  for (const backlog_change& changed : part.change->backlogs) {
    const std::string name{part.plan->aggregates.at(changed.aggregate)};
    was.backlogs.push_back(known(stream.backlogs, name));
    for (const waiting_head& gone : changed.removals)
      was.waiting.push_back(known(stream.waiting, std::pair{name, gone.sequence}));
    for (const waiting_event& e : changed.puts)
      was.waiting.push_back(known(stream.waiting, std::pair{name, e.head.sequence}));
  }
  for (const table_change& changed : part.change->tables)
    was.tables.push_back(known(stream.tables, std::pair{changed.table, changed.key}));
}

void simulated_disk::write(const step_batch& batch) {
  undo& before = unsynced_.emplace_back();
  before.step = batch.step;
  before.audits = now_.audits.size();
  before.incarnations = now_.incarnations;
  before.outbox_epoch = now_.outbox_epoch;
  before.cluster_id = now_.cluster_id;
  before.outbox = now_.outbox;
  for (const step_part& part : batch.parts) {
    note_before(part, before);
    now_.streams[static_cast<std::size_t>(part.stream)].enter(part, batch.step);
  }
  now_.audits.insert(now_.audits.end(), batch.audits.begin(), batch.audits.end());
  const store_change& change = batch.change;
  if (change.outbox_epoch) now_.outbox_epoch = std::max(*change.outbox_epoch, now_.outbox_epoch + 1);
  now_.incarnations.insert(now_.incarnations.end(), change.taken_over.begin(), change.taken_over.end());
  std::stable_sort(now_.incarnations.begin(), now_.incarnations.end(),
                   [](const incarnation& a, const incarnation& b) { return a.counter < b.counter; });
  if (change.cluster_id) now_.cluster_id = *change.cluster_id;
  now_.outbox.enter(batch.outbox);
  now_.step = batch.step;
}

void simulated_disk::take_back() {
  undo& before = unsynced_.back();
  for (auto part = before.streams.rbegin(); part != before.streams.rend(); ++part) {
    stream_rows& into = now_.streams[part->stream];
    into.state = std::move(part->state);
    put_back(into.rows, part->rows);
    put_back(into.ids, part->ids);
    put_back(into.answers, part->answers);
    if (part->rejected) std::tie(into.rejected, into.kept) = std::move(*part->rejected);
    put_back(into.backlogs, part->backlogs);
    put_back(into.waiting, part->waiting);
    put_back(into.tables, part->tables);
  }
  now_.audits.resize(before.audits);
  now_.incarnations = std::move(before.incarnations);
  now_.outbox_epoch = before.outbox_epoch;
  now_.cluster_id = std::move(before.cluster_id);
  now_.outbox = std::move(before.outbox);
  now_.step = before.step - 1;
  unsynced_.pop_back();
}

void simulated_disk::sync(std::uint64_t up_to) {
  if (up_to <= durable_) return;
  durable_ = up_to;
  while (!unsynced_.empty() && unsynced_.front().step <= up_to) unsynced_.pop_front();
  if (!unsynced_.empty()) return;  // the floor of the step that is durable is no longer at hand
  for (std::size_t i = 0; i < now_.streams.size(); ++i) durable_floors_[i] = now_.streams[i].state.floor;
}

std::uint64_t simulated_disk::power_cut(world_port& world) {
  // Each step's pages came to the disk or not; a tail that was torn is as good as missing.
  std::size_t whole = 0;
  while (whole < unsynced_.size() && world.draw(3) != 0) ++whole;
  lost_steps = lost_steps || unsynced_.size() > whole;
  while (unsynced_.size() > whole) take_back();
  durable_ = now_.step;
  unsynced_.clear();
  return now_.step;
}

void simulated_disk::open(world_port& world) {
  if (std::exchange(sync_failed, false)) (void)power_cut(world);
  sync(now_.step);
}

void simulated_disk::drop_old_ids() {
  for (std::size_t i = 0; i < now_.streams.size(); ++i) {
    if (!durable_floors_[i]) continue;
    stream_rows& stream = now_.streams[i];
    std::erase_if(stream.ids, [&](const auto& id) {
      const bool goes = id.second < *durable_floors_[i];
      if (goes) stream.answers.erase(id.first);
      return goes;
    });
  }
}

void simulated_disk::restore(contents was) {
  now_ = std::move(was);
  unsynced_.clear();
  durable_ = now_.step;
  for (std::size_t i = 0; i < now_.streams.size(); ++i) durable_floors_[i] = now_.streams[i].state.floor;
}

void simulated_disk::draw(const incarnation& drawn) {
  now_.incarnations.push_back(drawn);
  sync(now_.step);
}

simulated_store::simulated_store(simulated_disk& disk, disk_faults& faults, world_port& world,
                                 store_judge& judge, std::size_t queue_events)
    : disk_{disk}, faults_{faults}, world_{world}, judge_{judge}, queue_events_{queue_events} {}

void simulated_store::pass_turn() {
  if (!running_ || failed_) return;
  if (running_->in_turns > 0) {
    --running_->in_turns;
    return;
  }
  const std::uint64_t up_to = running_->up_to;
  running_.reset();
  (void)sync_now(up_to);  // a failure is told by the next call
  if (std::exchange(another_, false) && !failed_) request_sync();
}

stream_id simulated_store::id_of(std::string_view stream) const {
  return static_cast<stream_id>(static_cast<std::uint32_t>(stream.back() - '0'));  // s0, s1
}

result<stream_state> simulated_store::load(stream_slot in) const {
  return disk_.now().streams.at(static_cast<std::size_t>(in.stream)).state;
}

result<void> simulated_store::lookup(stream_slot in, const step_plan& plan, step_rows& out) {
  world_.pass_call();
  if (disk_.rotten) return make_error_code(errc::state_damaged);
  judge_.on_look_up(in.stream, plan);
  disk_.now().streams.at(static_cast<std::size_t>(in.stream)).look_up(plan, out, queue_events_);
  return success();
}

result<due_aggregates> simulated_store::due(stream_slot in, timestamp now, std::optional<timestamp> gaps,
                                            std::size_t limit) {
  world_.pass_call();
  if (disk_.rotten) return make_error_code(errc::state_damaged);
  return disk_.now().streams.at(static_cast<std::size_t>(in.stream)).due(now, gaps, limit);
}

result<std::vector<std::string>> simulated_store::due_behind(stream_slot in, timestamp until,
                                                             std::size_t limit) {
  world_.pass_call();
  if (disk_.rotten) return make_error_code(errc::state_damaged);
  return disk_.now().streams.at(static_cast<std::size_t>(in.stream)).due_behind(until, limit);
}

result<forgotten_aggregates> simulated_store::find_forgotten(stream_slot in, const retention_state& of,
                                                             const std::optional<std::string>& after,
                                                             std::size_t rows) {
  world_.pass_call();
  if (disk_.rotten) return make_error_code(errc::state_damaged);
  return disk_.now().streams.at(static_cast<std::size_t>(in.stream)).find_forgotten(of, after, rows);
}

result<std::vector<output_row>> simulated_store::outputs(std::string_view lane, std::uint64_t from,
                                                         std::uint64_t until, std::size_t limit,
                                                         std::uint64_t bytes) const {
  world_.pass_call();
  if (disk_.rotten) return make_error_code(errc::state_damaged);
  return disk_.now().outbox.read(lane, from, until, limit, bytes);
}

std::optional<timestamp> simulated_store::oldest_rejected(stream_id id) const {
  return disk_.now().streams.at(static_cast<std::size_t>(id)).kept.oldest();
}

result<void> simulated_store::write(const step_batch& batch) {
  world_.pass_call();
  if (failed_) {
    if (std::exchange(told_, true)) throw broken("a write behind one that failed");
    return make_error_code(errc::write_indeterminate);
  }
  if (batch.step != disk_.now().step + 1)
    throw broken("step " + std::to_string(batch.step) + " is not the next");
  if (faults_.full) {
    failed_ = told_ = true;
    return make_error_code(errc::write_indeterminate);
  }
  const bool fails = faults_.failing_writes > 0;
  if (fails) --faults_.failing_writes;
  if (!fails || world_.draw(2) == 0) {
    judge_.on_write(batch, disk_.now());
    disk_.write(batch);
  }
  if (fails) {
    failed_ = told_ = true;
    return make_error_code(errc::write_indeterminate);
  }
  world_.pass_call();
  return success();
}

result<void> simulated_store::sync_now(std::uint64_t up_to) {
  if (failed_ || faults_.full || faults_.failing_syncs > 0) {
    if (faults_.failing_syncs > 0) --faults_.failing_syncs;
    failed_ = true;  // an fsync that failed is never tried again
    disk_.sync_failed = true;
    return make_error_code(errc::write_indeterminate);
  }
  disk_.sync(up_to);
  if (world_.draw(8) == 0) disk_.drop_old_ids();
  return success();
}

void simulated_store::request_sync() {
  if (failed_) return;
  if (running_) {
    another_ = true;
    return;
  }
  running_ = running_sync{disk_.now().step, faults_.slow_syncs + world_.draw(3)};
}

result<void> simulated_store::sync() {
  world_.pass_call();
  RATCHET_TRY(sync_now(disk_.now().step));
  world_.pass_call();
  return success();
}

result<void> simulated_store::set_cluster_id(std::string_view id) {
  disk_.set_cluster_id(id);
  return success();
}

result<incarnation> simulated_store::draw_incarnation(std::uint64_t past, std::uint64_t random) {
  world_.pass_call();
  RATCHET_TRY(sync_now(disk_.now().step));
  std::uint64_t highest = std::max(past, disk_.now().outbox_epoch);
  for (const incarnation& known : disk_.now().incarnations) highest = std::max(highest, known.counter);
  const incarnation drawn{highest + 1, random};
  disk_.draw(drawn);
  world_.pass_call();
  return drawn;
}

result<std::uint64_t> simulated_store::checkpoint(const std::filesystem::path&) {
  return std::make_error_code(std::errc::operation_not_supported);
}

result<std::unique_ptr<store_view>> simulated_store::view() const {
  return std::make_error_code(std::errc::operation_not_supported);
}

}  // namespace ratchet::sim
