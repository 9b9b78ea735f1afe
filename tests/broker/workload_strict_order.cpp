// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Strict order by the real binary on a real broker: events out of order under kill -9, and an operator who
// decides about what waits while the daemon runs.
#include <random>

#include "broker/topic_feed.hpp"
#include "broker/workload_matrix.hpp"

namespace ratchet::testing {
namespace {

constexpr int k_aggregates = 50;
constexpr int k_events = 60;  // of each

/// Each event leaves a mark of its own in the snapshot, and the last one its number.
constexpr const char* k_strict_order =
    "    envelope: {format: json, aggregate: /p, sequence: /n, type: /t}\n    order: strict\n    dedup: off\n"
    "    reducer: {kind: merge_patch, from: /v}\n";

std::string strict_event(const std::string& aggregate, int number, const std::string& type = "x") {
  return R"({"p":")" + aggregate + R"(","n":)" + std::to_string(number) + R"(,"t":")" + type +
         R"(","v":{"e)" + std::to_string(number) + R"(":1,"last":)" + std::to_string(number) + "}}";
}

std::string whole_snapshot(int events) {
  std::string text = "{\"e1\":1,\"last\":" + std::to_string(events);
  for (int n = 2; n <= events; ++n) text += ",\"e" + std::to_string(n) + "\":1";
  return text + "}";
}

class strict_feed {
 public:
  explicit strict_feed(const main_job& job) : to_{job} {}

  void send(const std::string& aggregate, int number, const std::string& type = "x") {
    const auto partition = static_cast<int>(std::hash<std::string>{}(aggregate) % main_job::k_partitions);
    to_.send(partition, aggregate, strict_event(aggregate, number, type));
  }
  void flush() { to_.flush(); }

 private:
  topic_feed to_;
};

std::uint64_t waiting_of(main_job& job, const std::string& state) {
  return job.status().get<std::uint64_t>("streams.payments.waiting." + state, 99'999);
}

void expect_the_producers_order_under_kills(const std::string& order_lines) {
  main_job job;
  job.write_config(order_lines);
  std::vector<std::pair<int, int>> events;
  for (int a = 0; a < k_aggregates; ++a) {
    for (int n = 1; n <= k_events; ++n) events.emplace_back(a, n);
  }
  std::mt19937 dice{11};  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same in each run
  std::shuffle(events.begin(), events.end(), dice);
  strict_feed feed{job};
  std::size_t sent = 0;
  std::uint64_t seen_waiting = 0;
  for (const std::size_t until :
       {events.size() / 4, events.size() / 2, events.size() * 3 / 4, events.size()}) {
    for (; sent < until; ++sent) {
      feed.send("a" + std::to_string(events[sent].first), events[sent].second);
      if (sent % 7 == 0) feed.send("a" + std::to_string(events[sent].first), events[sent].second);  // twice
    }
    feed.flush();
    auto daemon = job.start_daemon();
    ASSERT_TRUE(eventually([&] { return job.consumed() > sent * 2 / 3; })) << read_whole(job.log());
    seen_waiting = std::max(seen_waiting, waiting_of(job, "parked"));
    ASSERT_TRUE(daemon.signal(SIGKILL));
    EXPECT_EQ(daemon.wait(k_patience), 128 + SIGKILL);
    const auto verified = job.run({"verify"});
    EXPECT_EQ(verified.code, 0) << verified.output;
  }
  EXPECT_GT(seen_waiting, 100U) << "or nothing of all this was tried";
  const auto done = job.run_until_end();
  ASSERT_EQ(done.code, 0) << done.output;
  const auto found = job.run({"status", "--output", "json"}).json();
  EXPECT_EQ(found.get<std::uint64_t>("streams.payments.verdicts.applied"), events.size());
  EXPECT_EQ(found.get<std::uint64_t>("streams.payments.waiting.parked"), 0U);
  EXPECT_EQ(found.get<std::uint64_t>("streams.payments.verdicts.duplicate") +
                found.get<std::uint64_t>("streams.payments.verdicts.stale"),
            (events.size() + 6) / 7);
  for (int a = 0; a < k_aggregates; ++a) {
    EXPECT_EQ(job.run({"get", "payments", "a" + std::to_string(a)}).output, whole_snapshot(k_events));
  }
  EXPECT_EQ(job.commit_fault(), "");
}

TEST(strict_order, is_the_producers_order_whatever_order_records_come_in_and_under_kills) {
  expect_the_producers_order_under_kills(k_strict_order);
}

TEST(strict_order, is_the_producers_order_of_deferred_events_too) {
  expect_the_producers_order_under_kills(std::string{k_strict_order} + "    handling: deferred\n");
}

TEST(strict_order, goes_on_as_an_operator_decides_while_it_runs) {
  main_job job;
  const std::string failing =
      "    envelope: {format: json, aggregate: /p, sequence: /n, type: /t}\n    order: strict\n    dedup: "
      "off\n"
      "    retry: {attempts: 3, backoff: 50ms..100ms}\n"
      "    reducer: {kind: flaky, from: /v, fail: [{type: slow, how: retry, times: 2}, {type: bad, how: "
      "give_up}]}\n";
  job.write_config(failing);
  strict_feed feed{job};
  feed.send("gap", 1);
  feed.send("gap", 3);
  feed.send("retried", 1, "slow");
  feed.send("retried", 2);
  feed.send("dead", 1, "bad");
  feed.send("dead", 2);
  feed.flush();
  {
    auto daemon = job.start_daemon();
    ASSERT_TRUE(eventually([&] {
      return job.consumed() == 6 && waiting_of(job, "dead") == 1 && waiting_of(job, "retrying") == 0;
    })) << read_whole(job.log());
    EXPECT_EQ(job.run({"get", "payments", "retried"}).output, R"({"e2":1,"last":2})")
        << "and what was behind it";
    ASSERT_TRUE(daemon.signal(SIGKILL));
    EXPECT_EQ(daemon.wait(k_patience), 128 + SIGKILL);
  }
  auto daemon = job.start_daemon();
  ASSERT_TRUE(eventually([&] { return job.status().get<bool>("running", false); })) << read_whole(job.log());
  EXPECT_EQ(waiting_of(job, "parked"), 2U);
  const auto listed = job.run({"waiting", "list", "payments"});
  expect_in("gap: 2 is missing", listed.output);
  expect_in("dead/1  dead  reducer", listed.output);
  const auto dry = job.run({"waiting", "skip", "payments", "--aggregate", "dead", "--sequence", "1"});
  expect_in("nothing was changed", dry.output);
  EXPECT_EQ(waiting_of(job, "dead"), 1U);
  // Before the group is claimed another instance might own the state: nothing is decided then.
  EXPECT_TRUE(eventually([&] {
    return job.run({"waiting", "skip", "payments", "--aggregate", "dead", "--sequence", "1", "--yes"}).code ==
           0;
  }));
  EXPECT_EQ(job.run({"get", "payments", "dead"}).output, R"({"e2":1,"last":2})");
  ASSERT_TRUE(daemon.signal(SIGKILL)) << "what was answered is durable";
  EXPECT_EQ(daemon.wait(k_patience), 128 + SIGKILL);
  EXPECT_EQ(job.run({"get", "payments", "dead"}).output, R"({"e2":1,"last":2})");
  expect_in("waiting_skipped", job.run({"status", "--audit"}).output);

  feed.send("gap", 2);  // it comes after all
  feed.send("dead", 1);
  feed.flush();
  const auto done = job.run_until_end();
  ASSERT_EQ(done.code, 0) << done.output;
  const auto found = job.run({"status", "--output", "json"}).json();
  EXPECT_EQ(found.get<std::uint64_t>("streams.payments.verdicts.applied"), 6U);
  EXPECT_EQ(found.get<std::uint64_t>("streams.payments.verdicts.skipped"), 1U);
  EXPECT_EQ(found.get<std::uint64_t>("streams.payments.rejected.late"), 1U) << "its number was skipped";
  EXPECT_EQ(job.run({"get", "payments", "gap"}).output, R"({"e3":1,"last":3})");
  EXPECT_EQ(job.commit_fault(), "");
}

}  // namespace
}  // namespace ratchet::testing
