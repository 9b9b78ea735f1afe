// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What is published to an HTTP sink, by the real binary that reads from a real broker, under kill -9, while
// the server fails as servers do.
#include <atomic>
#include <random>

#include "broker/topic_feed.hpp"
#include "broker/topic_reader.hpp"
#include "broker/workload_matrix.hpp"
#include "support/recording_http_server.hpp"

namespace ratchet::testing {
namespace {

constexpr int k_aggregates = 25;
constexpr int k_events = 40;  // of each

std::string order_lines(const std::string& to_kafka, const std::string& url) {
  return "    envelope: {format: json, aggregate: /p, sequence: /n, type: /t}\n    order: strict\n    dedup: "
         "off\n"
         "    reducer: {kind: merge_patch, from: /v}\n    emit: [{topic: " +
         to_kafka + "}, {sink: receipts}]\nsinks:\n  - name: receipts\n    http: {url: \"" + url +
         "\", timeout: 2s, concurrency: 6}\n    retry: {first: 20ms, most: 200ms}\n";
}

/// Sends numbers `first` up to, but without, `end` of every aggregate.
void feed(const main_job& job, int first, int end) {
  topic_feed to{job};
  for (int n = first; n < end; ++n) {
    for (int a = 0; a < k_aggregates; ++a) {
      const std::string name = "p" + std::to_string(a);
      to.send(a % static_cast<int>(main_job::k_partitions), name,
              R"({"p":")" + name + R"(","n":)" + std::to_string(n) + R"(,"t":"patched","v":{"last":)" +
                  std::to_string(n) + "}}");
    }
  }
  to.flush();
}

/// A number of what `status` says; -1 while nobody can be asked, as where an instance is only just starting.
int number_in_status(main_job& job, const std::string& path) {
  const auto said = job.run({"status", "--output", "json"});
  return said.code == 0 ? said.json().get<int>(path, -1) : -1;
}

std::string header(const recording_http_server::request& r, const std::string& name) {
  return std::string{r[name]};
}

/// Each message once or more, byte for byte the same, and for the first time in the order of its aggregate.
void expect_messages(const std::vector<recording_http_server::request>& requests, const std::string& source) {
  std::map<std::string, const recording_http_server::request*> by_id;
  std::map<std::string, int> last;
  for (const auto& r : requests) {
    const auto [first, fresh] = by_id.emplace(header(r, "ce-id"), &r);
    if (!fresh) {
      EXPECT_EQ(first->second->body(), r.body());
      for (const char* name :
           {"ce-type", "ce-subject", "ce-sequence", "ce-source", "ce-time", "Idempotency-Key"})
        EXPECT_EQ(header(*first->second, name), header(r, name));
      continue;
    }
    EXPECT_EQ(header(r, "Idempotency-Key"), "\"" + header(r, "ce-id") + "\"");
    EXPECT_EQ(header(r, "ce-type"), "patched");
    EXPECT_EQ(header(r, "ce-source"), source);
    const int number = ++last[header(r, "ce-subject")];
    EXPECT_EQ(r.body(), "{\"last\":" + std::to_string(number) + "}") << header(r, "ce-subject");
  }
  EXPECT_EQ(by_id.size(), static_cast<std::size_t>(k_aggregates * k_events));
}

TEST(sinks, get_every_message_in_its_order_under_kills_and_failures) {
  std::mt19937 dice{5};  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same in each run
  std::mutex mutex;
  recording_http_server server{[&](const auto&) {
    const std::lock_guard lock{mutex};
    switch (dice() % 20) {
      case 0:
        return recording_http_server::answer{.status = 503, .headers = {{"Retry-After", "0"}}};
      case 1:
        return recording_http_server::answer{.status = 500};
      case 2:
        return recording_http_server::answer{.hangs_up = true};
      case 3:
        return recording_http_server::answer{.closes_afterwards = true};
      case 4:
        return recording_http_server::answer{
            .status = 201, .body = "made", .delay = std::chrono::milliseconds{20}};
      default:
        return recording_http_server::answer{};
    }
  }};
  main_job job;
  main_job beside;  // its topic takes what goes to Kafka
  job.write_config(order_lines(beside.target().topic, server.url()));
  constexpr int k_kills = 8;
  std::optional<workload_process> running{job.start_daemon()};
  for (int kill = 0; kill < k_kills; ++kill) {
    feed(job, 1 + kill * k_events / k_kills, 1 + (kill + 1) * k_events / k_kills);
    const std::size_t before = server.requests().size();
    (void)eventually(
        [&] { return server.requests().size() > before + static_cast<std::size_t>(kill * 13 % 60); });
    ASSERT_TRUE(running->signal(SIGKILL)) << read_whole(job.log());
    EXPECT_EQ(running->wait(k_patience), 128 + SIGKILL) << read_whole(job.log());
    running.emplace(job.start_daemon());
  }
  ASSERT_TRUE(running->signal(SIGKILL));
  (void)running->wait(k_patience);
  const auto done = job.run_until_end();
  ASSERT_EQ(done.code, 0) << done.output << read_whole(job.log());
  const auto found = job.run({"status", "--output", "json"}).json();
  EXPECT_EQ(found.get<int>("sinks.receipts.messages"), 0) << "all of it was sent";
  EXPECT_EQ(found.get<int>("outbox.messages"), 0);
  EXPECT_EQ(found.get<int>("streams.payments.verdicts.applied"), k_aggregates * k_events);
  const auto verified = job.run({"verify"});
  EXPECT_EQ(verified.code, 0) << verified.output;
  expect_messages(server.requests(), "/ratchet/" + job.group() + "/payments");
}

TEST(sinks, that_are_away_hold_up_nothing_for_kafka) {
  std::atomic<bool> well{false};
  recording_http_server server{
      [&](const auto&) { return recording_http_server::answer{.status = well ? 204U : 503U}; }};
  main_job job;
  main_job beside;
  job.write_config(order_lines(beside.target().topic, server.url()));
  auto running = job.start_daemon();
  feed(job, 1, 1 + k_events);
  const auto status = [&] { return job.run({"status", "--output", "json"}).json(); };
  EXPECT_TRUE(eventually([&] {
    return number_in_status(job, "streams.payments.verdicts.applied") == k_aggregates * k_events &&
           number_in_status(job, "outbox.messages") == 0;
  })) << read_whole(job.log());
  EXPECT_EQ(status().get<int>("sinks.receipts.messages"), k_aggregates * k_events);
  expect_in("the sink `receipts` takes no messages: http://127.0.0.1",
            status().get<std::string>("sinks.receipts.trouble"));
  EXPECT_LT(server.requests().size(), 400U) << "a server that is down is not hammered";
  well = true;
  EXPECT_TRUE(eventually([&] { return number_in_status(job, "sinks.receipts.messages") == 0; }))
      << read_whole(job.log());
  ASSERT_TRUE(running.signal(SIGTERM));
  EXPECT_EQ(running.wait(k_patience), 0) << read_whole(job.log());
}

TEST(sinks, that_refuse_a_message_are_told_to_an_operator_who_skips_it_for_good) {
  recording_http_server server{[](const auto& request) {
    const bool is_bad = request["ce-subject"] == "p3" && request.body() == "{\"last\":2}";
    return is_bad ? recording_http_server::answer{.status = 422, .body = "no such payment"}
                  : recording_http_server::answer{};
  }};
  main_job job;
  main_job beside;
  job.write_config(order_lines(beside.target().topic, server.url()));
  std::optional<workload_process> running{job.start_daemon()};
  feed(job, 1, 4);
  ASSERT_TRUE(eventually([&] {
    return number_in_status(job, "sinks.receipts.refused") == 1 &&
           number_in_status(job, "outbox.messages") == 0;
  })) << read_whole(job.log());
  const auto listed = job.run({"sinks", "list", "--output", "json"});
  ASSERT_EQ(listed.code, 0) << listed.output;
  EXPECT_EQ(listed.json().get<std::string>("aggregate"), "p3");
  expect_in("422", listed.json().get<std::string>("error"));
  const auto message = listed.json().get<std::string>("message");
  const auto told = job.run({"sinks", "skip", "receipts", "--message", message});
  EXPECT_EQ(told.code, 0) << told.output;
  expect_in("nothing was changed", told.output);
  const auto done = job.run({"sinks", "skip", "receipts", "--message", message, "--yes"});
  EXPECT_EQ(done.code, 0) << done.output;
  ASSERT_TRUE(running->signal(SIGKILL));
  (void)running->wait(k_patience);
  const std::size_t before = server.requests().size();
  running.emplace(job.start_daemon());
  ASSERT_TRUE(eventually([&] { return number_in_status(job, "sinks.receipts.messages") == 0; }))
      << read_whole(job.log());
  const auto requests = server.requests();
  EXPECT_TRUE(
      std::none_of(requests.begin() + static_cast<std::ptrdiff_t>(before), requests.end(),
                   [](const auto& r) { return r.body() == "{\"last\":2}" && r["ce-subject"] == "p3"; }));
  EXPECT_TRUE(std::any_of(requests.begin(), requests.end(), [](const auto& r) {
    return r.body() == "{\"last\":3}" && r["ce-subject"] == "p3";
  })) << "what was behind it came";
  expect_in("was skipped and is not sent", job.run({"status", "--audit"}).output);
  EXPECT_EQ(job.run({"sinks", "skip", "receipts", "--message", message, "--yes"}).code, 1);
  ASSERT_TRUE(running->signal(SIGTERM));
  EXPECT_EQ(running->wait(k_patience), 0);
  const auto verified = job.run({"verify"});
  EXPECT_EQ(verified.code, 0) << verified.output;
  EXPECT_EQ(job.run({"sinks", "list"}).code, 69) << "nobody is there to ask";
}

TEST(sinks, that_the_config_has_no_more_are_asked_for_while_messages_wait) {
  recording_http_server server{[](const auto&) { return recording_http_server::answer{.status = 400}; }};
  main_job job;
  main_job beside;
  job.write_config(order_lines(beside.target().topic, server.url()));
  auto running = job.start_daemon();
  feed(job, 1, 2);
  EXPECT_TRUE(eventually([&] { return number_in_status(job, "sinks.receipts.messages") == k_aggregates; }))
      << read_whole(job.log());
  ASSERT_TRUE(running.signal(SIGKILL));
  (void)running.wait(k_patience);
  const std::string without =
      "    envelope: {format: json, aggregate: /p, sequence: /n, type: /t}\n    order: strict\n    dedup: "
      "off\n"
      "    reducer: {kind: merge_patch, from: /v}\n";
  job.write_config(without);
  const auto refused = job.run_until_end();
  EXPECT_EQ(refused.code, 78) << refused.output;
  expect_in("25 messages for the sink `receipts` not sent yet", refused.output);
  expect_in("{name: receipts, discard: true}", refused.output);
  job.write_config(without + "sinks: [{name: receipts, discard: true}]\n");
  const auto thrown_away = job.run_until_end();
  EXPECT_EQ(thrown_away.code, 0) << thrown_away.output;
  job.write_config(without);
  EXPECT_EQ(job.run_until_end().code, 0) << "nothing waits there any more";
}

}  // namespace
}  // namespace ratchet::testing
