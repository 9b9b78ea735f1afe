// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "broker/workload_matrix.hpp"

namespace ratchet::testing {
namespace {

TEST(main_job_resume, stops_and_explains_where_an_operator_rewound) {
  half_done half{21};
  const auto stored = stored_offset(half.job, 1);
  half.job.set_committed({{half.job.partition(1), 5}});
  half.feed.send();
  const auto stopped = half.job.run_until_end();
  EXPECT_EQ(stopped.code, 1) << stopped.output;
  expect_in("/1: an operator or another program set the group's offset back to 5; the state ends at " +
                std::to_string(stored),
            stopped.output);
  expect_in("--resume store", stopped.output);
  EXPECT_EQ(stored_offset(half.job, 1), stored);
  // The rest went on.
  EXPECT_GT(stopped.json().get<std::uint64_t>("streams.payments.consumed"), 0U);

  const auto resumed = half.job.run_until_end({"--resume", "store"});
  EXPECT_EQ(resumed.code, 0) << resumed.output;
  EXPECT_EQ(half.job.fault(half.feed.oracle()), "");
  EXPECT_EQ(half.job.commit_fault(), "");
  expect_in("resume_rewound", half.job.run({"status", "--output", "json", "--audit"}).output);
}

TEST(main_job_resume, handles_what_an_operator_skipped_where_it_is_told_to) {
  half_done half{22};
  half.feed.send();
  const auto end = log_bounds_of(half.job.target().brokers, half.job.partition(2)).value().end;
  const auto stored = stored_offset(half.job, 2);
  ASSERT_GT(end, stored);
  half.job.set_committed({{half.job.partition(2), end}});
  const auto stopped = half.job.run_until_end();
  EXPECT_EQ(stopped.code, 1) << stopped.output;
  expect_in("an operator or another program set the group's offset ahead to " + std::to_string(end),
            stopped.output);
  EXPECT_EQ(stored_offset(half.job, 2), stored);
  const auto resumed = half.job.run_until_end({"--resume", "store"});
  EXPECT_EQ(resumed.code, 0) << resumed.output;
  EXPECT_EQ(half.job.fault(half.feed.oracle()), "");
  EXPECT_EQ(half.job.commit_fault(), "");
}

TEST(main_job_resume, skips_with_the_operator_where_it_is_told_to_and_keeps_an_audit_row) {
  half_done half{23};
  half.feed.send();
  const auto end = log_bounds_of(half.job.target().brokers, half.job.partition(3)).value().end;
  const auto stored = stored_offset(half.job, 3);
  half.job.set_committed({{half.job.partition(3), end}});
  const auto resumed = half.job.run_until_end({"--resume", "kafka"});
  EXPECT_EQ(resumed.code, 0) << resumed.output;
  EXPECT_EQ(stored_offset(half.job, 3), end);
  EXPECT_EQ(must(read_stored(half.job.state(), "payments")).ledger.sum(),
            2 * k_records - static_cast<std::uint64_t>(end - stored));
  const auto range = "[" + std::to_string(stored) + ", " + std::to_string(end) + ")";
  expect_in("offsets " + range + " were not handled",
            half.job.run({"status", "--output", "json", "--audit"}).output);
  EXPECT_EQ(half.job.commit_fault(), "");
}

TEST(main_job_resume, refuses_a_lost_directory_and_rebuilds_it_where_it_is_told_to) {
  half_done half{24};
  std::filesystem::remove_all(half.job.state());
  half.feed.send();
  const auto refused = half.job.run_until_end();
  EXPECT_EQ(refused.code, 78) << refused.output;
  expect_in("was not joined", refused.output);
  expect_in("the state was lost", refused.output);
  expect_in("--resume rebuild", refused.output);
  const auto rebuilt = half.job.run_until_end({"--resume", "rebuild"});
  EXPECT_EQ(rebuilt.code, 0) << rebuilt.output;
  EXPECT_EQ(half.job.fault(half.feed.oracle()), "");
  EXPECT_EQ(half.job.commit_fault(), "");
}

TEST(main_job_resume, notices_a_topic_that_was_made_anew_by_the_hash_of_its_last_record) {
  half_done half{25};
  const auto& target = half.job.target();
  ASSERT_TRUE(delete_topic(target.brokers, target.topic));
  ASSERT_TRUE(
      eventually([&] { return bool{create_topic(target.brokers, target.topic, main_job::k_partitions)}; }));
  payment_feed other{target, main_job::dials(3 * k_records, 26)};  // longer: no offset is out of range
  other.send();
  for (int p = 0; p < static_cast<int>(main_job::k_partitions); ++p) {
    ASSERT_GT(log_bounds_of(target.brokers, half.job.partition(p)).value().end, stored_offset(half.job, p));
  }
  const auto stopped = half.job.run_until_end();
  EXPECT_EQ(stopped.code, 1) << stopped.output;
  expect_in("is not the one that was handled there: the topic was created again", stopped.output);
  EXPECT_EQ(stopped.json().get<int>("streams.payments.consumed"), 0);
  EXPECT_EQ(half.job.fault(half.feed.oracle()), "");  // untouched

  const auto rebuilt = half.job.run_until_end({"--resume", "rebuild"});
  EXPECT_EQ(rebuilt.code, 0) << rebuilt.output;
  EXPECT_EQ(half.job.fault(other.oracle()), "");
  EXPECT_EQ(half.job.commit_fault(), "");
  std::size_t old = 0;
  for (const auto& entry : std::filesystem::directory_iterator{half.job.directory()}) {
    old += entry.path().filename().string().starts_with("state.old-") ? 1U : 0U;
  }
  EXPECT_EQ(old, 1U);
}

TEST(main_job_resume, leaves_a_group_that_another_directory_holds_without_joining_it) {
  main_job job;
  payment_feed feed{job.target(), main_job::dials(k_records, 27)};
  feed.send(k_records / 2);
  auto daemon = job.start_daemon();
  ASSERT_TRUE(job.comes_to(k_records / 2)) << read_whole(job.log());
  const auto second = job.directory() / "second";
  const auto refused = job.run_until_end({"--set", "state.path=" + second.string()});
  EXPECT_EQ(refused.code, 78) << refused.output;
  expect_in("was not joined", refused.output);
  feed.send();
  ASSERT_TRUE(job.comes_to(k_records)) << read_whole(job.log());
  ASSERT_TRUE(daemon.signal(SIGTERM));
  EXPECT_EQ(daemon.wait(k_patience), 0);
  // The incumbent saw no rebalance.
  EXPECT_EQ(read_whole(job.log()).find("revoked"), std::string::npos) << read_whole(job.log());
  EXPECT_EQ(job.fault(feed.oracle()), "");
}

}  // namespace
}  // namespace ratchet::testing
