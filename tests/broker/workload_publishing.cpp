// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What is published, by the real binary on a real broker under kill -9.
#include <array>
#include <random>
#include <set>

#include "broker/topic_feed.hpp"
#include "broker/topic_reader.hpp"
#include "broker/workload_matrix.hpp"

namespace ratchet::testing {
namespace {

constexpr int k_aggregates = 40;
constexpr int k_events = 60;  // of each
constexpr int k_members = 7;  // that the patches of one aggregate set in turn

std::string name_of(int aggregate) {
  return "p" + std::to_string(aggregate);
}

/// Depends on every event before, in their order.
std::string state_after_all() {
  std::string text = R"({"last":)" + std::to_string(k_events);
  for (int m = 1; m < k_members + 1; ++m) {
    const int member = m % k_members;
    const int newest = k_events - (k_events - member) % k_members;
    text += ",\"m" + std::to_string(member) + "\":" + std::to_string(newest);
  }
  return text + "}";
}

/// Three of them, each reading what the one before publishes.
struct chain {
  chain() {
    jobs[0].write_config(
        "    envelope: {format: json, aggregate: /p, sequence: /n, type: /t}\n    order: strict\n"
        "    dedup: off\n    reducer: {kind: merge_patch, from: /v}\n    emit: {topic: " +
        jobs[1].target().topic + "}\n");
    jobs[1].write_config(
        "    envelope: {format: cloudevents}\n    order: arrival\n    dedup: {ids: uuidv7, window: 24h}\n"
        "    reducer: {kind: merge_patch}\n    emit: [{topic: " +
        jobs[2].target().topic + "}]\n");
    jobs[2].write_config(
        "    envelope: {format: cloudevents}\n    order: arrival\n    dedup: {ids: uuidv7, window: 24h}\n"
        "    reducer: {kind: merge_patch}\n");
  }
  [[nodiscard]] std::string logs() const {
    return read_whole(jobs[0].log()) + read_whole(jobs[1].log()) + read_whole(jobs[2].log());
  }
  std::array<main_job, 3> jobs;
};

/// Every event, some of them twice, mixed over the aggregates but in the order of each.
class feeder {
 public:
  explicit feeder(const main_job& job) : to_{job} {}
  /// So many more events, or all that are left.
  void send(int events) {
    for (; events > 0 && left_ > 0; --events) send_one();
    to_.flush();
  }
  [[nodiscard]] bool ended() const { return left_ == 0; }

 private:
  void send_one() {
    std::size_t aggregate = dice_() % k_aggregates;
    while (next_.at(aggregate) == k_events) aggregate = dice_() % k_aggregates;
    const int n = ++next_.at(aggregate);
    --left_;
    const std::string name = name_of(static_cast<int>(aggregate));
    const std::string number = std::to_string(n);
    const std::string value = R"({"p":")" + name + R"(","n":)" + number + R"(,"t":"patched","v":{"last":)" +
                              number + ",\"m" + std::to_string(n % k_members) + "\":" + number + "}}";
    const int partition = static_cast<int>(aggregate) % static_cast<int>(main_job::k_partitions);
    to_.send(partition, name, value);
    if (dice_() % 8 == 0) to_.send(partition, name, value);
  }

  topic_feed to_;
  std::mt19937 dice_{11};  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same in each run
  std::array<int, k_aggregates> next_{};
  int left_{k_aggregates * k_events};
};

void expect_the_fold(main_job& job) {
  for (int a = 0; a < k_aggregates; ++a) {
    const auto got = job.run({"get", "payments", name_of(a)});
    EXPECT_EQ(got.code, 0) << got.output;
    EXPECT_EQ(got.output, state_after_all() + (got.output.ends_with('\n') ? "\n" : "")) << name_of(a);
  }
}

[[nodiscard]] std::vector<read_record> all_of(const main_job& job) {
  std::vector<read_record> all;
  for (int p = 0; p < static_cast<int>(main_job::k_partitions); ++p) {
    for (read_record& r : read_partition(job.target().brokers, at(job.target().topic, p)))
      all.push_back(std::move(r));
  }
  return all;
}

/// What lies in the topic: each message once or more, byte for byte the same, and for the first time in the
/// order of its aggregate.
void expect_messages(const main_job& job, const std::string& source) {
  std::map<std::string, read_record> by_id;
  std::map<std::string, std::uint64_t> last;
  for (const read_record& r : all_of(job)) {
    const auto [first, fresh] = by_id.emplace(r.header("ce_id"), r);
    EXPECT_TRUE(fresh || (first->second.value == r.value && first->second.headers == r.headers &&
                          first->second.key == r.key && first->second.time == r.time));
    if (!fresh) continue;
    EXPECT_EQ(r.header("ce_type"), "patched");
    EXPECT_EQ(r.header("ce_subject"), r.key);
    EXPECT_EQ(r.header("ce_source"), source);
    const std::uint64_t position = std::stoull(r.header("ce_sequence")) + 1;
    EXPECT_GT(position, std::exchange(last[*r.key], position)) << "in the order of its aggregate";
  }
  EXPECT_EQ(by_id.size(), static_cast<std::size_t>(k_aggregates * k_events));
}

TEST(publishing, three_in_a_row_come_to_the_fold_of_all_events_under_kills) {
  chain c;
  feeder feed{c.jobs[0]};
  std::array<std::optional<workload_process>, 3> running;
  for (std::size_t i = 0; i < running.size(); ++i) running[i].emplace(c.jobs[i].start_daemon());
  std::mt19937 dice{static_cast<unsigned>(std::chrono::steady_clock::now().time_since_epoch().count())};
  constexpr int k_kills = 12;
  for (int kill = 0; kill < k_kills; ++kill) {
    // Each victim has something to do, and is met somewhere in it.
    const std::uint64_t before = c.jobs[2].consumed();
    feed.send(k_aggregates * k_events / k_kills);
    if (kill % 4 == 0) (void)eventually([&] { return c.jobs[2].consumed() > before; });
    std::this_thread::sleep_for(std::chrono::milliseconds{dice() % 150});
    const std::size_t victim = static_cast<std::size_t>(kill) % running.size();
    ASSERT_TRUE(running[victim]->signal(SIGKILL)) << c.logs();
    EXPECT_EQ(running[victim]->wait(k_patience), 128 + SIGKILL) << c.logs();
    running[victim].emplace(c.jobs[victim].start_daemon());
  }
  ASSERT_TRUE(feed.ended());
  for (auto& one : running) {
    ASSERT_TRUE(one->signal(SIGKILL)) << c.logs();
    (void)one->wait(k_patience);
  }
  for (main_job& job : c.jobs) {
    const auto done = job.run_until_end();
    ASSERT_EQ(done.code, 0) << done.output << c.logs();
    const auto found = job.run({"status", "--output", "json"}).json();
    EXPECT_EQ(found.get<int>("outbox.messages"), 0) << "all of it was sent";
    EXPECT_EQ(found.get<int>("streams.payments.verdicts.applied"), k_aggregates * k_events);
    EXPECT_EQ(found.get<int>("streams.payments.verdicts.rejected"), 0);
    const auto verified = job.run({"verify"});
    EXPECT_EQ(verified.code, 0) << verified.output;
    expect_the_fold(job);
  }
  expect_messages(c.jobs[1], "/ratchet/" + c.jobs[0].group() + "/payments");
  expect_messages(c.jobs[2], "/ratchet/" + c.jobs[1].group() + "/payments");
}

TEST(publishing, tells_an_operator_of_a_message_that_its_topic_refuses_and_goes_on_when_it_is_skipped) {
  main_job to{shared_brokers(), {{"max.message.bytes", "20000"}}};
  main_job job;
  job.write_config(
      "    envelope: {format: json, aggregate: /p, sequence: /n}\n    dedup: off\n    emit: {topic: " +
      to.target().topic + "}\n");
  std::string noise;
  std::mt19937 dice{5};  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same in each run
  while (noise.size() < 100'000) noise += static_cast<char>('a' + dice() % 26);
  topic_feed feed{job};
  const auto send = [&](const std::string& name, int n, const std::string& text) {
    feed.send(0, name, R"({"p":")" + name + R"(","n":)" + std::to_string(n) + R"(,"v":")" + text + "\"}");
    feed.flush();
  };
  auto running = job.start_daemon();
  send("p1", 1, noise);
  ASSERT_TRUE(eventually([&] {
    return says(job.run({"sinks", "list"}).output, " p1 of payments: ");
  })) << read_whole(job.log());
  send("p1", 2, "behind");
  send("p2", 1, "beside");
  ASSERT_TRUE(eventually([&] { return job.consumed() == 3; })) << read_whole(job.log());
  const auto listed = job.run({"sinks", "list", "topics", "--output", "json"}).json();
  EXPECT_EQ(listed.get<std::string>("aggregate"), "p1");
  EXPECT_EQ(listed.get<std::string>("topic"), to.target().topic);
  const auto done =
      job.run({"sinks", "skip", "topics", "--message", listed.get<std::string>("message"), "--yes"});
  EXPECT_EQ(done.code, 0) << done.output;
  ASSERT_TRUE(eventually([&] { return job.status().get<int>("outbox.messages") == 0; }))
      << read_whole(job.log());
  ASSERT_TRUE(running.signal(SIGTERM));
  EXPECT_EQ(running.wait(k_patience), 0) << read_whole(job.log());
  std::set<std::string> came;
  for (const read_record& r : all_of(to)) came.insert(*r.value);
  EXPECT_EQ(came,
            (std::set<std::string>{R"({"p":"p1","n":2,"v":"behind"})", R"({"p":"p2","n":1,"v":"beside"})"}));
  expect_in("was skipped and is not sent", job.run({"status", "--audit"}).output);
  const auto verified = job.run({"verify"});
  EXPECT_EQ(verified.code, 0) << verified.output;
}

TEST(publishing, wants_its_topics_to_be_there_at_the_start) {
  main_job job;
  job.write_config(
      "    envelope: {format: json, aggregate: /p, sequence: /n}\n    dedup: off\n    emit: {topic: "
      "nowhere}\n");
  const auto refused = job.run_until_end();
  EXPECT_EQ(refused.code, 78) << refused.output;
  expect_in("the topic `nowhere` does not exist", refused.output);
  expect_in("correct `outputs`, `emit`, `dead_letter` and `rejections`", refused.output);
}

}  // namespace
}  // namespace ratchet::testing
