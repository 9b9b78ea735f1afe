// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "ratchet/error.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <system_error>

namespace ratchet {
namespace {

constexpr int k_first = static_cast<int>(errc::config_invalid);
constexpr int k_last = static_cast<int>(errc::no_standby);

struct exit_row {
  errc code;
  int exit;
};

// 0 ok, 1 check failed, 64 usage, 69 unavailable, 70 internal, 74 I/O, 78 config.
constexpr exit_row k_exits[] = {
    {errc::config_invalid, 78},
    {errc::usage, 64},
    {errc::not_built_yet, 78},
    {errc::reducer_failed, 1},
    {errc::poisoned, 1},
    {errc::state_busy, 78},
    {errc::state_missing, 78},
    {errc::state_foreign, 78},
    {errc::state_newer_schema, 78},
    {errc::state_damaged, 78},
    {errc::write_indeterminate, 74},
    {errc::source_unavailable, 69},
    {errc::source_fatal, 69},
    {errc::resume_refused, 78},
    {errc::group_taken, 78},
    {errc::topic_missing, 78},
    {errc::partition_stopped, 1},
    {errc::check_failed, 1},
    {errc::not_found, 1},
    {errc::io, 74},
    {errc::aborted, 69},
    {errc::internal, 70},
    {errc::access_denied, 78},
    {errc::reducer_slow, 1},
    {errc::waiting_full, 1},
    {errc::gap_too_old, 1},
    {errc::output_undeclared, 1},
    {errc::output_lacking, 1},
    {errc::output_too_large, 1},
    {errc::table_undeclared, 1},
    {errc::table_key_invalid, 1},
    {errc::snapshot_too_large, 1},
    {errc::aggregate_blocked, 1},
    {errc::not_running, 69},
    {errc::timed_out, 69},
    {errc::key_reused, 1},
    {errc::held_back, 69},
    {errc::sink_missing, 78},
    {errc::state_restoring, 69},
    {errc::not_owner, 69},
    {errc::no_standby, 69},
};

TEST(exit_codes, are_those_of_the_document) {
  std::set<int> listed;
  for (const exit_row& row : k_exits) {
    EXPECT_EQ(exit_code(make_error_code(row.code)), row.exit) << make_error_code(row.code).message();
    listed.insert(static_cast<int>(row.code));
  }
  EXPECT_EQ(listed.size(), static_cast<std::size_t>(k_last - k_first + 1)) << "one is missing above";
}

TEST(exit_codes, of_success_is_zero) {
  EXPECT_EQ(exit_code(std::error_code{}), 0);
}

TEST(exit_codes, of_the_system_is_io) {
  EXPECT_EQ(exit_code(std::make_error_code(std::errc::no_space_on_device)), 74);
  EXPECT_EQ(exit_code(std::error_code{5, std::system_category()}), 74);
}

struct named_category final : std::error_category {
  explicit named_category(const char* n) : text{n} {}
  [[nodiscard]] const char* name() const noexcept override { return text; }
  [[nodiscard]] std::string message(int) const override { return "?"; }
  const char* text;
};

TEST(exit_codes, of_the_libraries_below_follow_their_category) {
  const named_category kafka{"kafka"};
  const named_category rocksdb{"rocksdb"};
  EXPECT_EQ(exit_code(std::error_code{-195, kafka}), 69);
  EXPECT_EQ(exit_code(std::error_code{5, rocksdb}), 74);
}

TEST(exit_codes, of_an_unknown_value_is_internal) {
  EXPECT_EQ(exit_code(std::error_code{k_last + 1, ratchet_category()}), 70);
}

TEST(error, has_a_message_of_its_own_for_every_value) {
  std::set<std::string> seen;
  for (int value = k_first; value <= k_last; ++value) {
    const std::string message = make_error_code(static_cast<errc>(value)).message();
    EXPECT_FALSE(message.empty());
    EXPECT_NE(message, "unknown") << value;
    EXPECT_TRUE(seen.insert(message).second) << message;
  }
  EXPECT_EQ(std::error_code(k_last + 1, ratchet_category()).message(), "unknown")
      << "a new errc: list it above";
  EXPECT_STREQ(ratchet_category().name(), "ratchet");
}

TEST(error, converts_from_its_enumerator) {
  const std::error_code code = errc::state_busy;
  EXPECT_EQ(code, errc::state_busy);
  EXPECT_NE(code, errc::io);
}

TEST(problem_text, names_place_path_and_hint_of_each_finding) {
  const problem p{
      .code = errc::config_invalid,
      .message = "ratchet.yaml has 2 errors",
      .hint = "see `ratchet validate --help`",
      .diagnostics = {{.file = "ratchet.yaml",
                       .line = 3,
                       .column = 5,
                       .path = "kafka.groop",
                       .message = "unknown key",
                       .hint = "did you mean group?"},
                      {.file = "", .line = 0, .column = 0, .path = "", .message = "no streams", .hint = ""}}};
  EXPECT_EQ(to_text(p),
            "ratchet: ratchet.yaml has 2 errors\n"
            "  ratchet.yaml:3:5: kafka.groop: unknown key; did you mean group?\n"
            "  no streams\n"
            "  -> see `ratchet validate --help`\n");
}

TEST(problem_text, has_a_line_for_each_way_out_of_a_long_hint) {
  const std::string first(150, 'a');
  const problem p{errc::state_foreign, "m", first + "; or b, c; or d. See e", {}};
  EXPECT_EQ(to_text(p), "ratchet: m\n  -> " + first + ";\n     or b, c;\n     or d. See e\n");
  const problem brief{errc::state_foreign, "m", "a; or b", {}};
  EXPECT_EQ(to_text(brief), "ratchet: m\n  -> a; or b\n");
}

TEST(problem_text, names_the_line_of_a_text_that_has_no_file) {
  EXPECT_EQ(
      to_text({.code = errc::config_invalid,
               .message = "the text has an error",
               .hint = "",
               .diagnostics =
                   {{.file = "", .line = 2, .column = 7, .path = "", .message = "not YAML", .hint = ""}}}),
      "ratchet: the text has an error\n"
      "  2:7: not YAML\n");
}

TEST(problem_text, goes_to_standard_error_with_the_exit_code_as_answer) {
  const problem p{
      .code = errc::state_busy, .message = "it is in use", .hint = "stop the other one", .diagnostics = {}};
  ::testing::internal::CaptureStderr();
  ::testing::internal::CaptureStdout();
  const int code = report(p);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), to_text(p));
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "") << "data go there";
  EXPECT_EQ(code, 78);
}

TEST(problem_text, falls_back_to_the_codes_message) {
  EXPECT_EQ(to_text({.code = errc::state_busy, .message = "", .hint = "", .diagnostics = {}}),
            "ratchet: another process has the state directory open\n");
}

}  // namespace
}  // namespace ratchet
