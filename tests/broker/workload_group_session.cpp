// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// A member that the group gave up: its process stood still, or its brokers were away for longer than a
// session.
#include "broker/workload_matrix.hpp"

namespace ratchet::testing {
namespace {

TEST(group_session, brings_a_process_back_that_stood_still_for_longer_than_its_session) {
  main_job job;
  payment_feed feed{job.target(), main_job::dials(3 * k_records, 71)};
  feed.send(k_records);
  auto daemon = job.start_daemon();
  ASSERT_TRUE(job.comes_to(k_records)) << read_whole(job.log());
  feed.send_in_background(k_records);
  ASSERT_TRUE(eventually([&] { return job.consumed() > k_records; })) << read_whole(job.log());
  ASSERT_TRUE(daemon.signal(SIGSTOP));
  feed.wait();
  ASSERT_TRUE(eventually([&] { return members_of(job).empty(); })) << "the group gives it up";
  // Nobody with another directory can take its place meanwhile: what it claimed stands.
  const auto refused = job.run(with_state({"run"}, job.directory() / "second"));
  EXPECT_EQ(refused.code, 78) << refused.output;
  ASSERT_TRUE(daemon.signal(SIGCONT));
  ASSERT_TRUE(eventually([&] { return says(read_whole(job.log()), "partitions were lost"); }))
      << read_whole(job.log());
  feed.send();
  ASSERT_TRUE(job.comes_to(3 * k_records)) << read_whole(job.log());
  EXPECT_TRUE(job.status().get<bool>("ready"));
  ASSERT_TRUE(daemon.signal(SIGTERM));
  EXPECT_EQ(daemon.wait(k_patience), 0) << read_whole(job.log());
  EXPECT_EQ(job.fault(feed.oracle()), "");
  EXPECT_EQ(job.commit_fault(), "");
}

TEST(group_session, rides_out_an_outage_that_is_longer_than_a_session) {
  if (std::getenv("RATCHET_TEST_BROKERS") != nullptr) {
    GTEST_SKIP() << "RATCHET_TEST_BROKERS names a cluster that is not ours to kill";
  }
  local_broker broker;
  main_job job{broker.bootstrap()};
  payment_feed feed{job.target(), main_job::dials(4 * k_records, 72)};
  feed.send(k_records);
  auto daemon = job.start_daemon();
  ASSERT_TRUE(job.comes_to(k_records)) << read_whole(job.log());
  feed.send_in_background(2 * k_records);
  ASSERT_TRUE(eventually([&] { return job.consumed() > k_records; })) << read_whole(job.log());
  broker.kill();
  // The client gives its session up by itself, as nobody answers.
  ASSERT_TRUE(eventually([&] { return says(read_whole(job.log()), "partitions were lost"); }))
      << read_whole(job.log());
  EXPECT_FALSE(job.status().get<bool>("ready"));
  broker.start();
  feed.wait();
  feed.send();
  ASSERT_TRUE(job.comes_to(4 * k_records)) << read_whole(job.log());
  EXPECT_TRUE(job.status().get<bool>("ready"));
  EXPECT_EQ(daemon.ended(), std::nullopt);
  ASSERT_TRUE(daemon.signal(SIGTERM));
  EXPECT_EQ(daemon.wait(k_patience), 0) << read_whole(job.log());
  EXPECT_EQ(job.fault(feed.oracle()), "");
  EXPECT_EQ(job.commit_fault(), "");
}

}  // namespace
}  // namespace ratchet::testing
