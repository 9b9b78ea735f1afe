// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/temporary_directory.hpp"
#include "test_paths.hpp"
#include "workload/workload_process.hpp"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

/// The command itself, from a file of events to what is stored.
class gen_command : public ::testing::Test {
 protected:
  gen_command() {
    std::ofstream{path_of("c.yaml")}
        << "version: 1\n"
           "state: {path: "
        << path_of("state")
        << "}\n"
           "streams:\n"
           "  - name: payments\n"
           "    envelope: {format: json, event_id: /id, aggregate: /payment/id, sequence: /sequence,\n"
           "               type: /type, time: /occurred_at}\n"
           "    reducer: {kind: replace, from: /payment}\n";
  }

  [[nodiscard]] std::string path_of(const std::string& name) const { return (directory_ / name).string(); }

  /// Runs `ratchet ARGUMENTS`, with its output in the file `log`. Returns the exit code, or -1.
  int run(std::vector<std::string> arguments, const std::string& log = "log") {
    arguments.insert(arguments.begin(), RATCHET_BINARY);
    auto process = workload_process::start(arguments, {}, path_of(log));
    return process ? process.value().wait(std::chrono::minutes{2}).value_or(-1) : -1;
  }

  [[nodiscard]] std::vector<std::string> lines_of(const std::string& name) const {
    std::vector<std::string> lines;
    std::ifstream file{path_of(name)};
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  support::temporary_directory files_;
  const std::filesystem::path& directory_{files_.path()};
};

/// The aggregate and the snapshot of a line, of the oracle's or of scan's, which has more in between.
std::string row_of(const std::string& line) {
  return line.substr(0, line.find(',')) + line.substr(line.find(",\"snapshot\":"));
}

std::vector<std::string> rows_of(std::vector<std::string> lines) {
  std::transform(lines.begin(), lines.end(), lines.begin(), row_of);
  return lines;
}

TEST_F(gen_command, writes_a_file_that_apply_takes_to_the_oracles_state) {
  ASSERT_EQ(run({"gen", "--events", "5000", "--aggregates", "200", "--malformed", "0.01", "-o",
                 path_of("events"), "--oracle", path_of("expected")}),
            0);
  EXPECT_EQ(lines_of("events").size(), 5'000U);
  ASSERT_EQ(run({"apply", "-c", path_of("c.yaml"), path_of("events")}), 0);
  ASSERT_EQ(run({"scan", "-c", path_of("c.yaml"), "payments"}, "scanned"), 0);
  EXPECT_EQ(lines_of("expected").size(), 200U);
  EXPECT_EQ(rows_of(lines_of("scanned")), rows_of(lines_of("expected")));
}

TEST_F(gen_command, numbers_its_record_lines_by_partition) {
  ASSERT_EQ(run({"gen", "--events", "300", "--records", "--topic", "t", "--partitions", "2", "-o",
                 path_of("events")}),
            0);
  std::vector<int> next(2, 0);
  for (const auto& line : lines_of("events")) {
    const auto partition = line.starts_with(R"({"topic":"t","partition":1,)") ? 1U : 0U;
    const auto start = R"({"topic":"t","partition":)" + std::to_string(partition) + R"(,"offset":)" +
                       std::to_string(next[partition]++) + R"(,"tstype":"create","ts":)";
    EXPECT_TRUE(line.starts_with(start)) << line;
  }
  EXPECT_EQ(next[0] + next[1], 300);
  EXPECT_GT(std::min(next[0], next[1]), 50);
}

TEST_F(gen_command, ends_with_64_for_a_dial_out_of_range_and_with_74_for_a_file_that_cannot_be) {
  EXPECT_EQ(run({"gen", "--duplicates", "1.5"}), 64);
  EXPECT_EQ(run({"gen", "--events", "1", "--start", "yesterday"}), 64);
  EXPECT_EQ(run({"gen", "--events", "1", "-o", path_of("no/such/directory")}), 74);
}

}  // namespace
}  // namespace ratchet
