// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "broker/workload_main_job.hpp"

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "test_paths.hpp"
#include "workload/workload_campaign.hpp"
#include "workload/workload_random.hpp"

namespace ratchet::testing {
namespace {

std::uint64_t sum_of(const json_tree& counts) {
  std::uint64_t sum = 0;
  for (const auto& [name, count] : counts) sum += count.get_value<std::uint64_t>();
  return sum;
}

/// Consumed = every verdict and what waits.
void expect_balanced(const json_tree& payments) {
  EXPECT_EQ(payments.get<std::uint64_t>("consumed"),
            sum_of(payments.get_child("verdicts")) + sum_of(payments.get_child("waiting")));
}

TEST(main_job, turns_a_disordered_topic_into_the_right_state_and_handles_nothing_twice) {
  main_job job;
  payment_feed feed{job.target(), main_job::dials(50'000, 1)};
  feed.send();
  const auto first = job.run_until_end();
  ASSERT_EQ(first.code, 0) << first.output;
  const auto payments = first.json().get_child("streams.payments");
  EXPECT_EQ(payments.get<std::uint64_t>("consumed"), 50'000U);
  EXPECT_EQ(payments.get<std::uint64_t>("rejected.malformed"), feed.oracle().malformed());
  for (const char* verdict : {"applied", "duplicate", "stale", "rejected"}) {
    EXPECT_GT(payments.get<std::uint64_t>(std::string{"verdicts."} + verdict), 0U) << verdict;
  }
  expect_balanced(payments);
  EXPECT_EQ(job.fault(feed.oracle()), "");
  EXPECT_EQ(job.commit_fault(), "");
  const auto verified = job.run({"verify"});
  EXPECT_EQ(verified.code, 0) << verified.output;

  const auto second = job.run_until_end();
  EXPECT_EQ(second.code, 0) << second.output;
  EXPECT_EQ(second.json().get<int>("streams.payments.consumed"), 0);
  EXPECT_EQ(job.fault(feed.oracle()), "");
  EXPECT_EQ(job.commit_fault(), "");
}

TEST(main_job, resumes_after_kills_in_mid_stream) {
  main_job job;
  payment_feed feed{job.target(), main_job::dials(60'000, 2)};
  feed.send();
  campaign_plan plan;
  plan.binary = RATCHET_BINARY;
  plan.directory = job.directory();
  plan.state = job.state();
  plan.brokers = job.target().brokers;
  plan.topic = plan.group = job.group();
  const char* session = std::getenv("RATCHET_TEST_BROKERS") != nullptr ? "6000" : "2000";
  plan.properties = {{"session.timeout.ms", session}, {"heartbeat.interval.ms", "300"}};
  plan.kills = 3;
  plan.step_records = 300;
  plan.verify = true;
  const auto outcome = must(run_campaign(plan, feed.oracle()));
  EXPECT_EQ(outcome.fault, "");
  ASSERT_FALSE(outcome.kills.empty()) << "no kill landed while records flowed";
  for (const auto& kill : outcome.kills) EXPECT_GT(kill.read_again, 0U);
  EXPECT_EQ(job.commit_fault(), "");
}

TEST(main_job, drains_on_sigterm_while_records_flow) {
  main_job job;
  payment_feed feed{job.target(), main_job::dials(60'000, 3)};
  feed.send_in_background(60'000);
  auto daemon = job.start_daemon();
  ASSERT_TRUE(eventually([&] { return job.consumed() > 0; })) << read_whole(job.log());
  ASSERT_TRUE(daemon.signal(SIGTERM));
  EXPECT_EQ(daemon.wait(k_patience), 0) << read_whole(job.log());
  EXPECT_EQ(job.commit_fault(), "");
  const auto drained = must(read_stored(job.state(), "payments")).ledger.sum();
  feed.stop();
  feed.send(1'000);  // where the daemon had kept pace
  EXPECT_LT(drained, feed.oracle().records());
  const auto next = job.run_until_end();
  EXPECT_EQ(next.code, 0) << next.output;
  EXPECT_EQ(next.json().get<std::uint64_t>("streams.payments.consumed") + drained, feed.oracle().records());
  EXPECT_EQ(job.fault(feed.oracle()), "");
}

TEST(main_job, aborts_on_a_second_signal_and_loses_nothing) {
  main_job job;
  payment_feed feed{job.target(), main_job::dials(20'000, 4)};
  feed.send();
  auto daemon = job.start_daemon();
  ASSERT_TRUE(eventually([&] { return job.consumed() > 0; })) << read_whole(job.log());
  // Both wait for the process to be woken, so that it cannot drain between them.
  ASSERT_TRUE(daemon.signal(SIGSTOP));
  ASSERT_TRUE(daemon.signal(SIGTERM));
  ASSERT_TRUE(daemon.signal(SIGINT));
  ASSERT_TRUE(daemon.signal(SIGCONT));
  EXPECT_EQ(daemon.wait(k_patience), 69) << read_whole(job.log());
  const auto next = job.run_until_end();
  EXPECT_EQ(next.code, 0) << next.output;
  EXPECT_EQ(job.fault(feed.oracle()), "");
}

/// The snapshots of `scan`, as the comparison wants them.
std::string fault_of_scan(const command_result& scanned, const workload_oracle& oracle) {
  workload_comparison comparison{oracle};
  std::istringstream lines{scanned.output};
  for (std::string line; std::getline(lines, line);) {
    const std::string member = "\"snapshot\":";
    const auto at = line.find(member);
    const auto name = line.find("\"p");
    if (at == std::string::npos || name == std::string::npos) return "no row: " + line;
    const auto snapshot = line.substr(at + member.size(), line.size() - at - member.size() - 1);
    comparison.row(line.substr(name + 1, line.find('"', name + 1) - name - 1), snapshot);
  }
  comparison.finish();
  return comparison.right() ? "" : comparison.text();
}

TEST(main_job, answers_get_scan_and_status_while_records_flow) {
  main_job job;
  payment_feed feed{job.target(), main_job::dials(30'000, 5)};
  feed.send_in_background(30'000);
  auto daemon = job.start_daemon();
  ASSERT_TRUE(eventually([&] { return job.consumed() > 0; })) << read_whole(job.log());
  std::uint64_t before = 0;
  for (int i = 0; i < 5; ++i) {
    const auto status = job.status();
    ASSERT_TRUE(status.get<bool>("running"));
    expect_balanced(status.get_child("streams.payments"));
    const auto now = status.get<std::uint64_t>("streams.payments.consumed");
    EXPECT_GE(now, before);
    before = now;
    const auto scanned = job.run({"scan", "payments"});
    ASSERT_EQ(scanned.code, 0) << scanned.output;
    const auto row = scanned.json();
    const auto got = job.run({"get", "payments", row.get<std::string>("aggregate"), "--output", "json"});
    ASSERT_EQ(got.code, 0) << got.output;
    EXPECT_GE(got.json().get<std::uint64_t>("sequence"), row.get<std::uint64_t>("sequence"));
  }
  EXPECT_EQ(job.run({"get", "payments", "nobody"}).code, 1);
  EXPECT_EQ(job.run({"verify"}).code, 78);  // needs a directory that stands still
  feed.wait();
  ASSERT_TRUE(job.comes_to(30'000)) << read_whole(job.log());
  EXPECT_EQ(fault_of_scan(job.run({"scan", "payments"}), feed.oracle()), "");
  const auto status = job.status();
  EXPECT_TRUE(status.get<bool>("ready"));
  ASSERT_TRUE(daemon.signal(SIGTERM));
  EXPECT_EQ(daemon.wait(k_patience), 0);
  EXPECT_EQ(job.fault(feed.oracle()), "");
}

/// Patches of accounts, and what they come to: told without a JSON library.
class patch_feed {
 public:
  explicit patch_feed(const kafka_target& target) : target_{target} {}

  /// Sends `count` new events, each with `repeats` of earlier ones behind it.
  void send(int count, int repeats) {
    auto producer = must(record_producer::make(target_.brokers));
    for (int i = 0; i < count; ++i) {
      sent_.push_back(next());
      put(*producer, sent_.back());
      for (int r = 0; r < repeats; ++r) put(*producer, sent_[random_.below(sent_.size())]);
    }
    const auto done = producer->flush(k_patience);
    if (!done) throw std::system_error{done.error()};
  }

  using account = std::map<std::string, std::string>;
  std::map<std::string, account> accounts;

 private:
  struct event {
    std::string account;
    std::string value;
  };

  event next() {
    const auto number = ++numbers_;
    const auto name = "a" + std::to_string(random_.below(40));
    const auto field = "f" + std::to_string(random_.below(6));
    const bool removes = random_.below(4) == 0;
    if (removes) {
      accounts[name].erase(field);
    } else {
      accounts[name][field] = std::to_string(number);
    }
    char id[40];
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
    std::snprintf(id, sizeof id, "%08llx-%04llx-7000-8000-%012llx",
                  static_cast<unsigned long long>(now >> 16), static_cast<unsigned long long>(now & 0xffff),
                  static_cast<unsigned long long>(number));
    return {name, "{\"id\":\"" + std::string{id} + "\",\"account\":\"" + name + "\",\"patch\":{\"" + field +
                      "\":" + (removes ? "null" : std::to_string(number)) + "}}"};
  }
  void put(record_producer& producer, const event& e) {
    const auto number = workload_partition(e.account, target_.partitions);
    const auto sent =
        producer.send(target_.topic, partition_id{static_cast<std::int32_t>(number)}, e.account, e.value);
    if (!sent) throw std::system_error{sent.error()};
  }

  kafka_target target_;
  workload_random random_{7};
  std::uint64_t numbers_{0};
  std::vector<event> sent_;
};

TEST(main_job, applies_each_id_once_in_the_order_of_arrival) {
  main_job job;
  job.write_config(
      "    envelope: {format: json, event_id: /id, aggregate: /account}\n    order: arrival\n"
      "    dedup: {ids: uuidv7, window: 24h, max_skew: 5m}\n    reducer: {kind: merge_patch, from: "
      "/patch}\n");
  patch_feed feed{job.target()};
  feed.send(2'000, 2);
  auto killed = job.start_daemon();
  ASSERT_TRUE(eventually([&] { return job.consumed() > 0; })) << read_whole(job.log());
  killed.kill();
  feed.send(1'000, 3);
  const auto done = job.run_until_end();
  ASSERT_EQ(done.code, 0) << done.output;
  const auto ledger = must(read_stored(job.state(), "payments")).ledger;
  EXPECT_EQ(ledger.applied, 3'000U);
  EXPECT_EQ(ledger.duplicate, 2'000U * 2 + 1'000U * 3);
  const auto scanned = job.run({"scan", "payments"});
  std::map<std::string, patch_feed::account> found;
  std::istringstream lines{scanned.output};
  for (std::string line; std::getline(lines, line);) {
    const auto row = command_result{0, line}.json();
    auto& account = found[row.get<std::string>("aggregate")];
    for (const auto& [field, value] : row.get_child("snapshot")) account[field] = value.data();
  }
  EXPECT_EQ(found, feed.accounts);
  EXPECT_EQ(job.commit_fault(), "");
}

}  // namespace
}  // namespace ratchet::testing
