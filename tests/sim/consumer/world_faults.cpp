// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of the world that moves on by itself: turns, producers, faults and their end.
#include <algorithm>
#include <array>
#include <iterator>

#include "sim/consumer/world.hpp"

namespace ratchet::sim {

namespace {

constexpr std::uint32_t k_longest_spell = 25;
constexpr std::uint32_t k_turns_to_rest = 1'500;

}  // namespace

void world::pass_turn(std::chrono::milliseconds waited) {
  ++turn_;
  clock_.pass(std::chrono::milliseconds{1} + waited * draw(5) / 4);
  if (draw(16) == 0) clock_.pass(std::chrono::milliseconds{draw(4'000)});
  produce();
  end_spells(false);
  apply_due_faults();
  cluster_.pass_turn();
  if (store_) store_->pass_turn();
  callers_.pass_turn(turn_, healed_at_ != 0);
  if (healed_at_ == 0 && turn_ > last_turn_ && produced_ == history_.log.size() &&
      next_fault_ == history_.faults.size()) {
    heal();
  }
  look_for_rest();
}

void world::produce() {
  for (std::uint32_t i = 0; i < history_.records_per_turn && produced_ < history_.log.size(); ++i) {
    const message* m = history_.log[produced_++];
    for (partition_log& log : cluster_.logs) {
      if (log.stream == m->stream && static_cast<std::uint32_t>(log.where.partition) == m->partition)
        log.append(m);
    }
  }
}

void world::apply_due_faults() {
  if (anew_later_ && anew_later_->first <= turn_) make_topic_anew(std::exchange(anew_later_, {})->second);
  while (next_fault_ < history_.faults.size() && history_.faults[next_fault_].at <= turn_) {
    const fault& f = history_.faults[next_fault_++];
    if (traces())
      trace(std::string{"-- "} + name_of(f.kind) + " " + std::to_string(f.amount) + " " +
            std::to_string(f.choice));
    ++result_.met.faults.at(static_cast<std::size_t>(f.kind));
    apply(f);
  }
}

void world::apply(const fault& f) {
  switch (f.kind) {
    case fault_kind::kill:
    case fault_kind::power_cut:
      with_power_ = f.kind == fault_kind::power_cut;
      dies_in_ = f.amount % 24;
      break;
    case fault_kind::drain:
      stop_ = true;
      break;
    case fault_kind::foreign_commit:
    case fault_kind::other_store:
    case fault_kind::directory_lost:
    case fault_kind::directory_restore:
    case fault_kind::cluster_moved:
      stop_process(f);
      break;
    case fault_kind::directory_backup:
      disk_->sync(disk_->now().step);
      backup_ = backup{disk_->backup(), book_, mail_};
      break;
    case fault_kind::client_fatal:
      if (source_) source_->die();
      break;
    case fault_kind::redelivery:
      if (source_) source_->deliver_again(1 + f.amount % 20);
      break;
    case fault_kind::write_fails:
      disk_faults_.failing_writes = 1;
      break;
    case fault_kind::sync_fails:
      disk_faults_.failing_syncs = 1;
      break;
    case fault_kind::bit_rot:
      disk_->rotten = true;
      break;
    case fault_kind::decision:
      // An operator who finds another's decision waiting leaves it at that.
      if (inbox_) (void)inbox_->tasks.post([this, f](posted_tasks::access of) { decide(f, of.way); });
      break;
    case fault_kind::clock_jump:
      clock_.jump(std::chrono::milliseconds{static_cast<std::int64_t>(f.amount % 20'000) - 10'000});
      if (f.choice % 3 == 0) clock_.jump(-std::chrono::hours{1 + f.choice / 3 % 12});
      break;
    case fault_kind::brokers_down:
    case fault_kind::sync_slow:
    case fault_kind::disk_low:
    case fault_kind::disk_full:
    case fault_kind::slow_reducers:
      begin_spell(f);
      break;
    default:
      apply_to_brokers(f);
  }
}

void world::decide(const fault& f, pipeline& way) {
  constexpr std::array k_verbs{waiting_verb::replay, waiting_verb::replay, waiting_verb::skip,
                               waiting_verb::discard};
  const std::uint32_t stream = f.choice % static_cast<std::uint32_t>(streams_.size());
  const auto& waiting = disk_->now().streams[stream].waiting;
  if (waiting.empty()) return;
  auto at = std::next(waiting.begin(), static_cast<std::ptrdiff_t>(f.choice / 7 % waiting.size()));
  if (history_.streams[stream].parks_too_old && f.choice / 3 % 2 == 0) {
    const auto is_old = [](const auto& entry) { return entry.second.is_undecided(); };
    const auto old = std::find_if(at, waiting.end(), is_old);
    if (old != waiting.end()) at = old;
  }
  std::vector<pipeline::decided> all;
  std::vector<std::pair<std::uint32_t, ruling>> wanted;
  // Of a queue that is not looked up whole, a step knows what follows the first decision only from where it
  // was looked up: a second one might meet what the first one has released, or not yet.
  const bool is_whole = history_.queue_events == k_queue_events;
  for (std::uint32_t i = is_whole ? f.amount / 16 % 3 : 0; at != waiting.end(); --i, ++at) {
    pipeline::decided& d = all.emplace_back();
    d.aggregate = at->first.first;
    d.verb = k_verbs.at((f.amount + i) % k_verbs.size());
    d.sequence = at->first.second;
    const bool of_gap = d.verb == waiting_verb::skip && f.amount / 4 % 3 == 0 && d.sequence.number > 0;
    if (of_gap) --d.sequence.number;  // perhaps one that is missing
    if ((f.amount + i) % k_verbs.size() == 1)
      d.payload = R"({"mended":)" + std::to_string(f.amount % 1000) + "}";
    wanted.emplace_back(static_cast<std::uint32_t>(std::stoul(d.aggregate.substr(1))),
                        ruling{d.verb, {d.sequence.epoch, d.sequence.number}, d.payload});
    if (traces())
      trace(std::string{"an operator says "} + name_of(d.verb) + " " + d.aggregate + " " +
            std::to_string(d.sequence.number) + (d.payload ? " with another payload" : ""));
    if (i == 0) break;
  }
  book_.expect(stream, std::move(wanted));
  const auto answers = way.run_commands(*tasks_[stream], all);
  const std::vector<waiting_answer> right = book_.take_answers();
  if (answers && answers.value() != right) throw broken("an operator was told what the oracle does not say");
}

void world::apply_to_brokers(const fault& f) {
  partition_log& log = cluster_.logs[f.choice % cluster_.logs.size()];
  switch (f.kind) {
    case fault_kind::rebalance:
      if (source_) source_->rebalance(false);
      break;
    case fault_kind::lost:
      if (source_) source_->rebalance(true);
      break;
    case fault_kind::zombie:
      clock_.pass(std::chrono::milliseconds{10'000 + f.amount % 100'000});
      if (source_) source_->rebalance(true);
      if (f.choice % 3 == 0 && log.committed) {
        log.committed = std::min(log.end, *log.committed + f.amount % 7);
        log.metadata.clear();
      }
      break;
    case fault_kind::foreign_member:
      cluster_.held_by_others.insert(f.choice % cluster_.logs.size());
      cluster_.others.push_back({"foreign", "kcat", "elsewhere"});
      if (f.amount % 4 == 0)
        log.committed = std::min(log.end, log.committed.value_or(log.start) + f.amount % 5);
      if (f.amount % 4 == 0) log.metadata = "somebody else's";
      begin_spell(f);
      if (source_) source_->rebalance(f.amount % 2 == 0);
      break;
    case fault_kind::commit_lost:
      cluster_.lost_commits = 1 + f.amount % 3;
      break;
    case fault_kind::commit_late:
      cluster_.late_commits = 1;
      break;
    case fault_kind::transaction:
      if (!log.open_at) log.open_at = log.end;
      begin_spell(f);
      break;
    case fault_kind::retention: {
      const std::int64_t span = log.stable_end() - log.start;
      log.expire_below(log.start + span * static_cast<std::int64_t>(f.amount % 100) / 100);
      break;
    }
    case fault_kind::compaction:
      for (std::uint32_t i = 0; i < f.amount % 20 && log.entries.size() > 1; ++i) {
        log.entries.erase(log.entries.begin() + draw(static_cast<std::uint32_t>(log.entries.size() - 1)));
      }
      break;
    case fault_kind::markers:
      for (std::uint32_t i = 0; i <= f.amount % 3; ++i) log.append(nullptr);
      break;
    case fault_kind::topic_anew:
      if (f.choice / 8 % 2 == 0) {
        make_topic_anew(f);
      } else {  // behind a transaction whose end has taken an offset, so that no record lies at the log's end
        for (partition_log& of : cluster_.logs) {
          if (of.stream == f.choice % history_.streams.size()) of.append(nullptr);
        }
        anew_later_ = {turn_ + 1 + f.amount % 16, f};
      }
      break;
    default:
      throw broken(std::string{"the world cannot play "} + name_of(f.kind));
  }
}

/// Deleted and made again, with other records in it: fewer, or more than there were.
void world::make_topic_anew(const fault& f) {
  const std::uint32_t stream = f.choice % static_cast<std::uint32_t>(history_.streams.size());
  mail_.forget_places();
  for (partition_log& log : cluster_.logs) {
    if (log.stream != stream) continue;
    const auto records = static_cast<std::int64_t>(log.end) * (f.amount % 200) / 100;
    log.entries.clear();
    log.expired.clear();
    log.start = log.end = 0;
    log.open_at.reset();
    ++log.made;
    if (f.amount % 2 == 0) log.committed.reset();
    std::vector<const message*> of_partition;
    for (const message& m : history_.messages) {
      if (m.is_record && m.stream == stream && m.partition == static_cast<std::uint32_t>(log.where.partition))
        of_partition.push_back(&m);
    }
    if (of_partition.empty()) continue;
    // Some come again, so that it may be longer than it was; and perhaps not the same ones lie where they
    // lay.
    for (std::size_t i = f.choice / 16 % of_partition.size(); log.end < records; ++i)
      log.append(of_partition[i % of_partition.size()]);
  }
  if (source_) source_->topic_gone(stream);
}

/// The records of each log, behind offsets of its own; or, of a cluster whose disks were copied, the very
/// logs. A mirror may translate the group's offsets, and then leaves their metadata as it is or out.
void world::move_cluster(const fault& f) {
  ++cluster_.number;
  cluster_.on_their_way.clear();
  cluster_.others.clear();
  // Behind a rebuild that was killed an offset of the group says that a state was lost, and an operator may
  // accept that.
  if (history_.well_behaved) {
    for (partition_log& log : cluster_.logs) log.committed.reset();
  }
  if (f.choice % 4 == 0) return;
  mail_.forget_places();
  for (partition_log& log : cluster_.logs) {
    const std::deque<log_entry> before = std::exchange(log.entries, {});
    const auto committed = std::exchange(log.committed, std::nullopt);
    log.expired.clear();
    log.open_at.reset();
    log.start = log.end = f.amount / 8 % 50;
    ++log.made;
    for (const log_entry& entry : before) {
      if (committed && entry.offset >= *committed && !log.committed) log.committed = log.end;
      if (entry.what != nullptr) log.append(entry.what);
    }
    if (committed && !log.committed) log.committed = log.end;
    if (f.choice / 4 % 3 == 0) log.committed.reset();
    if (f.choice / 4 % 3 != 1) log.metadata.clear();
  }
}

/// What can only be done, or only be found, while no process runs.
void world::stop_process(const fault& then) {
  while_down_.push_back(then);
  if (then.amount % 2 == 0) {
    stop_ = true;
  } else {
    dies_in_ = then.amount % 7;
  }
}

void world::apply_while_down(const fault& f) {
  partition_log& log = cluster_.logs[f.choice % cluster_.logs.size()];
  switch (f.kind) {
    case fault_kind::foreign_commit: {
      const std::int64_t by = static_cast<std::int64_t>(f.amount % 21) - 10;
      log.committed = std::clamp(log.committed.value_or(log.start) + by, log.start, log.end);
      log.metadata.clear();
      break;
    }
    case fault_kind::other_store:
      log.committed = std::min(log.end, log.committed.value_or(log.start) + f.amount % 3);
      log.metadata = to_metadata({"99999999-0000-4000-8000-000000000000", {f.amount, f.choice}, 1});
      cluster_.others.push_back({"other", "ratchet", "elsewhere"});
      begin_spell(f);
      break;
    case fault_kind::directory_lost:
      new_directory();
      break;
    case fault_kind::cluster_moved:
      move_cluster(f);
      break;
    case fault_kind::directory_restore:
      if (!backup_) break;
      disk_->restore(backup_->contents);
      disk_->rotten = false;
      book_ = backup_->book;
      mail_ = backup_->mail;
      callers_.forget_promises();
      older_at_the_end_ = finished_;
      if (traces())
        trace("the state directory is that of step " + std::to_string(disk_->now().step) + " again");
      break;
    default:
      throw broken(std::string{"the world cannot play this while it is down: "} + name_of(f.kind));
  }
}

void world::begin_spell(const fault& f) {
  spells_.push_back({turn_ + 1 + f.amount % k_longest_spell, f.kind});
  if (f.kind == fault_kind::brokers_down && f.choice % 2 == 0) cluster_.answers = false;
  // Or one of them alone.
  if (f.kind == fault_kind::brokers_down && f.choice % 2 != 0)
    cluster_.leaderless.insert(f.choice / 2 % cluster_.logs.size());
  if (f.kind == fault_kind::sync_slow) disk_faults_.slow_syncs = 1 + f.choice % 10;
  if (f.kind == fault_kind::disk_low) space_.low = true;
  if (f.kind == fault_kind::disk_full) disk_faults_.full = true;
  if (f.kind == fault_kind::slow_reducers)
    running_.on_call = [this, f] { clock_.take(std::chrono::milliseconds{1 + f.choice % 1'500}); };
}

/// Each with a marker, behind which what was held back is given out.
void world::end_transactions() {
  for (partition_log& log : cluster_.logs) {
    if (std::exchange(log.open_at, std::nullopt)) log.append(nullptr);
  }
}

void world::end_spells(bool all) {
  const auto over = [&](const spell& s) { return all || s.until <= turn_; };
  for (const spell& s : spells_) {
    if (!over(s)) continue;
    if (s.kind == fault_kind::brokers_down) {
      cluster_.answers = true;
      cluster_.leaderless.clear();
    }
    if (s.kind == fault_kind::sync_slow) disk_faults_.slow_syncs = 0;
    if (s.kind == fault_kind::disk_low) space_.low = false;
    if (s.kind == fault_kind::disk_full) disk_faults_.full = false;
    if (s.kind == fault_kind::slow_reducers) running_.on_call = nullptr;
    if (s.kind == fault_kind::transaction) end_transactions();
    if (s.kind == fault_kind::other_store) cluster_.leave("other");
    if (s.kind == fault_kind::kill) cluster_.leave("killed");
    if (s.kind == fault_kind::foreign_member) {
      cluster_.leave("foreign");
      cluster_.held_by_others.clear();
      if (source_) source_->rebalance(false);
    }
  }
  std::erase_if(spells_, over);
}

/// The faults are over: from here on it has to come to rest.
void world::heal() {
  healed_at_ = turn_;
  if (traces()) trace("== no more faults");
  end_spells(true);
  anew_later_.reset();
  cluster_.others.clear();
  cluster_.held_by_others.clear();
  cluster_.lost_commits = cluster_.late_commits = 0;
  disk_faults_ = {};
  dies_in_.reset();
  if (outlet_) outlet_->heals();
  if (sink_) sink_->heals();
}

bool world::at_rest() const {
  // What a sync that still fails could take back would have to be done again.
  if (!book_.is_settled() || disk_->durable() != disk_->now().step) return false;
  if (!mail_.is_all_that_is_left(disk_->now().outbox.lanes) || !callers_.know_all()) return false;
  if (disk_->now().cluster_id != cluster_.id()) return false;  // somebody has to be asked
  if (!book_.has_taken_away(disk_->now())) return false;
  return std::all_of(cluster_.logs.begin(), cluster_.logs.end(), [&](const partition_log& log) {
    if (book_.is_stopped_by_gap(log.stream)) return true;  // for good: nobody sends what is missing
    const auto& known = disk_->now().streams[log.stream].state.partitions;
    const auto at = known.find(log.where);
    return at != known.end() && at->second.next_offset == log.end && log.committed == log.end &&
           parse_metadata(log.metadata).has_value();
  });
}

bool world::has_stopped_partitions() const {
  for (const auto& [name, partitions] : status_->snapshot().streams) {
    if (book_.is_stopped_by_gap(static_cast<std::uint32_t>(name.back() - '0'))) continue;
    for (const auto& [where, live] : partitions) {
      if (live.stopped) return true;
    }
  }
  return false;
}

void world::look_for_rest() {
  if (healed_at_ == 0) return;
  if (at_rest() && store_ && source_ && !has_stopped_partitions()) {
    finished_ = true;
    stop_ = true;
    return;
  }
  // An operator sees to what is stopped.
  const bool is_to_mend = !running_.mended && std::any_of(history_.streams.begin(), history_.streams.end(),
                                                          [](const stream_setup& s) { return s.stops; });
  stopped_since_ = store_ && (is_to_mend || has_stopped_partitions()) ? stopped_since_ + 1 : 0;
  if (stopped_since_ > 10) {
    stopped_since_ = 0;
    choose_option("--resume store, --resume kafka, --resume rebuild, --resume takeover or --resume cluster");
    stop_ = true;
  }
  if (turn_ - healed_at_ > k_turns_to_rest) {
    std::string where;
    for (const partition_log& log : cluster_.logs) {
      const auto& known = disk_->now().streams[log.stream].state.partitions;
      const auto at = known.find(log.where);
      where += "; " + log.where.topic + "/" + std::to_string(static_cast<int>(log.where.partition)) +
               " ends at " + std::to_string(log.end) + ", stored is " +
               (at == known.end() ? "nothing" : std::to_string(at->second.next_offset)) + ", committed is " +
               std::to_string(log.committed.value_or(-1));
    }
    if (!book_.has_taken_away(disk_->now())) where += "; rows are left of what is forgotten";
    throw broken("it does not come to rest" + where);
  }
}

}  // namespace ratchet::sim
