// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The real command on a disk that is full, nearly full, or with too few file descriptors.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "support/small_file_system.hpp"
#include "test_paths.hpp"
#include "workload/workload_oracle.hpp"
#include "workload/workload_process.hpp"
#include "workload/workload_sink.hpp"
#include "workload/workload_stored.hpp"
#include "workload/workload_stream.hpp"

namespace ratchet::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes k_patience{2};

std::string read_whole(const fs::path& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

workload_dials dials() {
  workload_dials d;
  d.events = 60'000;
  d.aggregates = 30'000;
  d.zipf = 0.2;
  return d;
}

/// A directory with a config and made-up events, and what they come to.
class a_directory_of_events : public ::testing::Test {
 protected:
  a_directory_of_events() : stream_{workload_stream::make(dials()).value()}, oracle_{stream_} {
    std::string name = (fs::temp_directory_path() / "ratchet-disk-XXXXXX").string();
    directory_ = ::mkdtemp(name.data());
  }
  ~a_directory_of_events() override {
    std::error_code ignored;
    if (!HasFailure()) fs::remove_all(directory_, ignored);
  }

  [[nodiscard]] fs::path state() const { return directory_ / "disk" / "state"; }
  void write_events() {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{
        std::fopen((directory_ / "events.ndjson").c_str(), "wb"), &std::fclose};
    const auto sink = make_line_sink(file.get());
    ASSERT_TRUE(fill(*sink, stream_, oracle_, [](std::uint64_t) { return true; }));
  }
  void write_config(const std::string& min_free) const {
    std::ofstream{directory_ / "ratchet.yaml"}
        << "version: 1\nstate: {path: \"" << state().string() << "\", min_free: " << min_free
        << "}\nmemory_limit: 64MiB\nstep: {records: 1000}\nstreams:\n"
        << "  - name: payments\n    envelope: {event_id: /id, aggregate: /payment/id, sequence: /sequence, "
           "type: /type, time: /occurred_at}\n    reducer: {kind: replace, from: /payment}\n";
  }
  /// Its exit code; what it printed is in said_.
  int run(const std::vector<std::string>& words) {
    const fs::path log = directory_ / ("log-" + std::to_string(++runs_));
    auto process = workload_process::start(words, {"NO_COLOR=1"}, log).value();
    const auto code = process.wait(k_patience);
    said_ = read_whole(log);
    return code.value_or(-1);
  }
  int apply() {
    return run({RATCHET_BINARY, "apply", "-c", (directory_ / "ratchet.yaml").string(),
                (directory_ / "events.ndjson").string()});
  }
  int verify() { return run({RATCHET_BINARY, "verify", "--state", state().string()}); }
  /// Empty where the state is the oracle's.
  [[nodiscard]] std::string fault() const {
    workload_comparison comparison{oracle_};
    if (const auto done = compare_stored(state(), "payments", comparison); !done)
      return to_text(done.error());
    return comparison.right() ? "" : comparison.text();
  }

  fs::path directory_;
  workload_stream stream_;
  workload_oracle oracle_;
  std::string said_;
  int runs_{0};
};

class a_full_disk : public a_directory_of_events, public ::testing::WithParamInterface<int> {};

TEST_P(a_full_disk, loses_nothing_and_the_next_run_with_room_ends_with_the_right_state) {
  if (!enter_mount_namespace()) GTEST_SKIP() << "no mount namespace of our own is permitted here";
  const small_file_system disk{directory_ / "disk", static_cast<std::uint64_t>(GetParam())};
  write_events();
  write_config("off");
  EXPECT_EQ(apply(), 74) << said_;
  EXPECT_NE(said_.find("No space left on device"), std::string::npos) << said_;
  EXPECT_NE(said_.find(state().string()), std::string::npos) << said_;
  EXPECT_NE(said_.find("-> "), std::string::npos) << "it says what to do: " << said_;
  EXPECT_EQ(verify(), 0) << said_;

  EXPECT_EQ(apply(), 74) << "there is still no room: " << said_;
  EXPECT_NE(said_.find("No space left on device"), std::string::npos) << said_;
  EXPECT_EQ(verify(), 0) << said_;

  disk.resize(512);
  EXPECT_EQ(apply(), 0) << said_;
  EXPECT_EQ(fault(), "");
  EXPECT_EQ(verify(), 0) << said_;
}

// So full that it is the log that fails, a flush, or what a start writes first.
INSTANTIATE_TEST_SUITE_P(mebibytes, a_full_disk, ::testing::Values(3, 7, 11),
                         [](const auto& p) { return "of_" + std::to_string(p.param) + "_mebibytes"; });

class a_nearly_full_disk : public a_directory_of_events {};

TEST_F(a_nearly_full_disk, is_left_as_it_is_and_apply_says_so) {
  if (!enter_mount_namespace()) GTEST_SKIP() << "no mount namespace of our own is permitted here";
  const small_file_system disk{directory_ / "disk", 256};
  write_events();
  write_config("1GiB");
  EXPECT_EQ(apply(), 74);
  EXPECT_NE(said_.find("disk space is low"), std::string::npos) << said_;
  EXPECT_NE(said_.find("state.min_free"), std::string::npos) << said_;
  EXPECT_EQ(verify(), 0) << said_;

  write_config("64MiB");
  EXPECT_EQ(apply(), 0) << said_;
  EXPECT_EQ(fault(), "");
}

class too_few_descriptors : public a_directory_of_events {};

TEST_F(too_few_descriptors, are_refused_before_anything_is_written) {
  write_events();
  write_config("off");
  const std::string command = std::string{RATCHET_BINARY} + " apply -c " +
                              (directory_ / "ratchet.yaml").string() + " " +
                              (directory_ / "events.ndjson").string();
  EXPECT_EQ(run({"/bin/bash", "-c", "ulimit -n 64; exec " + command}), 74);
  EXPECT_NE(said_.find("ulimit -n"), std::string::npos) << said_;
  EXPECT_NE(said_.find("LimitNOFILE="), std::string::npos) << said_;
  EXPECT_FALSE(fs::exists(state()));

  // The soft limit alone is lifted by the command itself.
  EXPECT_EQ(run({"/bin/bash", "-c", "ulimit -S -n 64; exec " + command}), 0) << said_;
  EXPECT_EQ(fault(), "");
}

}  // namespace
}  // namespace ratchet::testing
