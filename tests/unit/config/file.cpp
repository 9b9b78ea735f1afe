// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What a config may be read from, and for how long.
#include "config/file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "support/temporary_directory.hpp"

namespace ratchet {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr auto k_patience = 60s;
constexpr auto k_no_patience = 20ms;

class a_config_file : public ::testing::Test {
 protected:
  [[nodiscard]] std::string refusal(const std::filesystem::path& path,
                                    std::chrono::milliseconds patience = k_no_patience) const {
    const auto read = read_config_file(path, patience);
    if (read) return {};
    EXPECT_EQ(exit_code(read.error().code), 74);
    EXPECT_THAT(read.error().message, HasSubstr(path.string())) << "it is named";
    return to_text(read.error());
  }
  /// It can be read, and is no config.
  static void expect_too_large(const std::filesystem::path& path) {
    const auto read = read_config_file(path, k_patience);
    ASSERT_FALSE(read);
    EXPECT_EQ(exit_code(read.error().code), 78) << "as whatever else is wrong with a config";
    EXPECT_THAT(read.error().message, HasSubstr(path.string() + " is larger than 4 MiB"));
  }
  support::temporary_directory files_;
  const std::filesystem::path& directory_{files_.path()};
};

TEST_F(a_config_file, is_read_to_its_end) {
  const std::string text(200'000, 'x');
  std::ofstream{directory_ / "f"} << text;
  ::chmod((directory_ / "f").c_str(), 0640);
  const auto read = read_config_file(directory_ / "f", 0ms);
  ASSERT_TRUE(read) << "a file is there, whatever the patience";
  EXPECT_EQ(read.value().text, text);
  EXPECT_FALSE(read.value().open_to_all);
  ::chmod((directory_ / "f").c_str(), 0644);
  EXPECT_TRUE(read_config_file(directory_ / "f", 0ms).value().open_to_all);
}

TEST_F(a_config_file, may_come_through_a_pipe_as_from_a_shell) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  std::thread writer{[&] {
    for (const char* part : {"version", ": 1\n"})
      EXPECT_GT(::write(ends[1], part, std::string{part}.size()), 0);
    ::close(ends[1]);
  }};
  const auto read = read_config_file("/dev/fd/" + std::to_string(ends[0]), k_patience);
  writer.join();
  ::close(ends[0]);
  ASSERT_TRUE(read) << to_text(read.error());
  EXPECT_EQ(read.value().text, "version: 1\n");
  EXPECT_FALSE(read.value().open_to_all);
}

TEST_F(a_config_file, that_never_ends_is_refused_by_name) {
  const std::filesystem::path fifo = directory_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THAT(refusal(fifo), HasSubstr("it is a pipe, and did not end"));
  const int writer = ::open(fifo.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(writer, 0);
  ASSERT_EQ(::write(writer, "version: 1\n", 11), 11);
  EXPECT_THAT(refusal(fifo), HasSubstr("it is a pipe, and did not end"))
      << "somebody has it open for writing";
  ::close(writer);
  expect_too_large("/dev/zero");
}

TEST_F(a_config_file, that_is_none_says_why) {
  EXPECT_THAT(refusal(directory_), HasSubstr("it is a directory"));
  EXPECT_THAT(refusal(directory_ / "none"), HasSubstr("ratchet init > ratchet.yaml"));
  std::ofstream{directory_ / "large"} << std::string(k_largest_config + 1, ' ');
  expect_too_large(directory_ / "large");
  EXPECT_EQ(read_config_file("/dev/null", k_patience).value().text, "");
}

TEST_F(a_config_file, has_the_bounds_that_a_payload_has) {
  std::ofstream{directory_ / "f"} << "{}";
  EXPECT_EQ(read_payload_file(directory_ / "f", 2, 0ms).value(), "{}");
  EXPECT_EQ(read_payload_file("/dev/zero", 100, k_patience).value().size(), 101U);
  const std::filesystem::path fifo = directory_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const auto waited = read_payload_file(fifo, 100, k_no_patience);
  ASSERT_FALSE(waited);
  EXPECT_THAT(to_text(waited.error()),
              HasSubstr("cannot read the payload " + fifo.string() + ": it is a pipe"));
}

}  // namespace
}  // namespace ratchet
