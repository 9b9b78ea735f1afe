// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The log as a program that embeds Ratchet gets it.
#include "process/program_log.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "ratchet/ratchet.hpp"
#include "support/temporary_directory.hpp"

namespace ratchet {
namespace {

struct kept_entry {
  log_level level;
  std::string code;
  std::string text;
  std::map<std::string, std::string> fields;
};

class program_log : public ::testing::Test {
 protected:
  [[nodiscard]] logger keeping() {
    return [this](const log_entry& e) {
      kept_entry& kept = entries_.emplace_back();
      kept.level = e.level;
      kept.code = e.code;
      kept.text = e.text;
      for (const log_field& f : e.fields) {
        const auto* const text = std::get_if<std::string_view>(&f.value);
        kept.fields[std::string{f.name}] =
            text != nullptr ? std::string{*text} : std::to_string(std::get<std::int64_t>(f.value));
      }
    };
  }
  [[nodiscard]] config settings() const {
    auto read = parse_config("version: 1\nstate: {path: " + (directory_ / "state").string() +
                                 "}\nstreams:\n  - {name: counters, order: arrival}\n",
                             "f.yaml");
    EXPECT_TRUE(read) << to_text(read.error());
    return *read;
  }
  /// A run that is told to stop before it began.
  void run(const logger& to) const {
    auto opened = app::open(settings(), {}, {}, to);
    ASSERT_TRUE(opened) << to_text(opened.error());
    const std::atomic<bool> stop{true};
    EXPECT_TRUE(opened->run(until_set(stop)));
  }

  support::temporary_directory files_;
  const std::filesystem::path& directory_{files_.path()};
  std::vector<kept_entry> entries_;
};

TEST_F(program_log, tells_where_a_run_begins_and_ends) {
  run(keeping());
  ASSERT_GE(entries_.size(), 2U);
  EXPECT_EQ(entries_.front().code, "run_started");
  EXPECT_EQ(entries_.front().level, log_level::info);
  EXPECT_NE(entries_.front().text.find((directory_ / "state").string()), std::string::npos);
  EXPECT_EQ(entries_.back().code, "run_ended");
}

TEST_F(program_log, is_not_there_where_no_logger_is_given) {
  ::testing::internal::CaptureStderr();
  run({});
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(program_log, gets_level_code_and_facts_beside_a_text_that_steers_nothing) {
  const log_ptr log = make_program_log(keeping());
  const topic_partition where{"t\n", partition_id{3}};
  tell_of(log, log_kind::partition_stopped,
          {.stream = "payments", .aggregate = "\x1b[2J", .where = &where, .offset = 17}, "of \x1b[2J\nline");
  tell(log, log_kind::client_detail, "as it came: {}", 1);
  ASSERT_EQ(entries_.size(), 2U);
  const kept_entry& stopped = entries_[0];
  EXPECT_EQ(stopped.level, log_level::error);
  EXPECT_EQ(stopped.code, "partition_stopped");
  EXPECT_EQ(stopped.text, "of \\x1b[2J; line");
  const std::map<std::string, std::string> want{{"stream", "payments"},
                                                {"aggregate", "\x1b[2J"},
                                                {"topic", "t\n"},
                                                {"partition", "3"},
                                                {"offset", "17"}};
  EXPECT_EQ(stopped.fields, want);
  EXPECT_EQ(entries_[1].level, log_level::debug);
  EXPECT_TRUE(entries_[1].fields.empty());
}

TEST_F(program_log, calls_nobody_any_more_behind_its_end) {
  const log_ptr log = make_program_log(keeping());
  end_program_log(log);
  tell(log, log_kind::client_detail, "late");
  EXPECT_TRUE(entries_.empty());
}

TEST_F(program_log, drops_what_the_programs_function_throws) {
  ::testing::internal::CaptureStderr();
  run([](const log_entry&) { throw std::runtime_error{"full"}; });
  run([](const log_entry&) { throw 7; });
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace ratchet
