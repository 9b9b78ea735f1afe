// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The state directory is lost, or there are two of it.
#include "broker/workload_matrix.hpp"

namespace ratchet::testing {
namespace {

TEST(resume_directory, accepts_the_loss_of_a_state_where_told_to) {
  half_done half{51};
  const auto lost = stored_offset(half.job, 0);
  std::filesystem::remove_all(half.job.state());
  half.feed.send();
  const auto refused = half.job.run_until_end();
  EXPECT_EQ(refused.code, 78) << refused.output;
  expect_in("accept the loss and go on at " + std::to_string(lost) + " with `ratchet run ", refused.output);
  const auto accepted = half.job.run_until_end({"--resume", "kafka"});
  EXPECT_EQ(accepted.code, 0) << accepted.output;
  EXPECT_EQ(stored_records(half.job), k_records);
  const auto audit = audit_of(half.job);
  EXPECT_EQ(occurrences(audit, "resume_store_lost"), main_job::k_partitions);
  expect_in("offsets " + range_text(0, lost) + " were not handled", audit);
  EXPECT_EQ(half.job.commit_fault(), "");
}

TEST(resume_directory, waits_until_a_killed_instance_is_gone_before_it_builds_its_state_anew) {
  main_job job;
  payment_feed feed{job.target(), main_job::dials(k_records, 52)};
  feed.send();
  auto daemon = job.start_daemon();
  ASSERT_TRUE(job.comes_to(k_records)) << read_whole(job.log());
  daemon.kill();
  std::filesystem::remove_all(job.state());
  const auto rebuilt = job.run_until_end({"--resume", "rebuild"});
  EXPECT_EQ(rebuilt.code, 0) << rebuilt.output;
  expect_in("for them to leave; a killed member counts until its session ends", rebuilt.output);
  EXPECT_EQ(job.fault(feed.oracle()), "");
  EXPECT_EQ(job.commit_fault(), "");
}

TEST(resume_directory, does_not_take_a_group_from_an_instance_that_lives) {
  main_job job;
  payment_feed feed{job.target(), main_job::dials(2 * k_records, 53)};
  feed.send(k_records);
  auto daemon = job.start_daemon();
  ASSERT_TRUE(job.comes_to(k_records)) << read_whole(job.log());
  const auto members = members_of(job);
  const auto rebalances = rebalances_of(job);
  std::vector<std::pair<workload_process, std::filesystem::path>> others;
  for (const char* option : {"kafka", "rebuild"}) {
    const auto name = job.directory() / (std::string{option} + "-state");
    const auto output = job.directory() / (std::string{option} + ".out");
    others.emplace_back(job.start(with_state({"run", "--resume", option}, name), output), output);
  }
  for (auto& [process, output] : others) {
    EXPECT_EQ(process.wait(k_patience), 78) << read_whole(output);
    expect_in("was not joined: it has live members (`ratchet` at ", read_whole(output));
    expect_in("stop them permanently, then start again with `--resume ", read_whole(output));
  }
  feed.send();
  ASSERT_TRUE(job.comes_to(2 * k_records)) << read_whole(job.log());
  EXPECT_EQ(members_of(job), members);
  EXPECT_EQ(rebalances_of(job), rebalances);
  EXPECT_TRUE(job.status().get<bool>("ready"));
  ASSERT_TRUE(daemon.signal(SIGTERM));
  EXPECT_EQ(daemon.wait(k_patience), 0);
  EXPECT_FALSE(says(read_whole(job.log()), "revoked")) << read_whole(job.log());
  EXPECT_EQ(job.fault(feed.oracle()), "");
}

TEST(resume_directory, refuses_a_plain_copy_beside_its_running_original) {
  main_job job;
  payment_feed feed{job.target(), main_job::dials(2 * k_records, 55)};
  feed.send(k_records);
  auto original = job.start_daemon();
  ASSERT_TRUE(job.comes_to(k_records)) << read_whole(job.log());
  const auto members = members_of(job);
  const auto rebalances = rebalances_of(job);
  // It knows all claims of its original, which has its mark.
  const auto copy = job.directory() / "copy";
  ASSERT_EQ(std::system(("cp -a " + job.state().string() + " " + copy.string()).c_str()), 0);
  for (int start = 0; start < 2; ++start) {
    const auto refused = job.run(with_state({"run"}, copy));
    EXPECT_EQ(refused.code, 78) << refused.output;
    expect_in("group `" + job.group() + "` was not joined: it has live members (`ratchet` at ",
              refused.output);
    expect_in("reads another copy of this state directory", refused.output);
  }
  feed.send();
  ASSERT_TRUE(job.comes_to(2 * k_records)) << read_whole(job.log());
  EXPECT_EQ(members_of(job), members);
  EXPECT_EQ(rebalances_of(job), rebalances);
  EXPECT_TRUE(job.status().get<bool>("ready"));
  ASSERT_TRUE(original.signal(SIGTERM));
  EXPECT_EQ(original.wait(k_patience), 0);
  EXPECT_FALSE(says(read_whole(job.log()), "revoked")) << read_whole(job.log());
  EXPECT_EQ(job.fault(feed.oracle()), "");
}

TEST(resume_directory, waits_for_its_own_killed_member_and_says_so) {
  main_job job;
  payment_feed feed{job.target(), main_job::dials(2 * k_records, 56)};
  feed.send(k_records);
  auto daemon = job.start_daemon();
  ASSERT_TRUE(job.comes_to(k_records)) << read_whole(job.log());
  daemon.kill();
  feed.send();
  const auto again = job.run_until_end();
  EXPECT_EQ(again.code, 0) << again.output;
  expect_in("for them to leave; a killed member counts until its session ends", again.output);
  EXPECT_EQ(job.fault(feed.oracle()), "");
  EXPECT_EQ(job.commit_fault(), "");
}

TEST(resume_directory, lets_one_of_two_copies_go_on_and_refuses_the_other) {
  half_done half{54};
  main_job& job = half.job;
  const auto copy = job.directory() / "copy";
  std::filesystem::copy(job.state(), copy, std::filesystem::copy_options::recursive);
  half.feed.send(k_records / 2);
  auto original = job.start_daemon();
  ASSERT_TRUE(job.comes_to(k_records + k_records / 2)) << read_whole(job.log());

  const auto refused = job.run_until_end(with_state({}, copy));
  EXPECT_EQ(refused.code, 78) << refused.output;
  expect_in("was not joined", refused.output);
  expect_in("was written by another copy of this state directory", refused.output);
  expect_in("make sure that it does not start again; then start the copy that goes on, with `ratchet run ",
            refused.output);
  const auto too_early = job.run_until_end(with_state({"--resume", "takeover"}, copy));
  EXPECT_EQ(too_early.code, 78) << too_early.output;
  expect_in("it has live members", too_early.output);
  ASSERT_TRUE(original.signal(SIGTERM));
  EXPECT_EQ(original.wait(k_patience), 0);
  EXPECT_FALSE(says(read_whole(job.log()), "revoked")) << read_whole(job.log());

  half.feed.send();
  const auto taken = job.run_until_end(with_state({"--resume", "takeover"}, copy));
  EXPECT_EQ(taken.code, 0) << taken.output;
  EXPECT_EQ(main_job::fault_of(copy, half.feed.oracle()), "");
  expect_in("the directory took over from the one it was copied from",
            job.run(with_state({"status", "--output", "json", "--audit"}, copy)).output);
  const auto again = job.run_until_end(with_state({}, copy));
  EXPECT_EQ(again.code, 0) << again.output;

  const auto before = stored_records(job);
  const auto outdated = job.run_until_end();
  EXPECT_EQ(outdated.code, 78) << outdated.output;
  expect_in("was written by another copy of this state directory", outdated.output);
  EXPECT_EQ(stored_records(job), before);
}

}  // namespace
}  // namespace ratchet::testing
