// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <simdjson.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "test_paths.hpp"
#include "workload/workload_process.hpp"

namespace ratchet {
namespace {

class bench_command : public ::testing::Test {
 public:
  bench_command(const bench_command&) = delete;
  bench_command& operator=(const bench_command&) = delete;

 protected:
  bench_command() { std::filesystem::create_directories(directory_); }
  ~bench_command() override { std::filesystem::remove_all(directory_); }

  int bench(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {RATCHET_BINARY, "bench"});
    auto process = workload_process::start(arguments, {}, directory_ / "out");
    return process.value().wait(std::chrono::minutes{2}).value_or(-1);
  }
  std::string output() const {
    std::ifstream in{directory_ / "out"};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  const std::filesystem::path& directory() const { return directory_; }

 private:
  std::filesystem::path directory_{std::filesystem::temp_directory_path() /
                                   ("ratchet-cli-bench-" + std::to_string(::getpid()))};
};

TEST_F(bench_command, measures_what_it_says_in_json) {
  ASSERT_EQ(bench({"--events", "20000", "--aggregates", "500", "--runs", "1", "--output", "json", "--state",
                   (directory() / "state").string()}),
            0)
      << output();
  const std::string text = output();
  simdjson::dom::parser parser;
  const simdjson::dom::element run =
      parser.parse(text.substr(text.rfind("{\"events\""))).at_pointer("/runs/0");
  EXPECT_EQ(std::uint64_t{run.at_pointer("/raw/records")}, 20'000U);
  EXPECT_EQ(std::uint64_t{run.at_pointer("/state/handled")}, 20'000U);
  EXPECT_GT(double{run["ratio"]}, 0.0);
  EXPECT_GT(double{run.at_pointer("/state/cpu_seconds")}, 0.0);
  EXPECT_GT(double{run.at_pointer("/state/fifths_per_second/4")}, 0.0);
  EXPECT_GT(std::uint64_t{run.at_pointer("/state/counters/duplicate")}, 2'000U);
}

TEST_F(bench_command, makes_a_directory_of_a_name_that_nobody_can_guess) {
  // exec keeps the process id, of which the name was once made.
  const std::string script = "t=" + directory().string() + R"(
mkdir -p "$t/tmp/ratchet-bench-$$" "$t/elsewhere" && ln -s "$t/elsewhere" "$t/tmp/ratchet-bench-$$/state-0"
TMPDIR=$t/tmp exec )" + RATCHET_BINARY +
                             " bench --events 2000 --aggregates 50 --runs 1";
  auto process = workload_process::start({"/bin/sh", "-c", script}, {}, directory() / "out");
  EXPECT_EQ(process.value().wait(std::chrono::minutes{2}).value_or(-1), 0) << output();
  EXPECT_TRUE(std::filesystem::is_empty(directory() / "elsewhere")) << "it followed somebody's link";
  std::size_t left = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator{directory() / "tmp"}) ++left;
  EXPECT_EQ(left, 1U) << "what is not its own stays, and its own goes";
}

TEST_F(bench_command, needs_the_names_of_what_a_part_works_on) {
  EXPECT_EQ(bench({"--only", "raw", "--topic", "t"}), 64);
  EXPECT_NE(output().find("--only needs --brokers"), std::string::npos) << output();
  EXPECT_EQ(bench({"--only", "state", "--topic", "t", "--brokers", "127.0.0.1:1"}), 64);
  EXPECT_NE(output().find("--only needs --state"), std::string::npos) << output();
}

}  // namespace
}  // namespace ratchet
