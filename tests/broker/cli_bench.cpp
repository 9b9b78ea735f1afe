// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The parts of `ratchet bench`, each in a process of its own, as bench/e2e runs them.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "broker/kafka_fixture.hpp"
#include "workload/workload_process.hpp"

namespace ratchet::testing {
namespace {

class bench_parts : public ::testing::Test {
 public:
  bench_parts(const bench_parts&) = delete;
  bench_parts& operator=(const bench_parts&) = delete;

 protected:
  bench_parts() : topic_{fresh_name("bench-parts")} {
    directory_ = std::filesystem::temp_directory_path() / topic_;
    std::filesystem::create_directories(directory_);
  }
  ~bench_parts() override { std::filesystem::remove_all(directory_); }

  /// Runs the part over the test's topic; the exit code, as a shell says it.
  int part(const char* name, std::vector<std::string> options) {
    std::filesystem::remove(directory_ / "out");
    options.insert(options.begin(), {RATCHET_BINARY, "bench", "--only", name, "--brokers", shared_brokers(),
                                     "--topic", topic_, "--partitions", "3"});
    auto process = workload_process::start(options, {}, directory_ / "out");
    return process.value().wait(std::chrono::minutes{3}).value_or(-1);
  }
  std::string output() const {
    std::ifstream in{directory_ / "out"};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  /// The last line; valid until the next call.
  simdjson::dom::element json() {
    const std::string text = output();
    return parser_.parse(text.substr(text.rfind("{\"records\"")));
  }
  std::string state() const { return (directory_ / "state").string(); }

 private:
  std::string topic_;
  std::filesystem::path directory_;
  simdjson::dom::parser parser_;
};

TEST_F(bench_parts, end_in_the_state_that_the_filling_foretold_also_over_a_kill) {
  // Enough for more than a second, so that the kill comes in the middle also on a fast machine.
  const std::vector<std::string> stream{"--events", "1000000", "--aggregates", "1000"};
  ASSERT_EQ(part("fill", stream), 0) << output();
  const std::uint64_t digest = json()["digest"];
  ASSERT_EQ(part("raw", {"--events", "1000000"}), 0) << output();
  EXPECT_EQ(std::uint64_t{json()["records"]}, 1'000'000U);

  std::vector<std::string> run{
      "--events", "1000000", "--state", state(), "--group", "g-" + state(), "--session-timeout-ms", "6000"};
  auto killed = run;
  killed.insert(killed.end(), {"--kill-at", "1"});
  ASSERT_EQ(part("state", killed), 128 + SIGKILL) << output();
  run.emplace_back("--inspect");
  ASSERT_EQ(part("state", run), 0) << output();
  const auto figures = json();
  EXPECT_EQ(std::uint64_t{figures["records"]}, 1'000'000U);
  EXPECT_LE(std::uint64_t{figures["handled"]}, 1'000'000U);
  EXPECT_EQ(std::uint64_t{figures["aggregates"]}, 1'000U);
  EXPECT_EQ(std::uint64_t{figures["digest"]}, digest);
  EXPECT_TRUE(std::filesystem::exists(state() + ".flushed/CURRENT"));
}

TEST_F(bench_parts, take_a_stream_in_strict_order_with_its_gaps_closed_at_the_end) {
  ASSERT_EQ(part("fill", {"--events", "20000", "--aggregates", "1000", "--late", "0", "--withhold"}), 0)
      << output();
  const std::uint64_t digest = json()["digest"];
  ASSERT_EQ(part("state", {"--events", "20000", "--state", state(), "--order", "strict", "--inspect"}), 0)
      << output();
  const auto figures = json();
  EXPECT_EQ(std::uint64_t{figures["digest"]}, digest);
  EXPECT_EQ(std::uint64_t{figures.at_pointer("/counters/superseded")}, 0U) << "each event is applied";
  EXPECT_EQ(std::uint64_t{figures.at_pointer("/counters/applied")} +
                std::uint64_t{figures.at_pointer("/counters/duplicate")},
            20'000U);
}

TEST_F(bench_parts, measure_the_way_of_each_record_into_durable_state) {
  ASSERT_EQ(
      part("latency", {"--state", state(), "--aggregates", "100", "--per-second", "200", "--seconds", "2"}),
      0)
      << output();
  const auto figures = json();
  const double median = figures["p50_ms"];
  const double most = figures["max_ms"];
  EXPECT_GT(median, 0.0);
  EXPECT_LE(median, most);
  EXPECT_GT(double{figures["bare_p50_ms"]}, 0.0);
  EXPECT_GT(double{figures["added_p50_ms"]}, 0.0);
  EXPECT_LE(double{figures["added_max_ms"]}, most) << "a part of the whole way";
  EXPECT_GT(double{figures["sync_mean_ms"]}, 0.0);
  EXPECT_GT(std::uint64_t{figures["records"]}, 300U);
}

}  // namespace
}  // namespace ratchet::testing
