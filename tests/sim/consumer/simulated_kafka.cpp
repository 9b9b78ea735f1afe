// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sim/consumer/simulated_kafka.hpp"

#include <algorithm>

#include "kafka/kafka_error.hpp"
#include "support/each_answer.hpp"

namespace ratchet::sim {

namespace {

constexpr int k_unknown_member = 25;  ///< of Kafka's protocol
const char* const k_no_answer = "no broker answers";

auto success() {
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}
std::error_code unavailable() {
  return make_error_code(errc::source_unavailable);
}
std::error_code not_a_member() {
  return kafka_error(k_unknown_member);
}

class simulated_batch final : public record_batch {
 public:
  [[nodiscard]] std::span<const record> records() const noexcept override { return records_; }
  void add(const topic_partition& where, const log_entry& entry) {
    const message& m = *entry.what;
    record& r = records_.emplace_back();
    r.where = &where;
    r.offset = entry.offset;
    if (m.time) r.time = timestamp{std::chrono::milliseconds{*m.time}};
    r.key = m.key;
    if (m.value) r.value = *m.value;
    r.headers = m.headers;
  }

 private:
  std::vector<record> records_;
};

}  // namespace

std::deque<log_entry>::const_iterator partition_log::from(std::int64_t offset) const {
  return std::lower_bound(entries.begin(), entries.end(), offset,
                          [](const log_entry& e, std::int64_t wanted) { return e.offset < wanted; });
}

void partition_log::expire_below(std::int64_t offset) {
  start = offset;
  for (; !entries.empty() && entries.front().offset < start; entries.pop_front()) {
    if (entries.front().what != nullptr) expired.push_back(entries.front().offset);
  }
}

cluster::cluster(const history& h) {
  for (std::uint32_t s = 0; s < h.streams.size(); ++s) {
    for (std::uint32_t p = 0; p < h.streams[s].partitions; ++p) {
      partition_log log;
      log.where = {"t" + std::to_string(s), partition_id{static_cast<std::int32_t>(p)}};
      log.stream = s;
      logs.push_back(std::move(log));
    }
  }
}

std::size_t cluster::index_of(const topic_partition& where) const {
  for (std::size_t i = 0; i < logs.size(); ++i) {
    if (logs[i].where == where) return i;
  }
  throw broken("asked for " + where.topic + ", which does not exist");
}

void cluster::store_offsets(std::span<const commit_request> requests) {
  for (const commit_request& r : requests) {
    partition_log& log = logs[index_of(r.where)];
    log.committed = r.next_offset;
    log.metadata = r.metadata;
  }
}

void cluster::take_late_commits() {
  for (const late_commit& late : std::exchange(on_their_way, {})) {
    if (late.generation == generation) store_offsets(late.requests);
  }
}

void cluster::pass_turn() {
  if (!on_their_way.empty() && on_their_way.front().in_turns-- == 0) take_late_commits();
}

simulated_source::simulated_source(cluster& of, world_port& world, kafka_judge& judge)
    : cluster_{of}, world_{world}, judge_{judge}, reading_(of.logs.size()) {}

// What the world does to it.

void simulated_source::rebalance(bool lost) {
  if (!joined_) return;
  ++cluster_.generation;
  const bool is_told = std::any_of(notices_.begin(), notices_.end(), [](const source_notice& n) {
    return std::holds_alternative<notice::assigned>(n) || std::holds_alternative<notice::revoked>(n);
  });
  const bool is_under_way = owed_ != owed::nothing || assigned_in_ != 0 || learns_in_ || is_told;
  if (is_under_way) return;  // it is being shared out already
  if (lost) {
    learns_in_ = world_.draw(4);
    return;
  }
  generation_ = cluster_.generation;
  say_revoked(false);
}

void simulated_source::say_revoked(bool lost) {
  learns_in_.reset();
  std::vector<topic_partition> held;
  for (std::size_t i = 0; i < reading_.size(); ++i) {
    if (reading_[i].next) held.push_back(cluster_.logs[i].where);
  }
  notices_.emplace_back(notice::revoked{held, lost});
}

void simulated_source::die() {
  dead_ = true;
}

void simulated_source::deliver_again(std::uint32_t back) {
  for (std::size_t i = 0; i < reading_.size(); ++i) {
    reading& r = reading_[i];
    // Never forward: a position that the log's start has passed stays out of range.
    if (r.next) r.next = std::min(*r.next, std::max(cluster_.logs[i].start, *r.next - std::int64_t{back}));
    r.told_end = false;
  }
}

void simulated_source::topic_gone(std::uint32_t stream) {
  for (std::size_t i = 0; i < reading_.size(); ++i) {
    if (cluster_.logs[i].stream != stream || !reading_[i].next) continue;
    reading_[i].dead = true;
    notices_.emplace_back(notice::topic_gone{cluster_.logs[i].where, "unknown topic or partition"});
  }
}

// Questions.

bool simulated_source::answered() {
  world_.pass_call();
  return cluster_.answers;
}

result<std::string> simulated_source::cluster_id(std::chrono::milliseconds timeout) {
  if (!answered()) {
    world_.pass_turn(timeout);
    return unavailable();
  }
  return cluster_.id();
}

result<std::vector<topic_partition>> simulated_source::partitions(std::span<const std::string> topics,
                                                                  std::chrono::milliseconds) {
  if (!answered()) return unavailable();
  std::vector<topic_partition> all;
  for (const partition_log& log : cluster_.logs) {
    if (std::find(topics.begin(), topics.end(), log.where.topic) != topics.end()) all.push_back(log.where);
  }
  return all;
}

result<std::vector<committed_offset>> simulated_source::committed(std::span<const topic_partition> partitions,
                                                                  std::chrono::milliseconds) {
  if (!answered()) return unavailable();
  std::vector<committed_offset> all;
  for (const topic_partition& where : partitions) {
    const partition_log& log = cluster_.logs[cluster_.index_of(where)];
    all.push_back({where, log.committed, log.metadata});
  }
  return all;
}

result<std::vector<group_member>> simulated_source::members(std::chrono::milliseconds) {
  if (!answered()) return unavailable();
  return cluster_.others;
}

std::vector<result<log_bounds>> simulated_source::bounds(std::span<const topic_partition> all,
                                                         std::chrono::milliseconds) {
  const bool has_answer = answered();
  return testing::each_answer(all, [&](const topic_partition& where) -> result<log_bounds> {
    if (!has_answer || cluster_.leaderless.contains(cluster_.index_of(where))) return unavailable();
    return cluster_.logs[cluster_.index_of(where)].bounds();
  });
}

std::vector<result<std::optional<owned_record>>> simulated_source::read_at(std::span<const position> all,
                                                                           std::chrono::milliseconds) {
  const bool has_answer = answered();
  return testing::each_answer(all, [&](const position& wanted) -> result<std::optional<owned_record>> {
    if (!has_answer || cluster_.leaderless.contains(cluster_.index_of(wanted.where))) return unavailable();
    const partition_log& log = cluster_.logs[cluster_.index_of(wanted.where)];
    const auto at = log.from(wanted.offset);
    if (at == log.entries.end() || at->offset != wanted.offset || at->what == nullptr)
      return std::optional<owned_record>{};
    return std::optional{owned_record{at->what->key, at->what->value}};
  });
}

// The group.

result<void> simulated_source::join(std::span<const std::string>) {
  if (!answered()) return unavailable();
  if (!cluster_.others.empty()) throw broken("the group was joined while it had members");
  joined_ = true;
  generation_ = ++cluster_.generation;
  assigned_in_ = 1 + world_.draw(3);
  if (world_.traces()) world_.trace("join");
  return success();
}

void simulated_source::say_assignment() {
  if (assigned_in_ == 0 || --assigned_in_ != 0) return;
  generation_ = cluster_.generation;
  notice::assigned n;
  for (std::size_t i = 0; i < cluster_.logs.size(); ++i) {
    if (!cluster_.held_by_others.contains(i)) n.partitions.push_back(cluster_.logs[i].where);
  }
  notices_.emplace_back(std::move(n));
}

result<void> simulated_source::assign(std::span<const position> wanted) {
  world_.pass_call();
  if (owed_ == owed::unassign) throw broken("assign() while a revoke is to be answered");
  owed_ = owed::nothing;
  for (reading& r : reading_) r = reading{};
  judge_.on_assign();
  std::string line = "assign";
  for (const position& p : wanted) {
    const std::size_t i = cluster_.index_of(p.where);
    reading_[i].next = p.offset;
    judge_.on_unread(i);
    if (world_.traces()) {
      line += " " + p.where.topic + "/" + std::to_string(static_cast<int>(p.where.partition)) + "@" +
              std::to_string(p.offset);
    }
  }
  if (world_.traces()) world_.trace(line);
  return success();
}

result<void> simulated_source::unassign() {
  world_.pass_call();
  for (reading& r : reading_) r = reading{};
  owed_ = owed::nothing;
  assigned_in_ = 1 + world_.draw(4);
  if (world_.traces()) world_.trace("unassign");
  return success();
}

result<void> simulated_source::pause(std::span<const topic_partition> partitions) {
  for (const topic_partition& where : partitions) reading_[cluster_.index_of(where)].paused = true;
  return success();
}

result<void> simulated_source::resume(std::span<const topic_partition> partitions) {
  for (const topic_partition& where : partitions) {
    const std::size_t i = cluster_.index_of(where);
    reading& r = reading_[i];
    if (r.paused) judge_.on_unread(i);
    r.told_end = r.told_end && !r.paused;
    r.paused = false;
  }
  return success();
}

// Records.

result<polled> simulated_source::poll(std::size_t max_records, std::chrono::milliseconds timeout) {
  world_.pass_call();
  world_.pass_turn(timeout);
  polled out;
  if (dead_) {
    out.notices.emplace_back(notice::fatal{make_error_code(errc::source_fatal), "fenced"});
    return out;
  }
  if (!cluster_.answers) {
    out.notices.emplace_back(notice::trouble{unavailable(), k_no_answer});
    return out;
  }
  end_commit(out.notices);
  if (joined_) say_assignment();
  if (learns_in_ && (*learns_in_)-- == 0) say_revoked(true);
  if (notices_.empty() && owed_ == owed::nothing) out.batch = collect(max_records, out.notices);
  for (const source_notice& n : notices_) {
    if (std::holds_alternative<notice::assigned>(n)) owed_ = owed::assign;
    if (std::holds_alternative<notice::revoked>(n)) owed_ = owed::unassign;
  }
  out.notices.insert(out.notices.end(), std::make_move_iterator(notices_.begin()),
                     std::make_move_iterator(notices_.end()));
  notices_.clear();
  for (const topic_partition& where : std::exchange(asked_, {})) {
    const std::size_t i = cluster_.index_of(where);
    const partition_log& log = cluster_.logs[i];
    const bool is_told = !cluster_.leaderless.contains(i);
    out.notices.emplace_back(is_told ? notice::bounds_told{where, log.bounds(), {}}
                                     : notice::bounds_told{where, {}, unavailable()});
  }
  return out;
}

void simulated_source::ask_bounds(std::span<const topic_partition> partitions) {
  if (asked_.empty()) asked_.assign(partitions.begin(), partitions.end());
}

bool simulated_source::deliverable(std::size_t i, std::vector<source_notice>& notices) {
  const partition_log& log = cluster_.logs[i];
  reading& r = reading_[i];
  if (!r.next || r.dead || r.paused || cluster_.leaderless.contains(i)) return false;
  if (*r.next < log.start || *r.next > log.end) {
    r.dead = true;
    notices.emplace_back(notice::out_of_range{log.where, "offset out of range"});
    return false;
  }
  const auto at = std::find_if(log.from(*r.next), log.entries.end(),
                               [](const log_entry& e) { return e.what != nullptr; });
  if (at != log.entries.end() && at->offset < log.stable_end()) {
    r.next = at->offset;
    r.told_end = false;
    return true;
  }
  const std::int64_t end = std::max(*r.next, log.stable_end());
  if (!r.told_end || *r.next != end) notices.emplace_back(notice::end_of_partition{log.where, end});
  r.told_end = true;
  r.next = end;
  return false;
}

std::unique_ptr<record_batch> simulated_source::collect(std::size_t most,
                                                        std::vector<source_notice>& notices) {
  std::vector<std::pair<std::size_t, log_entry>> taken;
  const std::size_t wanted = 1 + world_.draw(static_cast<std::uint32_t>(most));
  const std::size_t count = reading_.size();
  const std::size_t first = world_.draw(static_cast<std::uint32_t>(count));
  for (std::size_t n = 0; n < count; ++n) {
    const std::size_t i = (first + n) % count;
    // A fetch brings some of one partition, then some of the next.
    std::size_t run = 1 + world_.draw(16);
    while (run-- > 0 && taken.size() < wanted && deliverable(i, notices)) {
      taken.emplace_back(i, *cluster_.logs[i].from(*reading_[i].next));
      ++*reading_[i].next;
    }
  }
  if (taken.empty()) return nullptr;
  for (std::size_t i = 0; i < reading_.size(); ++i) {
    if (!reading_[i].next || reading_[i].dead || reading_[i].paused) judge_.on_unread(i);
  }
  auto batch = std::make_unique<simulated_batch>();
  for (const auto& [i, entry] : taken) batch->add(cluster_.logs[i].where, entry);
  judge_.on_delivery(std::move(taken));
  return batch;
}

// Commits.

void simulated_source::trace(const char* what, std::span<const commit_request> requests) {
  std::string line = what;
  for (const commit_request& r : requests) {
    line += " " + r.where.topic + "/" + std::to_string(static_cast<int>(r.where.partition)) + "@" +
            std::to_string(r.next_offset);
  }
  world_.trace(std::move(line));
}

std::error_code simulated_source::take(std::span<const commit_request> requests, std::uint64_t generation) {
  if (!cluster_.answers) return unavailable();
  if (generation != cluster_.generation) return not_a_member();
  if (cluster_.late_commits > 0) {
    --cluster_.late_commits;
    cluster_.on_their_way.push_back(
        {generation, 1 + world_.draw(6), std::vector<commit_request>(requests.begin(), requests.end())});
    return unavailable();
  }
  if (cluster_.lost_commits > 0) {
    --cluster_.lost_commits;
    if (world_.draw(2) == 0) cluster_.store_offsets(requests);
    return unavailable();
  }
  cluster_.take_late_commits();  // these were sent before
  cluster_.store_offsets(requests);
  return {};
}

result<void> simulated_source::commit(std::span<const commit_request> requests) {
  world_.pass_call();
  if (under_way_) throw broken("a second commit while one is under way");
  if (owed_ == owed::unassign) throw broken("a commit while a revoke is to be answered");
  for (const commit_request& r : requests) judge_.on_commit(r);
  if (world_.traces()) trace("commit", requests);
  under_way_ = pending{{requests.begin(), requests.end()}, generation_, world_.draw(4), std::nullopt};
  return success();
}

void simulated_source::take_under_way() {
  if (under_way_ && !under_way_->outcome) {
    under_way_->outcome = take(under_way_->requests, under_way_->generation);
  }
}

void simulated_source::end_commit(std::vector<source_notice>& notices) {
  if (!under_way_) return;
  if (under_way_->in_turns > 0) {
    --under_way_->in_turns;
    return;
  }
  notice::commit_done done;
  take_under_way();
  done.code = *under_way_->outcome;
  if (!done.code) {
    for (const commit_request& r : under_way_->requests)
      done.offsets.push_back({r.where, r.next_offset, r.metadata});
  }
  under_way_.reset();
  notices.emplace_back(std::move(done));
}

result<void> simulated_source::commit_and_wait(std::span<const commit_request> requests,
                                               std::chrono::milliseconds) {
  world_.pass_call();
  for (const commit_request& r : requests) judge_.on_commit(r);
  if (world_.traces()) trace("commit_and_wait", requests);
  take_under_way();
  const std::error_code code = take(requests, generation_);
  world_.pass_call();
  if (code) return code;
  return success();
}

std::optional<std::int64_t> simulated_source::known_end(const topic_partition& where) const {
  const partition_log& log = cluster_.logs[cluster_.index_of(where)];
  return log.end;
}

}  // namespace ratchet::sim
