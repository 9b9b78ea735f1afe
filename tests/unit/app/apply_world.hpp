// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/apply_files.hpp"
#include "app/engine.hpp"
#include "support/all_rows.hpp"
#include "support/temporary_directory.hpp"

namespace ratchet {

inline constexpr const char* k_noon = "2024-01-01T12:00:00Z";
inline constexpr timestamp k_noon_time{std::chrono::milliseconds{1'704'110'400'000}};

inline std::string line(const std::string& aggregate, int n, const std::string& time = k_noon) {
  return R"({"p":")" + aggregate + R"(","n":)" + std::to_string(n) + R"(,"at":")" + time + R"(","v":)" +
         std::to_string(n) + "}\n";
}

/// The same as `kcat -C -J` prints it.
inline std::string kcat(const std::string& topic, int partition, int offset, const std::string& aggregate,
                        int n) {
  std::string payload;
  for (const char c : line(aggregate, n)) {
    if (c == '"') payload += '\\';
    if (c != '\n') payload += c;
  }
  return R"({"topic":")" + topic + R"(","partition":)" + std::to_string(partition) + R"(,"offset":)" +
         std::to_string(offset) +
         R"(,"tstype":"create","ts":1704110400000,"broker":0,"key":null,"payload":")" + payload + "\"}\n";
}

inline stream_config stream_named(const std::string& name, const std::string& topic) {
  stream_config s;
  s.name = name;
  s.topics = {topic};
  s.start = start_position::earliest;
  s.envelope = {.event_id = {},
                .aggregate = "/p",
                .sequence = "/n",
                .sequence_bits = 64,
                .epoch = {},
                .type = {},
                .time = "/at"};
  s.dedup.ids = id_kind::none;
  s.reducer.from = "/v";
  s.record_times = record_times::trusted;  // one record moves the floor
  return s;
}

/// A state directory and files beside it; both go with the test.
class apply_command : public ::testing::Test {
 protected:
  apply_command() {
    settings_.state.path = root_ / "state";
    settings_.kafka.group = "g";
    settings_.streams = {stream_named("payments", "t")};
    settings_.memory_limit = std::uint64_t{64} << 20;
    settings_.step_records = 3;
  }
  ~apply_command() override { engine_.reset(); }

  std::string file(const std::string& name, const std::string& content) {
    const std::filesystem::path path = root_ / name;
    std::ofstream{path, std::ios::binary} << content;
    return path.string();
  }
  engine& opened() {
    if (!engine_) {
      auto made = engine::open(settings_, own_, options_);
      EXPECT_TRUE(made) << made.error().message;
      engine_ = std::move(*made);
    }
    return *engine_;
  }
  void reopen() { engine_.reset(); }
  std::optional<problem> apply(std::vector<std::string> files, bool records = false) {
    request_.files = std::move(files);
    request_.records = records;
    return apply_files(opened(), request_, stop_);
  }
  void expect_applied(std::vector<std::string> files, bool records = false) {
    const auto failed = apply(std::move(files), records);
    EXPECT_FALSE(failed) << failed->message;
  }
  const stream_state& state(std::size_t stream = 0) { return opened().tasks()[stream]->state; }
  const counters& counted(std::size_t stream = 0) { return state(stream).counters; }
  std::string read(const std::string& aggregate, const std::string& stream = "payments") {
    const auto found = opened().read(stream, aggregate);
    return found ? found.value().value.value_or("deleted") : "nothing";
  }
  std::vector<rejected_row> rejected() {
    const auto view = opened().state().view();
    return support::newest_rejected(*view.value(), opened().streams()[0]->id, 100).value();
  }

  config settings_;
  reducers own_;
  engine_options options_;
  apply_request request_;
  std::atomic<bool> stop_{false};

 private:
  support::temporary_directory files_;
  const std::filesystem::path& root_{files_.path()};
  std::unique_ptr<engine> engine_;
};

}  // namespace ratchet
