// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Offsets without a record: transaction markers, and what compaction took.
#include "broker/transactions.hpp"
#include "broker/workload_matrix.hpp"
#include "support/each_answer.hpp"

namespace ratchet::testing {
namespace {

std::vector<std::string> events(int from, int count) {
  std::vector<std::string> all;
  for (int n = from; n < from + count; ++n) all.push_back(plain_event("a" + std::to_string(n), 1));
  return all;
}

/// Offsets, commits and lag of all partitions, in order: "next/committed/lag".
std::string positions_of(main_job& job) {
  std::string text;
  const auto now = job.status();
  if (now.empty()) return text;
  for (const auto& [unused, p] : now.get_child("streams.payments.partitions")) {
    text += p.get<std::string>("next_offset") + "/" + p.get<std::string>("committed") + "/" +
            p.get<std::string>("lag") + " ";
  }
  return text;
}

TEST(resume_offsets, come_to_no_lag_behind_the_markers_of_transactions) {
  main_job job;
  job.write_config(k_plain_order);
  transactional_producer producer{job.target().brokers, job.group()};
  producer.begin();
  producer.send(job.partition(0), events(0, 10));
  producer.commit();  // a marker at 10
  producer.begin();
  producer.send(job.partition(0), events(10, 5));
  producer.send(job.partition(1), events(20, 3));
  producer.abort();  // markers at 16 of partition 0 and at 3 of partition 1
  const std::string at_the_end = "17/17/0 4/4/0 0/0/0 0/0/0 ";
  {
    auto daemon = job.start_daemon();
    EXPECT_TRUE(eventually([&] { return job.consumed() == 10 && positions_of(job) == at_the_end; }))
        << positions_of(job) << read_whole(job.log());
    ASSERT_TRUE(daemon.signal(SIGTERM));
    EXPECT_EQ(daemon.wait(k_patience), 0) << read_whole(job.log());
  }
  EXPECT_EQ(job.commit_fault(), "");

  // An open transaction holds the readers back, and a run to the end waits for it.
  producer.begin();
  producer.send(job.partition(0), events(30, 4));
  const auto log = job.directory() / "held.log";
  auto held = job.start({"run", "--until-end"}, log);
  EXPECT_TRUE(eventually([&] { return says(read_whole(log), "resuming " + job.target().topic + "/0"); }));
  EXPECT_FALSE(says(read_whole(log), "/0: no record below")) << "its last one is remembered by its offset";
  EXPECT_FALSE(says(read_whole(log), "/1: the state remembers no record below offset 4"))
      << "none of it was ever handled: there is nothing to compare";
  producer.commit();
  EXPECT_EQ(held.wait(k_patience), 0) << read_whole(log);
  const auto done = job.run_until_end();
  EXPECT_EQ(done.code, 0) << done.output;
  EXPECT_EQ(done.json().get<int>("streams.payments.consumed"), 0);
  EXPECT_EQ(stored_records(job), 14U);
  EXPECT_EQ(stored_offset(job, 0), 22);
  EXPECT_EQ(job.commit_fault(), "");
}

TEST(resume_offsets, warn_where_compaction_took_the_last_handled_record_and_go_on) {
  main_job job{shared_brokers(),
               {{"cleanup.policy", "compact"},
                {"segment.ms", "100"},
                {"min.cleanable.dirty.ratio", "0.001"},
                {"max.compaction.lag.ms", "100"}}};
  job.write_config(k_plain_order);
  auto producer = must(record_producer::make(job.target().brokers));
  const auto send = [&](const std::string& key, int number) {
    const auto sent = producer->send(job.target().topic, partition_id{0}, key, plain_event(key, number));
    if (!sent) throw std::system_error{sent.error()};
    const auto done = producer->flush(k_patience);
    if (!done) throw std::system_error{done.error()};
  };
  send("a", 1);
  ASSERT_EQ(job.run_until_end().code, 0);
  ASSERT_EQ(stored_offset(job, 0), 1);

  send("a", 2);
  const auto reader = open_source(config_of(job.target().brokers, fresh_name("reader")));
  int fillers = 0;
  ASSERT_TRUE(eventually([&] {  // each rolls a segment; the last one is never cleaned
    send("b", ++fillers);
    std::this_thread::sleep_for(200ms);
    return !testing::record_at(*reader, job.partition(0), 0, k_patience).value().has_value();
  }));
  const auto done = job.run_until_end();
  EXPECT_EQ(done.code, 0) << done.output;
  expect_in(
      "/0: the record at offset 0 is gone (compacted or expired), so Ratchet cannot check whether the topic "
      "is still the same",
      done.output);
  // What was read to compare is not counted: a's second event, and what compaction left of the fillers.
  const auto payments = done.json().get_child("streams.payments");
  EXPECT_GE(payments.get<int>("consumed"), 2);
  EXPECT_LE(payments.get<int>("consumed"), 1 + fillers);
  EXPECT_EQ(payments.get<int>("verdicts.duplicate") + payments.get<int>("verdicts.stale"), 0);
  EXPECT_EQ(stored_offset(job, 0), 2 + fillers);
  const auto scanned = job.run({"scan", "payments"}).output;
  expect_in(R"("aggregate":"a","sequence":2)", scanned);
  expect_in(R"("aggregate":"b","sequence":)" + std::to_string(fillers), scanned);
  EXPECT_FALSE(says(job.run_until_end().output, "is gone"));
  EXPECT_EQ(job.commit_fault(), "");
}

}  // namespace
}  // namespace ratchet::testing
