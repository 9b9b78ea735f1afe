// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// A second state directory in the same group.
#include "broker/foreign_member.hpp"
#include "broker/workload_matrix.hpp"

namespace ratchet::testing {
namespace {

TEST(group_store, leaves_an_incumbent_alone_however_often_another_one_is_started) {
  main_job job;
  payment_feed feed{job.target(), main_job::dials(2 * k_records, 61)};
  feed.send(k_records);
  auto daemon = job.start_daemon();
  ASSERT_TRUE(job.comes_to(k_records)) << read_whole(job.log());
  const auto members = members_of(job);
  const auto rebalances = rebalances_of(job);
  feed.send_in_background(k_records);
  for (int start = 0; start < 5; ++start) {  // as a supervisor does that always restarts
    const auto refused = job.run(with_state({"run"}, job.directory() / "second"));
    EXPECT_EQ(refused.code, 78) << refused.output;
    expect_in("group `" + job.group() + "` was not joined", refused.output);
    EXPECT_FALSE(says(refused.output, "joining group")) << refused.output;
  }
  feed.wait();
  ASSERT_TRUE(job.comes_to(2 * k_records)) << read_whole(job.log());
  EXPECT_EQ(members_of(job), members);
  EXPECT_EQ(rebalances_of(job), rebalances) << "by the broker's own log";
  EXPECT_TRUE(job.status().get<bool>("ready"));
  ASSERT_TRUE(daemon.signal(SIGTERM));
  EXPECT_EQ(daemon.wait(k_patience), 0);
  EXPECT_FALSE(says(read_whole(job.log()), "revoked")) << read_whole(job.log());
  EXPECT_EQ(job.fault(feed.oracle()), "");
}

TEST(group_store, keeps_exactly_one_of_two_fresh_ones_that_start_at_once) {
  main_job job;
  payment_feed feed{job.target(), main_job::dials(k_records, 62)};
  feed.send();
  const std::vector<std::filesystem::path> states{job.directory() / "first", job.directory() / "second"};
  const std::vector<std::filesystem::path> logs{job.directory() / "first.log",
                                                job.directory() / "second.log"};
  std::vector<workload_process> both;
  for (std::size_t i = 0; i < 2; ++i) both.push_back(job.start(with_state({"run"}, states[i]), logs[i]));
  std::size_t gone = 2;
  ASSERT_TRUE(eventually([&] {
    for (std::size_t i = 0; i < 2; ++i) {
      if (both[i].ended()) gone = i;
    }
    return gone != 2;
  })) << read_whole(logs[0])
      << read_whole(logs[1]);
  EXPECT_EQ(both[gone].ended(), 78) << read_whole(logs[gone]);
  expect_in("state directory", read_whole(logs[gone]));
  // A supervisor starts the loser again and again; the one that stays is not disturbed any more.
  const std::size_t stays = 1 - gone;
  const auto all_read = [&] {
    const auto asked = job.run(with_state({"status", "--output", "json"}, states[stays]));
    return asked.code == 0 && asked.json().get<std::uint64_t>("streams.payments.consumed", 0) == k_records &&
           asked.json().get<bool>("ready", false);
  };
  ASSERT_TRUE(eventually(all_read)) << read_whole(logs[stays]);
  const auto rebalances = rebalances_of(job);
  for (int start = 0; start < 3; ++start) {
    const auto refused = job.run(with_state({"run"}, states[gone]));
    EXPECT_EQ(refused.code, 78) << refused.output;
    expect_in("was not joined", refused.output);
  }
  EXPECT_EQ(rebalances_of(job), rebalances);
  EXPECT_EQ(both[stays].ended(), std::nullopt) << read_whole(logs[stays]);
  ASSERT_TRUE(both[stays].signal(SIGTERM));
  EXPECT_EQ(both[stays].wait(k_patience), 0) << read_whole(logs[stays]);
  EXPECT_EQ(main_job::fault_of(states[stays], feed.oracle()), "");
}

TEST(group_store, is_left_by_an_incumbent_where_a_copy_claims_a_part_of_it) {
  main_job job;
  payment_feed feed{job.target(), main_job::dials(k_records, 63)};
  feed.send();
  auto daemon = job.start_daemon();
  ASSERT_TRUE(job.comes_to(k_records)) << read_whole(job.log());
  foreign_member copy{job};
  ASSERT_TRUE(copy.comes_to_hold()) << read_whole(job.log());
  EXPECT_EQ(daemon.ended(), std::nullopt) << "whoever claims nothing takes no part of the state";
  copy.claim_as_a_copy();
  ASSERT_TRUE(eventually([&] {
    copy.turn();
    return daemon.ended().has_value();
  })) << read_whole(job.log());
  EXPECT_EQ(daemon.ended(), 78) << read_whole(job.log());
  expect_in("group `" + job.group() + "` was left: ", read_whole(job.log()));
  expect_in("was written by another copy of this state directory", read_whole(job.log()));
  expect_in("the group has the members `ratchet` at ", read_whole(job.log()));
  copy.leave();
}

}  // namespace
}  // namespace ratchet::testing
