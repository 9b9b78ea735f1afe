// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ports/clock.hpp"
#include "ports/source.hpp"
#include "support/each_answer.hpp"
#include "support/topic_partitions.hpp"

/// A consumer group's source in memory, scripted by a test. It judges its caller as it goes: two commits
/// under way, records asked of a partition that is not assigned, an answer that nobody asked for fail the
/// test at once.
namespace ratchet::testing {

inline std::string place(const topic_partition& where) {
  return where.topic + "[" + std::to_string(static_cast<int>(where.partition)) + "]";
}

/// Every call of the source and of the store, in order, as short texts.
class journal {
 public:
  void add(std::string what) { lines.push_back(std::move(what)); }
  /// The index of the first line from `from` on that begins with `prefix`; npos where there is none.
  [[nodiscard]] std::size_t find(const std::string& prefix, std::size_t from = 0) const {
    for (std::size_t i = from; i < lines.size(); ++i) {
      if (lines[i].starts_with(prefix)) return i;
    }
    return npos;
  }
  [[nodiscard]] std::size_t count(const std::string& prefix) const {
    return static_cast<std::size_t>(
        std::count_if(lines.begin(), lines.end(), [&](const auto& l) { return l.starts_with(prefix); }));
  }
  static constexpr std::size_t npos = std::numeric_limits<std::size_t>::max();
  std::vector<std::string> lines;
};

class fake_clock final : public clock_port {
 public:
  [[nodiscard]] timestamp now() const override { return now_; }
  [[nodiscard]] std::chrono::steady_clock::time_point steady() const override { return steady_; }
  void advance(std::chrono::milliseconds by) {
    now_ += by;
    steady_ += by;
  }
  /// Somebody sets the wall clock.
  void set_back(std::chrono::milliseconds by) { now_ -= by; }

 private:
  timestamp now_{std::chrono::milliseconds{1'700'000'000'000}};
  std::chrono::steady_clock::time_point steady_{std::chrono::hours{1}};
};

struct fake_record {
  std::int64_t offset{0};
  std::string value;
  std::optional<timestamp> time;
};

/// A partition's log and what the group committed of it.
struct fake_log {
  std::deque<fake_record> records;
  std::int64_t start{0};
  std::int64_t end{0};  ///< may lie behind the last record: transaction markers
  /// An open transaction holds back what lies from here on.
  std::optional<std::int64_t> open_at;
  /// Up to where records are given out.
  [[nodiscard]] std::int64_t stable_end() const { return std::min(end, open_at.value_or(end)); }
  std::optional<std::int64_t> committed;
  std::string metadata;
};

class fake_batch final : public record_batch {
 public:
  [[nodiscard]] std::span<const record> records() const noexcept override { return records_; }
  void add(const topic_partition* where, const fake_record& from) {
    const fake_record& kept = bytes_.emplace_back(from);
    record r;
    r.where = where;
    r.offset = kept.offset;
    r.time = kept.time;
    r.value = kept.value;
    records_.push_back(r);
  }

 private:
  std::deque<fake_record> bytes_;
  std::vector<record> records_;
};

class fake_source final : public source {
 public:
  fake_source(journal& calls, fake_clock& clock) : calls_{calls}, clock_{clock} {}

  // What the world holds.
  std::map<topic_partition, fake_log> logs;
  std::string cluster{"cluster-1"};
  std::vector<group_member> others;  ///< who is listed in the group beside this instance
  std::error_code members_error;     ///< of the question who is listed
  /// What the first assignment after join() holds; none: every partition.
  std::optional<std::vector<topic_partition>> held_at_join;
  bool assigns_at_join{true};

  // What goes wrong.
  int failing_commits{0};            ///< so many asynchronous commits end in an error
  int failing_waits{0};              ///< so many commit_and_wait() fail
  bool holds_commits{false};         ///< asynchronous commits do not end
  int unanswered_cluster_ids{0};     ///< so many calls of cluster_id() wait in vain
  std::deque<complaint> complaints;  ///< one for each take_complaint()
  int failing_committed_queries{0};  ///< so many answers of committed() are errors
  std::error_code wait_error{make_error_code(errc::source_unavailable)};  ///< of commit_and_wait()
  std::error_code query_error{make_error_code(errc::source_unavailable)};
  std::map<topic_partition, std::error_code> unanswered;  ///< what bounds() says of these
  std::map<topic_partition, std::error_code> unreadable;  ///< what read_at() says of these
  std::set<topic_partition> asked;                        ///< by ask_bounds()

  /// Called with every commit before it counts.
  std::function<void(const commit_request&)> on_commit;
  /// One is run at each poll once every record that could be delivered was, and nothing is left to commit.
  std::deque<std::function<void()>> script;
  /// Run when the script is at its end; sets the stop flag, as a rule.
  std::function<void()> at_end;
  [[nodiscard]] bool is_paused(const topic_partition& where) const { return paused_.contains(where); }
  std::function<void(int)> on_poll;    ///< at each poll, with its number from 1
  std::chrono::milliseconds tick{50};  ///< how far the clock moves in a poll
  bool tells_known_ends{false};        ///< as fetches do, beside the records
  std::set<topic_partition> slow;      ///< nothing comes of these, and nothing is said of them
  bool tells_ends{true};               ///< false: the end of a partition is never said
  bool honours_pause{true};            ///< false: records of paused partitions are on their way still
  std::chrono::milliseconds shortest_wait{std::chrono::hours{1}};  ///< that a poll was asked for
  std::size_t most_per_poll{std::numeric_limits<std::size_t>::max()};

  void produce(const topic_partition& where, std::string value, std::optional<timestamp> time = {}) {
    fake_log& log = logs[where];
    log.records.push_back({log.end, std::move(value), time});
    ++log.end;
    told_end_.erase(where);
  }
  /// Commits or aborts what is open: markers take an offset.
  void end_transaction(const topic_partition& where) {
    logs[where].open_at.reset();
    ++logs[where].end;
    told_end_.erase(where);
  }
  void say(source_notice n) {
    if (std::holds_alternative<notice::assigned>(n)) owed_ = owed::assign;
    if (std::holds_alternative<notice::revoked>(n)) owed_ = owed::unassign;
    notices_.push_back(std::move(n));
  }
  [[nodiscard]] std::vector<topic_partition> all() const {
    std::vector<topic_partition> out;
    for (const auto& [where, unused] : logs) out.push_back(where);
    return out;
  }
  [[nodiscard]] bool reads(const topic_partition& where) const { return positions_.contains(where); }
  [[nodiscard]] bool joined() const { return joined_; }
  [[nodiscard]] std::size_t commits_begun() const { return commits_begun_; }
  [[nodiscard]] std::size_t delivered() const { return delivered_; }

  result<std::string> cluster_id(std::chrono::milliseconds timeout) override {
    if (unanswered_cluster_ids <= 0) return cluster;
    --unanswered_cluster_ids;
    clock_.advance(timeout);
    return make_error_code(errc::source_unavailable);
  }
  std::optional<complaint> take_complaint() override {
    if (complaints.empty()) return std::nullopt;
    complaint next = std::move(complaints.front());
    complaints.pop_front();
    return next;
  }
  result<std::vector<topic_partition>> partitions(std::span<const std::string> topics,
                                                  std::chrono::milliseconds) override {
    std::vector<topic_partition> out;
    for (const auto& [where, unused] : logs) {
      if (std::find(topics.begin(), topics.end(), where.topic) != topics.end()) out.push_back(where);
    }
    if (out.empty()) return make_error_code(errc::topic_missing);
    return out;
  }
  result<std::vector<committed_offset>> committed(std::span<const topic_partition> partitions,
                                                  std::chrono::milliseconds) override {
    if (failing_committed_queries > 0) {
      --failing_committed_queries;
      return query_error;
    }
    std::vector<committed_offset> out;
    for (const topic_partition& where : partitions) {
      const auto log = logs.find(where);
      if (log == logs.end()) {
        out.push_back({where, std::nullopt, {}});
        continue;
      }
      out.push_back({where, log->second.committed, log->second.metadata});
    }
    return out;
  }
  result<std::vector<group_member>> members(std::chrono::milliseconds) override {
    calls_.add("members");
    if (members_error) return members_error;
    return others;
  }
  std::vector<result<log_bounds>> bounds(std::span<const topic_partition> all,
                                         std::chrono::milliseconds) override {
    return each_answer(all, [this](const topic_partition& where) { return bounds_of_one(where); });
  }
  result<log_bounds> bounds_of_one(const topic_partition& where) const {
    if (const auto failing = unanswered.find(where); failing != unanswered.end()) return failing->second;
    const auto known = logs.find(where);
    if (known == logs.end()) return make_error_code(errc::topic_missing);
    return log_bounds{known->second.start, known->second.stable_end(), known->second.end};
  }
  std::vector<result<std::optional<owned_record>>> read_at(std::span<const position> all,
                                                           std::chrono::milliseconds) override {
    return each_answer(all, [this](const position& at) { return record_at_one(at); });
  }
  result<std::optional<owned_record>> record_at_one(const position& at) const {
    if (const auto failing = unreadable.find(at.where); failing != unreadable.end()) return failing->second;
    for (const fake_record& r : logs.at(at.where).records) {
      if (r.offset == at.offset) return std::optional{owned_record{std::nullopt, r.value}};
    }
    return std::optional<owned_record>{};
  }

  result<void> join(std::span<const std::string>) override {
    calls_.add("join");
    joined_ = true;
    under_way_.reset();  // it went with the client before
    notices_.clear();
    answers_.clear();
    positions_.clear();
    if (assigns_at_join) say(notice::assigned{held_at_join.value_or(all())});
    return done();
  }
  result<void> assign(std::span<const position> wanted) override {
    std::string line = "assign";
    positions_.clear();
    paused_.clear();
    told_end_.clear();
    for (const position& p : wanted) {
      positions_[p.where] = p.offset;
      line += " " + place(p.where) + "@" + std::to_string(p.offset);
    }
    EXPECT_NE(owed_, owed::unassign) << "assign() while unassign() is owed";
    owed_ = owed::nothing;
    calls_.add(line);
    return done();
  }
  result<void> unassign() override {
    positions_.clear();
    paused_.clear();
    owed_ = owed::nothing;
    calls_.add("unassign");
    return done();
  }
  result<void> pause(std::span<const topic_partition> partitions) override {
    for (const topic_partition& where : partitions) {
      paused_.insert(where);
      calls_.add("pause " + place(where));
    }
    return done();
  }

  result<void> resume(std::span<const topic_partition> partitions) override {
    for (const topic_partition& where : partitions) {
      if (paused_.erase(where) != 0) told_end_.erase(where);
      calls_.add("resume " + place(where));
    }
    return done();
  }

  result<polled> poll(std::size_t max_records, std::chrono::milliseconds timeout) override {
    shortest_wait = std::min(shortest_wait, timeout);
    clock_.advance(tick);
    polled out;
    end_commit();
    out.batch = collect(std::min(max_records, most_per_poll));
    if (on_poll) on_poll(++polls_);
    if (out.batch == nullptr && notices_.empty() && (!under_way_ || holds_commits)) {
      next_of_script();
    } else {
      empty_polls_ = 0;
    }
    out.notices = std::exchange(notices_, {});
    out.notices.insert(out.notices.end(), answers_.begin(), answers_.end());
    answers_.clear();
    return out;
  }
  void wake() noexcept override {}

  result<void> commit(std::span<const commit_request> requests) override {
    EXPECT_FALSE(under_way_) << "one commit at a time";
    EXPECT_FALSE(positions_.empty()) << "a commit while nothing is assigned";
    ++commits_begun_;
    note("commit", requests);
    under_way_ = std::vector<commit_request>{requests.begin(), requests.end()};
    return done();
  }
  result<void> commit_and_wait(std::span<const commit_request> requests, std::chrono::milliseconds) override {
    note("commit_and_wait", requests);
    if (failing_waits > 0) {
      --failing_waits;
      return wait_error;
    }
    take(requests);
    return done();
  }

  [[nodiscard]] std::optional<std::int64_t> known_end(const topic_partition& where) const override {
    const auto known = logs.find(where);
    return tells_known_ends && known != logs.end() ? std::optional{known->second.end} : std::nullopt;
  }
  void ask_bounds(std::span<const topic_partition> partitions) override {
    for (const topic_partition& where : partitions) {
      asked.insert(where);
      const auto found = bounds_of_one(where);
      answers_.emplace_back(notice::bounds_told{where, found ? found.value() : log_bounds{},
                                                found ? std::error_code{} : found.error()});
    }
  }
  [[nodiscard]] std::size_t queued_bytes() const noexcept override { return 0; }
  void close(std::chrono::milliseconds) noexcept override { calls_.add("close"); }

 private:
  enum class owed { nothing, assign, unassign };

  static result<void> done() { return BOOST_OUTCOME_V2_NAMESPACE::success(); }

  void note(const std::string& what, std::span<const commit_request> requests) {
    EXPECT_FALSE(requests.empty());
    std::string line = what;
    for (const commit_request& r : requests) {
      line += " " + place(r.where) + "@" + std::to_string(r.next_offset);
      if (on_commit) on_commit(r);
    }
    calls_.add(line);
  }
  void take(std::span<const commit_request> requests) {
    for (const commit_request& r : requests) {
      logs.at(r.where).committed = r.next_offset;
      logs.at(r.where).metadata = r.metadata;
    }
  }
  void end_commit() {
    if (!under_way_ || holds_commits) return;
    const std::vector<commit_request> ended = *std::exchange(under_way_, std::nullopt);
    notice::commit_done notice;
    if (failing_commits > 0) {
      --failing_commits;
      notice.code = make_error_code(errc::source_unavailable);
    } else {
      take(ended);
      for (const commit_request& r : ended) notice.offsets.push_back({r.where, r.next_offset, r.metadata});
    }
    notices_.emplace_back(std::move(notice));
  }
  /// Takes the partitions in turns, a record at a time, so that a batch mixes them.
  std::unique_ptr<record_batch> collect(std::size_t most) {
    std::unique_ptr<fake_batch> batch;
    for (bool more = true; more && owed_ == owed::nothing;) {
      more = false;
      for (auto& [where, next] : positions_) {
        if ((paused_.contains(where) && honours_pause) || slow.contains(where)) continue;
        const fake_log& log = logs[where];
        const auto found = std::find_if(log.records.begin(), log.records.end(),
                                        [&, from = next](const fake_record& r) { return r.offset >= from; });
        if (found == log.records.end() || found->offset >= log.stable_end()) {
          next = std::max(next, log.stable_end());
          if (tells_ends && told_end_.insert(where).second)
            notices_.emplace_back(notice::end_of_partition{where, log.stable_end()});
          continue;
        }
        if (batch != nullptr && batch->records().size() >= most) return batch;
        if (batch == nullptr) batch = std::make_unique<fake_batch>();
        batch->add(&*interned_.insert(where).first, *found);
        next = found->offset + 1;
        ++delivered_;
        more = true;
      }
    }
    return batch;
  }
  void next_of_script() {
    // A few empty polls first, so that timers had their turn.
    if (++empty_polls_ < 6) return;
    empty_polls_ = 0;
    if (!script.empty()) {
      const auto next = std::move(script.front());
      script.pop_front();
      next();
    } else if (at_end) {
      at_end();
    }
  }

  journal& calls_;
  fake_clock& clock_;
  bool joined_{false};
  owed owed_{owed::nothing};
  std::vector<source_notice> notices_;
  std::vector<source_notice> answers_;  ///< of ask_bounds(): who asks again and again is idle all the same
  std::map<topic_partition, std::int64_t> positions_;
  std::set<topic_partition> paused_;
  std::set<topic_partition> told_end_;
  std::set<topic_partition> interned_;
  std::optional<std::vector<commit_request>> under_way_;
  std::size_t commits_begun_{0};
  int empty_polls_{0};
  int polls_{0};
  std::size_t delivered_{0};
};

}  // namespace ratchet::testing
