// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "broker/foreign_member.hpp"
#include "broker/workload_main_job.hpp"

namespace ratchet::testing {
namespace {

TEST(main_job_rebalance, goes_on_while_a_foreign_member_comes_and_goes) {
  main_job job;
  payment_feed feed{job.target(), main_job::dials(30'000, 11)};
  feed.send(10'000);
  auto daemon = job.start_daemon();
  ASSERT_TRUE(job.comes_to(10'000)) << read_whole(job.log());
  EXPECT_TRUE(job.status().get<bool>("ready"));

  foreign_member other{job};
  feed.send_in_background(10'000);
  ASSERT_TRUE(other.comes_to_hold()) << read_whole(job.log());
  ASSERT_TRUE(eventually([&] {
    other.turn();
    const auto reason = job.status().get<std::string>("ready_reason", "");
    return reason.starts_with("2 of 4 partitions are not read by this instance; ") &&
           reason.find(": another member of the group reads them (members: `ratchet` at ") !=
               std::string::npos;
  })) << read_whole(job.log());
  feed.wait();
  other.leave();

  feed.send();
  ASSERT_TRUE(job.comes_to(30'000)) << read_whole(job.log());
  EXPECT_TRUE(job.status().get<bool>("ready"));
  ASSERT_TRUE(daemon.signal(SIGTERM));
  EXPECT_EQ(daemon.wait(k_patience), 0) << read_whole(job.log());
  EXPECT_EQ(job.fault(feed.oracle()), "");
  EXPECT_EQ(job.commit_fault(), "");
}

TEST(main_job_outage, rides_out_a_broker_that_is_killed_and_started_again) {
  if (std::getenv("RATCHET_TEST_BROKERS") != nullptr) {
    GTEST_SKIP() << "RATCHET_TEST_BROKERS names a cluster that is not ours to kill";
  }
  local_broker broker;
  main_job job{broker.bootstrap()};
  payment_feed feed{job.target(), main_job::dials(40'000, 12)};
  feed.send(10'000);
  const auto begun = std::chrono::steady_clock::now();
  auto daemon = job.start_daemon();
  ASSERT_TRUE(eventually([&] { return job.consumed() > 0; })) << read_whole(job.log());
  feed.send_in_background(20'000);
  broker.kill();
  ASSERT_TRUE(eventually([&] {
    return read_whole(job.log()).find("Ratchet keeps trying") != std::string::npos;
  })) << read_whole(job.log());
  EXPECT_TRUE(job.status().get<bool>("running"));  // reads are answered all the same
  broker.start();
  feed.wait();
  feed.send();
  ASSERT_TRUE(job.comes_to(40'000)) << read_whole(job.log());
  EXPECT_EQ(daemon.ended(), std::nullopt);
  ASSERT_TRUE(daemon.signal(SIGTERM));
  EXPECT_EQ(daemon.wait(k_patience), 0) << read_whole(job.log());
  EXPECT_EQ(job.fault(feed.oracle()), "");
  EXPECT_EQ(job.commit_fault(), "");
  // A client tells of several troubles a second; of these one line in 10 s is logged.
  const auto log = read_whole(job.log());
  const auto tens = (std::chrono::steady_clock::now() - begun) / 10s;
  const auto clients = 1 + occurrences(log, "a new client goes on");
  EXPECT_LE(occurrences(log, "Ratchet keeps trying"), clients + static_cast<std::size_t>(tens)) << log;
}

}  // namespace
}  // namespace ratchet::testing
