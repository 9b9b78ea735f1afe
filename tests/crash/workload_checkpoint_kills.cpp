// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "control/checkpoint_request.hpp"
#include "control/client.hpp"
#include "store/open/read_only.hpp"
#include "store/open/verify.hpp"
#include "support/environment_number.hpp"
#include "test_paths.hpp"
#include "workload/workload_process.hpp"

/// An instance that handles records and takes one checkpoint after the other, killed with SIGKILL at random
/// moments. Whatever has a checkpoint's final name must be a whole one: it opens, is clean, and holds what
/// the records before its offsets make, and nothing else.
///   RATCHET_CHECKPOINT_KILLS   how many kills (default 30)
///   RATCHET_CRASH_SEED         of the moments (default 1)
namespace ratchet {
namespace {

using testing::number_from;

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::int64_t k_aggregates = 997;
constexpr std::int64_t k_records_of_a_life = 60'000;

/// Record n is the event n / k_aggregates of the aggregate n % k_aggregates, at offset n / 2 of partition n
/// % 2.
void write_records(const fs::path& file, std::int64_t from) {
  std::ofstream out{file};
  for (std::int64_t n = from; n < from + k_records_of_a_life; ++n) {
    out << R"({"topic":"t","partition":)" << n % 2 << R"(,"offset":)" << n / 2
        << R"(,"tstype":"create","ts":1700000000000,"key":null,"payload":"{\"p\":\"a)" << n % k_aggregates
        << R"(\",\"n\":)" << n / k_aggregates << R"(,\"v\":)" << n << "}\"}\n";
  }
}

struct found_state {
  std::int64_t records{0};  ///< that were handled; of a prefix they say everything
  std::string fault;
};

/// Compares a directory with what the records before its offsets make.
found_state examine(const fs::path& directory) {
  const auto opened = open_store_read_only(directory);
  if (!opened) return {0, to_text(opened.error())};
  const auto view = (*opened)->view();
  if (!view) return {0, view.error().message()};
  const store_view& at = *view.value();
  const auto streams = at.streams();
  if (!streams || streams.value().size() != 1) return {0, "there is not one stream"};
  const stream_id stream = streams.value()[0].id;
  const auto state = at.load(stream);
  if (!state) return {0, state.error().message()};
  found_state found;
  for (const auto& [where, partition] : state.value().partitions) {
    if (partition.has_position()) found.records += partition.next_offset;
  }
  const counters& c = state.value().counters;
  const auto handled = static_cast<std::uint64_t>(found.records);
  if (c.consumed != handled || c.applied + c.superseded != handled)
    return {found.records, "the counters differ"};
  std::int64_t rows = 0;
  const auto scanned = at.scan(stream, [&](const scanned_row& row) {
    const std::int64_t aggregate = std::stoll(std::string{row.aggregate.substr(1)});
    const std::int64_t last = (found.records - 1 - aggregate) / k_aggregates * k_aggregates + aggregate;
    if (row.row.snapshot != std::to_string(last)) found.fault = std::string{row.aggregate} + " differs";
    ++rows;
    return true;
  });
  if (!scanned) found.fault = scanned.error().message();
  if (rows != std::min(found.records, k_aggregates)) found.fault = "aggregates are missing";
  return found;
}

bool holds_no_state(const fs::path& directory) {
  const auto opened = open_store_read_only(directory);
  return !opened && opened.error().code == make_error_code(errc::state_missing);
}

class life {
 public:
  life(const fs::path& directory, std::int64_t from) : directory_{directory} {
    write_records(directory / "records", from);
    // Behind the records a pipe that nothing comes through: it lives until it is killed.
    auto started = workload_process::start(
        {RATCHET_BINARY, "apply", "-c", (directory / "ratchet.yaml").string(), "--records",
         (directory / "records").string(), (directory / "pipe").string()},
        {"NO_COLOR=1"}, directory / "log");
    process_.emplace(std::move(*started));
  }
  /// Asks for one checkpoint after the other until nobody answers any more.
  void take_checkpoints(std::atomic<std::uint64_t>& named, std::atomic<std::uint64_t>& taken,
                        const std::atomic<bool>& killed) {
    while (!killed) {
      auto client = control_client::connect(directory_ / "state");
      if (!client || !client.value()) {
        std::this_thread::sleep_for(1ms);
        continue;
      }
      const checkpoint_request request{directory_ / "copies" / std::to_string(++named), true};
      const auto done = client.value()->ask(to_words(request), [](std::string_view) { return true; });
      taken += done ? 1 : 0;
    }
  }
  bool kill() { return process_->kill(); }

 private:
  fs::path directory_;
  std::optional<workload_process> process_;
};

/// Waits until `done`, a minute at most.
void eventually(const std::function<bool()>& done) {
  for (int i = 0; i < 60'000 && !done(); ++i) std::this_thread::sleep_for(1ms);
}

class checkpoint_kills : public ::testing::Test {
 protected:
  checkpoint_kills() {
    std::string name = (fs::temp_directory_path() / "ratchet-checkpoints-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    directory_ = name;
    fs::create_directory(directory_ / "copies");
    const std::string pipe = (directory_ / "pipe").string();
    if (::mkfifo(pipe.c_str(), S_IRUSR | S_IWUSR) != 0) std::abort();
    writer_ = ::open(pipe.c_str(), O_RDWR | O_CLOEXEC);  // so that readers do not wait for one
    std::ofstream{directory_ / "ratchet.yaml"}
        << "version: 1\nkafka: {brokers: [\"localhost:1\"], group: g}\nstate: {path: \""
        << (directory_ / "state").string() << "\"}\nstep: {records: 100}\nstreams:\n"
        << "  - name: payments\n    topics: [t]\n    start: earliest\n"
        << "    envelope: {aggregate: /p, sequence: /n}\n    dedup: off\n"
        << "    reducer: {kind: replace, from: /v}\n";
  }
  ~checkpoint_kills() override {
    ::close(writer_);
    std::error_code ignored;
    if (!HasFailure()) fs::remove_all(directory_, ignored);
  }
  /// Looks at everything that has a final name, and removes it.
  void examine_copies(std::int64_t& highest) {
    for (const auto& entry : fs::directory_iterator{directory_ / "copies"}) {
      ASSERT_FALSE(entry.path().filename().string().ends_with(".partial"));
      const found_state found = examine(entry.path());
      ASSERT_EQ(found.fault, "") << entry.path();
      const auto findings = verify_store(entry.path());
      ASSERT_TRUE(findings) << to_text(findings.error());
      ASSERT_TRUE(findings->empty()) << findings->front();
      highest = std::max(highest, found.records);
      ++whole_;
    }
    for (const auto& entry : fs::directory_iterator{directory_ / "copies"}) fs::remove_all(entry.path());
  }

  fs::path directory_;
  int writer_{-1};
  std::uint64_t whole_{0};
};

TEST_F(checkpoint_kills, leave_only_whole_checkpoints_behind) {
  const auto seed = number_from("RATCHET_CRASH_SEED", 1);
  SCOPED_TRACE("RATCHET_CRASH_SEED=" + std::to_string(seed));
  std::mt19937_64 random{seed};
  std::atomic<std::uint64_t> named{0};
  std::int64_t handled = 0;
  std::uint64_t interrupted = 0;
  const auto kills = number_from("RATCHET_CHECKPOINT_KILLS", 30);
  for (std::uint64_t kill = 0; kill < kills && !HasFatalFailure(); ++kill) {
    life one{directory_, handled};
    const std::uint64_t before = named;
    std::atomic<std::uint64_t> taken{0};
    std::atomic<bool> killed{false};
    std::thread asking{[&] { one.take_checkpoints(named, taken, killed); }};
    // Every other life may finish one before its end is near.
    eventually([&] { return kill % 2 == 0 ? named > before : taken > 0; });
    std::this_thread::sleep_for(std::chrono::milliseconds{random() % 250});
    one.kill();
    killed = true;
    asking.join();
    interrupted += named - before > taken ? 1U : 0U;
    std::int64_t highest = 0;
    examine_copies(highest);
    // Killed before its first step a new directory holds no state yet.
    const bool is_new = handled == 0 && highest == 0 && holds_no_state(directory_ / "state");
    const found_state now = is_new ? found_state{} : examine(directory_ / "state");
    ASSERT_EQ(now.fault, "");
    // A killed process loses nothing that was written; a checkpoint is never ahead of its store.
    EXPECT_GE(now.records, highest);
    handled = now.records;
  }
  EXPECT_GE(whole_, kills / 2);
  EXPECT_GT(interrupted, kills / 2) << "hardly a kill fell into one";
  std::printf(
      "seed %llu: %llu kills, %llu of them in a checkpoint; %llu checkpoints have their name, all whole\n",
      static_cast<unsigned long long>(seed), static_cast<unsigned long long>(kills),
      static_cast<unsigned long long>(interrupted), static_cast<unsigned long long>(whole_));
}

}  // namespace
}  // namespace ratchet
