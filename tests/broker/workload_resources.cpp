// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The main job under limits of memory and disk. The memory test has a long form:
//   RATCHET_MEMORY_RECORDS=10000000 RATCHET_MEMORY_AGGREGATES=5000000 RATCHET_MEMORY_MIB=512
#include <cstdlib>

#include "broker/workload_main_job.hpp"
#include "config/memory_budget.hpp"
#include "support/environment_number.hpp"
#include "support/small_file_system.hpp"

namespace ratchet::testing {
namespace {

/// A line of /proc/PID/status that is given in kB, in MiB.
std::uint64_t mebibytes_of(pid_t pid, const std::string& name) {
  std::ifstream in{"/proc/" + std::to_string(pid) + "/status"};
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(name + ":")) return std::stoull(line.substr(name.size() + 1)) >> 10U;
  }
  throw std::runtime_error{name + " is not in /proc"};
}

TEST(main_job_memory, stays_within_the_limit_with_more_aggregates_than_fit_into_it) {
  const std::uint64_t records = number_from("RATCHET_MEMORY_RECORDS", 600'000);
  const std::uint64_t limit = number_from("RATCHET_MEMORY_MIB", 64);
  main_job job;
  workload_dials dials;
  dials.events = records;
  dials.aggregates = static_cast<std::uint32_t>(number_from("RATCHET_MEMORY_AGGREGATES", 300'000));
  dials.zipf = 0;
  dials.duplicates = 0;
  dials.late = 0;
  dials.size = 300;
  dials.rate = 1000;  // so that the window holds every id
  payment_feed feed{job.target(), dials};
  feed.send();
  auto daemon = job.start(
      {"run", "--set", "step.records=5000", "--set", "memory_limit=" + std::to_string(limit) + "MiB"},
      job.log());
  while (!job.comes_to(records)) {
    ASSERT_FALSE(daemon.ended()) << read_whole(job.log());
    ASSERT_GT(job.consumed(), 0U) << read_whole(job.log());
  }
  const std::uint64_t most = mebibytes_of(daemon.pid(), "VmHWM");
  std::printf("%llu records, %u aggregates, memory_limit %lluMiB: at most %llu MiB resident\n",
              static_cast<unsigned long long>(records), dials.aggregates,
              static_cast<unsigned long long>(limit), static_cast<unsigned long long>(most));
  EXPECT_LE(most, limit + (k_program_bytes >> 20U));
  ASSERT_TRUE(daemon.signal(SIGTERM));
  EXPECT_EQ(daemon.wait(k_patience), 0);
  EXPECT_EQ(job.fault(feed.oracle()), "");
}

TEST(main_job_disk, stops_before_a_small_disk_is_full_and_goes_on_when_there_is_room) {
  if (!enter_mount_namespace()) GTEST_SKIP() << "no mount namespace of our own is permitted here";
  main_job job;
  const small_file_system disk{job.state(), 200};
  constexpr std::uint64_t k_records = 60'000;
  payment_feed feed{job.target(), main_job::dials(k_records, 21)};
  feed.send(20'000);
  auto daemon =
      job.start({"run", "--set", "memory_limit=64MiB", "--set", "state.min_free=100MiB"}, job.log());
  ASSERT_TRUE(job.comes_to(20'000)) << read_whole(job.log());

  {
    std::ofstream ballast{disk.path() / "ballast", std::ios::binary};
    const std::string mebibyte(std::size_t{1} << 20U, 'x');
    while (disk.free_mebibytes() > 60) ballast << mebibyte << std::flush;
  }
  ASSERT_TRUE(eventually([&] {
    return job.status().get<std::string>("ready_reason", "").starts_with("disk space is low");
  })) << read_whole(job.log());
  feed.send();
  for (int i = 0; i < 3; ++i) {  // it is still a member, and reads nothing
    EXPECT_EQ(job.consumed(), 20'000U);
    EXPECT_FALSE(job.status().get<bool>("ready"));
    std::this_thread::sleep_for(500ms);
  }

  std::filesystem::remove(disk.path() / "ballast");
  ASSERT_TRUE(job.comes_to(k_records)) << read_whole(job.log());
  EXPECT_TRUE(job.status().get<bool>("ready"));
  EXPECT_EQ(occurrences(read_whole(job.log()), "joining group"), 1U) << "it stayed in its group";
  ASSERT_TRUE(daemon.signal(SIGTERM));
  EXPECT_EQ(daemon.wait(k_patience), 0);
  EXPECT_EQ(job.fault(feed.oracle()), "");
  EXPECT_EQ(job.commit_fault(), "");
}

TEST(main_job_disk, that_is_full_ends_the_daemon_and_loses_nothing) {
  if (!enter_mount_namespace()) GTEST_SKIP() << "no mount namespace of our own is permitted here";
  main_job job;
  const small_file_system disk{job.state(), 13};
  auto dials = main_job::dials(60'000, 22);
  dials.aggregates = 30'000;
  payment_feed feed{job.target(), dials};
  feed.send();
  const std::vector<std::string> limits{"--set", "memory_limit=64MiB", "--set", "state.min_free=off"};
  std::vector<std::string> command{"run"};
  command.insert(command.end(), limits.begin(), limits.end());
  // Near the limit each opening compacts a little more room free, and it goes on as long as it comes further.
  constexpr std::chrono::minutes k_until_it_gives_up{4};
  const auto full = job.run(command, k_until_it_gives_up);
  EXPECT_EQ(full.code, 74) << full.output;
  EXPECT_NE(full.output.find("No space left on device"), std::string::npos) << full.output;
  const auto checked = job.run({"verify"});
  EXPECT_EQ(checked.code, 0) << checked.output;

  disk.resize(512);
  const auto done = job.run_until_end(limits);
  EXPECT_EQ(done.code, 0) << done.output;
  EXPECT_EQ(job.fault(feed.oracle()), "");
  EXPECT_EQ(job.commit_fault(), "");
}

}  // namespace
}  // namespace ratchet::testing
