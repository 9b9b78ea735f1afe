// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rocksdb/status.h>
#include <unistd.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ratchet/error.hpp"
#include "store/engine/rocksdb_error.hpp"
#include "store/files/file_problem.hpp"
#include "store/open/opening.hpp"

namespace ratchet {
namespace {

using rocksdb::Status;

std::vector<Status> every_failure() {
  return {Status::NotFound(),
          Status::Corruption(),
          Status::NotSupported(),
          Status::InvalidArgument(),
          Status::IOError(),
          Status::MergeInProgress(),
          Status::Incomplete(),
          Status::ShutdownInProgress(),
          Status::TimedOut(),
          Status::Aborted(),
          Status::Busy(),
          Status::Expired(),
          Status::TryAgain(),
          Status::CompactionTooLarge(),
          Status::ColumnFamilyDropped()};
}

TEST(rocksdb_errors, have_a_value_and_words_of_their_own_for_every_status) {
  std::set<int> values;
  std::set<std::string> words;
  for (const Status& status : every_failure()) {
    const std::error_code code = to_error_code(status);
    EXPECT_EQ(code.category(), rocksdb_category());
    EXPECT_EQ(code.value() & 0xFF, static_cast<int>(status.code()));
    EXPECT_TRUE(values.insert(code.value()).second) << status.ToString();
    EXPECT_TRUE(words.insert(code.message()).second) << code.message();
    EXPECT_EQ(exit_code(code), 74);
  }
  EXPECT_STREQ(rocksdb_category().name(), "rocksdb");
}

TEST(rocksdb_errors, are_none_where_all_is_well) {
  EXPECT_FALSE(to_error_code(Status::OK()));
}

TEST(rocksdb_errors, keep_the_reason_beside_the_code) {
  const std::vector<std::pair<Status, std::string>> reasons{
      {Status::NoSpace(), "No space left on device"}, {Status::MemoryLimit(), "memory limit"},
      {Status::SpaceLimit(), "space limit"},          {Status::PathNotFound(), "path not found"},
      {Status::IOError(Status::kIOFenced), "fenced"}, {Status::IOError(Status::kStaleFile), "stale file"}};
  for (const auto& [status, words] : reasons) {
    const std::error_code code = to_error_code(status);
    EXPECT_EQ(code.value() & 0xFF, static_cast<int>(status.code()));
    EXPECT_EQ(code.value() >> 8 & 0xFF, static_cast<int>(status.subcode()));
    EXPECT_TRUE(code.message().ends_with(": " + words)) << code.message();
  }
  EXPECT_EQ(to_error_code(Status::IOError()).message().find(':'), std::string::npos) << "no reason, no words";
}

struct hint_row {
  std::errc reason;
  const char* says;
};
constexpr hint_row k_hints[] = {
    {std::errc::permission_denied, "-m 700"},
    {std::errc::operation_not_permitted, "-m 700"},
    {std::errc::read_only_file_system, "read-only"},
    {std::errc::not_a_directory, "a file is in the way"},
    {std::errc::no_such_file_or_directory, "make the directory above it first"},
    {std::errc::no_space_on_device, "make room"},
    {std::errc::filename_too_long, "shorter"},
};

TEST(file_problems, say_what_was_tried_why_it_failed_and_what_to_do) {
  for (const hint_row& row : k_hints) {
    const std::error_code code = std::make_error_code(row.reason);
    const problem p = file_problem("open", "/var/lib/x", code);
    EXPECT_EQ(p.code, code);
    EXPECT_EQ(p.message, "cannot open /var/lib/x: " + code.message());
    EXPECT_NE(p.hint.find(row.says), std::string::npos) << p.hint;
    EXPECT_EQ(exit_code(p.code), 74);
  }
  EXPECT_EQ(file_problem("open", "/x", std::make_error_code(std::errc::io_error)).hint, "")
      << "nobody can say";
}

TEST(file_problems, name_the_user_who_has_to_be_let_in) {
  const std::string hint = hint_for_file("/var/lib/x", std::make_error_code(std::errc::permission_denied));
  EXPECT_NE(hint.find("runs as user " + std::to_string(::geteuid())), std::string::npos) << hint;
  EXPECT_NE(hint.find("-o " + std::to_string(::geteuid()) + " /var/lib/x"), std::string::npos) << hint;
}

TEST(file_problems, tell_of_a_directory_that_is_not_there) {
  const auto checked = check_writable("/nowhere/at/all");
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, std::errc::no_such_file_or_directory);
}

TEST(a_database_that_does_not_open, is_damaged_where_rocksdb_says_so) {
  const problem p = failed_open("/var/lib/x", Status::Corruption("bad block"));
  EXPECT_EQ(p.code, errc::state_damaged);
  EXPECT_NE(p.message.find("bad block"), std::string::npos);
  EXPECT_NE(p.message.find("no file was changed"), std::string::npos);
  EXPECT_NE(p.hint.find("--resume rebuild"), std::string::npos);
}

TEST(a_database_that_does_not_open, gets_the_hint_of_the_systems_reason) {
  const problem p =
      failed_open("/var/lib/x", Status::IOError("While open a file: LOCK", "Read-only file system"));
  EXPECT_NE(p.code, errc::state_damaged);
  EXPECT_NE(p.hint.find("mounted read-only"), std::string::npos) << p.hint;
  EXPECT_EQ(failed_open("/var/lib/x", Status::Aborted("why ever")).hint, "");
}

TEST(a_value_that_cannot_be_read, is_told_from_a_directory_that_cannot) {
  EXPECT_EQ(failed_read("/x", errc::state_damaged).code, errc::state_damaged);
  EXPECT_NE(failed_read("/x", errc::state_damaged).message.find("cannot be decoded"), std::string::npos);
  const std::error_code other = to_error_code(Status::IOError());
  EXPECT_EQ(failed_read("/x", other).code, other);
}

}  // namespace
}  // namespace ratchet
