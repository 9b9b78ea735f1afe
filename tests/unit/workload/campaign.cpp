// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/temporary_directory.hpp"
#include "workload/workload_campaign.hpp"
#include "workload/workload_kafka.hpp"
#include "workload/workload_process.hpp"
#include "workload/workload_stored.hpp"

namespace ratchet {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

class campaign_parts : public ::testing::Test {
 protected:
  workload_process shell(const std::string& script) {
    return workload_process::start({"/bin/sh", "-c", script}, {"RATCHET_TEST_WORD=heard"}, log()).value();
  }
  [[nodiscard]] fs::path log() const { return directory_ / "log"; }

  support::temporary_directory files_;
  const std::filesystem::path& directory_{files_.path()};
};

TEST_F(campaign_parts, a_process_writes_both_outputs_to_its_log_and_gets_the_environment) {
  auto process = shell("echo out $RATCHET_TEST_WORD; echo err >&2; exit 3");
  EXPECT_EQ(process.wait(seconds{30}), 3);
  EXPECT_EQ(tail_of(log()), "out heard\nerr\n");
}

TEST_F(campaign_parts, a_process_that_runs_has_no_end_until_it_is_killed) {
  auto process = shell("exec sleep 600");
  EXPECT_EQ(process.ended(), std::nullopt);
  EXPECT_TRUE(process.kill());
  EXPECT_EQ(process.ended(), 128 + SIGKILL);
}

TEST_F(campaign_parts, a_process_that_ended_by_itself_is_not_taken_for_killed) {
  auto process = shell("exit 0");
  ASSERT_EQ(process.wait(seconds{30}), 0);
  EXPECT_FALSE(process.kill());
  EXPECT_EQ(process.ended(), 0);
}

TEST_F(campaign_parts, a_program_that_is_not_there_ends_with_127) {
  auto process = workload_process::start({(directory_ / "nothing").string()}, {}, log()).value();
  EXPECT_EQ(process.wait(seconds{30}), 127);
}

TEST_F(campaign_parts, the_tail_of_a_log_begins_with_a_whole_line) {
  std::ofstream{log()} << "first line\nsecond line\nthird\n";
  EXPECT_EQ(tail_of(log(), 10), "third\n");
  EXPECT_EQ(tail_of(directory_ / "nothing"), "");
}

TEST_F(campaign_parts, delivered_offsets_are_read_from_whole_lines_alone) {
  const auto line = [](const std::string& text) { return text + std::string(255 - text.size(), ' ') + "\n"; };
  std::ofstream{directory_ / "delivered"} << line("payments 0 17") << line("payments 5 9000000000")
                                          << line("") << "payments 6 12";
  EXPECT_EQ(read_delivered(directory_), (partition_offsets{{0, 17}, {5, 9'000'000'000}}));
  EXPECT_EQ(read_delivered(directory_ / "nothing"), partition_offsets{});
}

TEST_F(campaign_parts, a_state_directory_that_is_not_there_yet_holds_nothing) {
  const auto found = read_stored(directory_ / "nothing", "payments");
  ASSERT_TRUE(found);
  EXPECT_TRUE(found.value().next_offsets.empty());
  EXPECT_EQ(found.value().ledger.sum(), 0U);
}

/// A consumer that reads nothing and fails: the campaign must end with its words, and not go round for ever.
TEST_F(campaign_parts, a_campaign_ends_where_its_program_fails_and_shows_the_log) {
  const auto program = directory_ / "program";
  std::ofstream{program} << "#!/bin/sh\necho no such topic >&2\nexit 69\n";
  fs::permissions(program, fs::perms::owner_all);
  campaign_plan plan;
  plan.binary = program;
  plan.directory = directory_;
  plan.state = directory_ / "state";
  plan.topic = plan.group = "t";
  const auto outcome = run_campaign(plan, workload_oracle{workload_stream::make({}).value()});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, errc::check_failed);
  EXPECT_NE(outcome.error().message.find("exit code 69"), std::string::npos) << outcome.error().message;
  ASSERT_EQ(outcome.error().diagnostics.size(), 1U);
  EXPECT_EQ(outcome.error().diagnostics.front().message, "no such topic");
}

TEST(workload_kafka, takes_properties_as_name_and_value_alone) {
  const auto properties = parse_properties({"linger.ms=20", "ssl.key.password=a=b"});
  ASSERT_TRUE(properties);
  EXPECT_EQ(properties.value(),
            (std::map<std::string, std::string>{{"linger.ms", "20"}, {"ssl.key.password", "a=b"}}));
  EXPECT_FALSE(parse_properties({"linger.ms"}));
  EXPECT_FALSE(parse_properties({"=20"}));
}

}  // namespace
}  // namespace ratchet
