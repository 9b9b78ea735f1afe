// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Records as other producers write them, with keys and headers, by the real binary on a real broker under
// kill -9.
#include <random>

#include "broker/topic_feed.hpp"
#include "broker/workload_matrix.hpp"
#include "core/record.hpp"

namespace ratchet::testing {
namespace {

constexpr int k_aggregates = 20;
constexpr int k_events = 30;  // of each

/// Records of one aggregate go to one partition, as producers do by the key.
int partition_of(int aggregate) {
  return aggregate % static_cast<int>(main_job::k_partitions);
}

/// Reads what is there, and is killed on the way; then reads the rest.
void read_under_a_kill(main_job& job) {
  auto daemon = job.start_daemon();
  ASSERT_TRUE(eventually([&] { return job.consumed() > 0; })) << read_whole(job.log());
  ASSERT_TRUE(daemon.signal(SIGKILL));
  EXPECT_EQ(daemon.wait(k_patience), 128 + SIGKILL);
  const auto done = job.run_until_end();
  ASSERT_EQ(done.code, 0) << done.output;
  const auto verified = job.run({"verify"});
  EXPECT_EQ(verified.code, 0) << verified.output;
  EXPECT_EQ(job.commit_fault(), "");
}

/// Every event once or twice, in an order that the seed says.
std::vector<std::pair<int, int>> shuffled_events() {
  std::vector<std::pair<int, int>> events;
  for (int a = 0; a < k_aggregates; ++a) {
    for (int n = 1; n <= k_events; ++n) {
      events.emplace_back(a, n);
      if ((a + n) % 5 == 0) events.emplace_back(a, n);
    }
  }
  std::mt19937 dice{7};  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same in each run
  std::shuffle(events.begin(), events.end(), dice);
  return events;
}

/// The upper 48 bits of an id of now, as a UUID spells them.
std::string time_of_ids() {
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  char text[20];
  std::snprintf(text, sizeof text, "%012llx", static_cast<unsigned long long>(now.count()));
  return std::string{text}.insert(8, "-");
}

/// Each event of each aggregate was applied, in the order of its numbers; some aggregates are looked at.
void expect_each_applied_once(main_job& job, std::initializer_list<const char*> some) {
  const auto found = job.run({"status", "--output", "json"}).json();
  EXPECT_EQ(found.get<int>("streams.payments.verdicts.applied"), k_aggregates * k_events);
  EXPECT_EQ(found.get<int>("streams.payments.verdicts.rejected"), 0);
  EXPECT_EQ(found.get<int>("streams.payments.waiting.parked"), 0);
  for (const char* aggregate : some) {
    const std::string got = job.run({"get", "payments", aggregate}).output;
    expect_in("\"last\":" + std::to_string(k_events), got);
    expect_in("\"e17\":1", got);
  }
}

TEST(envelopes, cloudevents_of_both_modes_are_one_stream_in_strict_order) {
  main_job job;
  job.write_config(
      "    envelope: {format: cloudevents}\n    order: strict\n    dedup: {ids: uuidv7, window: 24h}\n"
      "    reducer: {kind: merge_patch}\n");
  topic_feed feed{job};
  const std::string now = time_of_ids();
  for (const auto& [a, n] : shuffled_events()) {
    char id[40];
    // Two sources have the same ids: they are different events, of different payments.
    std::snprintf(id, sizeof id, "%s-7000-8000-%06x%06x", now.c_str(), static_cast<unsigned>(a / 2),
                  static_cast<unsigned>(n));
    const std::string source = a % 2 == 0 ? "/even" : "/odd";
    const std::string subject = "p" + std::to_string(a / 2);
    const std::string whole = subject + source.substr(1);
    const std::string sequence = std::to_string(n);
    const std::string data = "{\"e" + sequence + "\":1,\"last\":" + sequence + "}";
    if (n % 3 == 0) {
      const std::string value = R"({"specversion":"1.0","type":"t","source":")" + source +
                                R"(","subject":")" + whole + R"(","id":")" + id + R"(","sequence":")" +
                                sequence + R"(","data":)" + data + "}";
      const std::array<header, 1> headers{{{"content-type", "application/cloudevents+json; charset=utf-8"}}};
      feed.send(partition_of(a), whole, value, headers);
    } else {
      const std::array<header, 7> headers{{{"ce_specversion", "1.0"},
                                           {"ce_type", "t"},
                                           {"ce_source", source},
                                           {"ce_subject", whole},
                                           {"ce_id", id},
                                           {"ce_sequence", sequence},
                                           {"content-type", "application/json"}}};
      feed.send(partition_of(a), whole, data, headers);
    }
  }
  feed.flush();
  read_under_a_kill(job);
  expect_each_applied_once(job, {"p0even", "p0odd", "p9odd"});
  const auto told =
      job.run({"explain", "payments", "--event", now + "-7000-8000-000000000003", "--source", "/odd"});
  EXPECT_EQ(told.code, 0) << told.output;
  expect_in("aggregate       p0odd", told.output);
}

TEST(envelopes, several_events_in_a_record_are_each_handled_once) {
  main_job job;
  job.write_config(
      "    envelope: {each: /records, aggregate: /p, sequence: /n}\n    order: strict\n    dedup: off\n"
      "    reducer: {kind: merge_patch, from: /v}\n");
  topic_feed feed{job};
  std::map<int, std::vector<std::string>> lists;  // by partition
  const auto send = [&](int partition) {
    std::string text;
    for (const std::string& e : lists[partition]) text += (text.empty() ? "" : ",") + e;
    feed.send(partition, std::nullopt, R"({"records":[)" + text + "]}");
    lists[partition].clear();
  };
  std::size_t next = 0;
  for (const auto& [a, n] : shuffled_events()) {
    const std::string number = std::to_string(n);
    std::vector<std::string>& list = lists[partition_of(a)];
    list.push_back(R"({"p":"p)" + std::to_string(a) + R"(","n":)" + number + R"(,"v":{"e)" + number +
                   R"(":1,"last":)" + number + "}}");
    if (list.size() > next++ % 7) send(partition_of(a));
  }
  for (int partition = 0; partition < static_cast<int>(main_job::k_partitions); ++partition) send(partition);
  feed.flush();
  read_under_a_kill(job);
  expect_each_applied_once(job, {"p0", "p7", "p19"});
}

TEST(envelopes, row_changes_of_postgresql_end_as_the_table_whatever_is_sent_again) {
  main_job job;
  job.write_config("    envelope: {format: debezium-cdc}\n    order: latest\n    reducer: {kind: replace}\n");
  topic_feed feed{job};
  for (const auto& [a, n] : shuffled_events()) {
    const std::string row = "{\"id\":" + std::to_string(a) + "}";
    const std::string number = std::to_string(n);
    const bool deletes = n == k_events && a % 4 == 0;
    const std::string change = R"({"before":null,"after":)" + (deletes ? "null" : R"({"v":)" + number + "}") +
                               R"(,"source":{"ts_ms":1767225600000,"sequence":"[\")" +
                               std::to_string(1000 + n) + R"(\",\")" + std::to_string(2000 + n) +
                               R"(\"]","lsn":)" + std::to_string(2000 + n) + R"(},"op":")" +
                               (deletes ? "d" : "u") + "\"}";
    const bool wrapped = n % 2 == 0;
    const std::string around = R"({"schema":{"type":"struct"},"payload":)";
    feed.send(partition_of(a), wrapped ? around + row + "}" : row, wrapped ? around + change + "}" : change);
    if (deletes) feed.send(partition_of(a), row, std::nullopt);
  }
  feed.flush();
  read_under_a_kill(job);
  const auto found = job.run({"status", "--output", "json"}).json();
  EXPECT_EQ(found.get<int>("streams.payments.verdicts.rejected"), 0);
  EXPECT_GT(found.get<int>("streams.payments.verdicts.ignored"), 0);
  for (int a = 0; a < k_aggregates; ++a) {
    const auto got = job.run({"get", "payments", "{\"id\":" + std::to_string(a) + "}"});
    if (a % 4 == 0) {
      EXPECT_EQ(got.code, 1) << got.output;
    } else {
      EXPECT_EQ(got.output, "{\"v\":" + std::to_string(k_events) + "}");
    }
  }
}

}  // namespace
}  // namespace ratchet::testing
