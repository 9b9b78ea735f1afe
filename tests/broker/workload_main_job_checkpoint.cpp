// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "broker/workload_main_job.hpp"

namespace ratchet::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t k_records = 20'000;

void expect_in(const std::string& what, const std::string& text) {
  EXPECT_NE(text.find(what), std::string::npos) << "not said: " << what << "\nin: " << text;
}

std::int64_t handled_in(const fs::path& directory) {
  std::int64_t sum = 0;
  for (const auto& [partition, offset] : must(read_stored(directory, "payments")).next_offsets) sum += offset;
  return sum;
}

std::string state_is(const fs::path& path) {
  return "state.path=" + path.string();
}

TEST(main_job_checkpoint, taken_while_records_flow_takes_over_when_the_directory_was_lost) {
  main_job job;
  payment_feed feed{job.target(), main_job::dials(k_records, 31)};
  const fs::path backup = job.directory() / "backup";
  auto daemon = job.start_daemon();
  feed.send_in_background(k_records);
  ASSERT_TRUE(eventually([&] { return job.consumed() > k_records / 8; })) << read_whole(job.log());
  const auto taken = job.run({"checkpoint", backup.string(), "--output", "json"});
  ASSERT_EQ(taken.code, 0) << taken.output;
  EXPECT_EQ(taken.json().get<std::string>("path"), backup.string());
  feed.wait();
  ASSERT_TRUE(job.comes_to(k_records)) << read_whole(job.log());
  ASSERT_TRUE(daemon.signal(SIGTERM));
  EXPECT_EQ(daemon.wait(k_patience), 0);
  ASSERT_LT(handled_in(backup), static_cast<std::int64_t>(k_records)) << "it was not taken midway";

  // The directory is lost (put aside, to come back later), and the checkpoint is copied into its place.
  const fs::path original = job.directory() / "original";
  fs::rename(job.state(), original);
  fs::copy(backup, job.state(), fs::copy_options::recursive);
  const auto refused = job.run_until_end();
  EXPECT_EQ(refused.code, 78) << refused.output;
  expect_in("was not joined", refused.output);
  expect_in("this state directory is a checkpoint of step ", refused.output);
  expect_in("--resume takeover", refused.output);
  const auto again = job.run_until_end({"--resume", "store"});
  EXPECT_EQ(again.code, 78) << again.output;
  EXPECT_EQ(job.run({"status", "--output", "json"}).json().get<std::string>("copy.step"),
            taken.json().get<std::string>("step"));

  const auto restored = job.run_until_end({"--resume", "takeover"});
  ASSERT_EQ(restored.code, 0) << restored.output;
  EXPECT_EQ(job.fault(feed.oracle()), "");
  EXPECT_EQ(job.commit_fault(), "");
  const auto status = job.run({"status", "--output", "json", "--audit"});
  expect_in("copy_opened", status.output);
  expect_in("copy_taken_over", status.output);
  expect_in("\"copy\":null", status.output);
  EXPECT_EQ(job.run_until_end().code, 0) << "from now on it is a store as any other";

  const auto in_turn = job.run_until_end({"--set", state_is(original)});
  EXPECT_EQ(in_turn.code, 78) << in_turn.output;
  expect_in("was written by another copy of this state directory", in_turn.output);
}

TEST(main_job_checkpoint, started_by_mistake_beside_its_store_does_not_disturb_it) {
  main_job job;
  payment_feed feed{job.target(), main_job::dials(k_records / 10, 32)};
  feed.send(k_records / 20);
  auto daemon = job.start_daemon();
  ASSERT_TRUE(job.comes_to(k_records / 20)) << read_whole(job.log());
  const fs::path copy = job.directory() / "copy";
  ASSERT_EQ(job.run({"checkpoint", copy.string()}).code, 0);
  const auto refused = job.run_until_end({"--set", state_is(copy)});
  EXPECT_EQ(refused.code, 78) << refused.output;
  feed.send();
  ASSERT_TRUE(job.comes_to(k_records / 10)) << read_whole(job.log());
  ASSERT_TRUE(daemon.signal(SIGTERM));
  EXPECT_EQ(daemon.wait(k_patience), 0);
  EXPECT_EQ(read_whole(job.log()).find("revoked"), std::string::npos) << read_whole(job.log());
  EXPECT_EQ(job.fault(feed.oracle()), "");
}

}  // namespace
}  // namespace ratchet::testing
