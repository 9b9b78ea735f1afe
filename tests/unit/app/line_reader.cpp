// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "app/line_reader.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace ratchet {
namespace {

/// A file that goes with the test.
class scratch_file {
 public:
  explicit scratch_file(std::string_view content) {
    std::string name = (std::filesystem::temp_directory_path() / "ratchet-lines-XXXXXX").string();
    const int fd = ::mkstemp(name.data());
    ::close(fd);
    path_ = name;
    std::ofstream{path_, std::ios::binary}.write(content.data(),
                                                 static_cast<std::streamsize>(content.size()));
  }
  ~scratch_file() { std::filesystem::remove(path_); }
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct pipe_ends {
  pipe_ends() {
    std::array<int, 2> fds{};
    if (::pipe(fds.data()) != 0) std::abort();
    out = fds[0];
    in = fds[1];
  }
  ~pipe_ends() {
    ::close(out);
    close_in();
  }
  pipe_ends(const pipe_ends&) = delete;
  pipe_ends& operator=(const pipe_ends&) = delete;
  void write(std::string_view text) const {
    ASSERT_EQ(::write(in, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void close_in() {
    if (in >= 0) ::close(in);
    in = -1;
  }
  int out{-1};
  int in{-1};
};

struct seen_line {
  std::string text;
  std::uint64_t number;
  std::uint64_t offset;
  friend bool operator==(const seen_line&, const seen_line&) = default;
};

void PrintTo(const seen_line& line, std::ostream* out) {
  *out << line.number << "@" << line.offset << ":" << line.text.substr(0, 40);
}

std::vector<seen_line> all_lines(line_reader& reader, std::size_t max_lines = 1000,
                                 std::size_t max_bytes = 1 << 20) {
  std::vector<seen_line> lines;
  line_batch batch;
  for (;;) {
    const auto more = reader.next_batch(batch, max_lines, max_bytes);
    if (!more) ADD_FAILURE() << to_text(more.error());
    if (!more || !more.value()) return lines;
    EXPECT_LE(batch.lines.size(), std::max<std::size_t>(1, max_lines));
    for (const input_line& l : batch.lines) lines.push_back({std::string{l.text}, l.number, l.byte_offset});
  }
}

TEST(line_reader, gives_each_line_its_number_and_byte_offset) {
  const scratch_file file{"one\ntwo\n\nfour"};
  auto reader = line_reader::open(file.path());
  ASSERT_TRUE(reader);
  const std::vector<seen_line> want{{"one", 1, 0}, {"two", 2, 4}, {"four", 4, 9}};
  EXPECT_EQ(all_lines(reader.value()), want);
  EXPECT_EQ(reader.value().bytes_read(), 13U);
  EXPECT_EQ(reader.value().bytes_total(), 13U);
}

TEST(line_reader, keeps_carriage_returns_and_nul_bytes_and_passes_over_blank_lines) {
  const scratch_file file{std::string_view{"a\r\n \t\r\nb\0c\n\r\n", 13}};
  auto reader = line_reader::open(file.path());
  ASSERT_TRUE(reader);
  const std::vector<seen_line> want{{"a\r", 1, 0}, {std::string{"b\0c", 3}, 3, 7}};
  EXPECT_EQ(all_lines(reader.value()), want);
}

TEST(line_reader, finds_the_same_lines_however_the_batches_are_cut) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += std::string(static_cast<std::size_t>(i * 37 % 5000), 'x') + "\n";
  const scratch_file file{text};
  auto whole = line_reader::open(file.path());
  ASSERT_TRUE(whole);
  const auto want = all_lines(whole.value(), 100'000, 100'000'000);
  EXPECT_GT(want.size(), 290U);
  for (const std::size_t lines : {1U, 2U, 7U, 1000U}) {
    for (const std::size_t bytes : {1U, 5000U, 300'000U}) {
      auto reader = line_reader::open(file.path());
      ASSERT_TRUE(reader);
      EXPECT_EQ(all_lines(reader.value(), lines, bytes), want) << lines << " lines, " << bytes << " bytes";
    }
  }
}

TEST(line_reader, reads_an_empty_file_as_no_lines) {
  const scratch_file file{""};
  auto reader = line_reader::open(file.path());
  ASSERT_TRUE(reader);
  EXPECT_TRUE(all_lines(reader.value()).empty());
  line_batch batch;
  EXPECT_FALSE(reader.value().next_batch(batch, 1, 1).value()) << "the end stays the end";
}

TEST(line_reader, batches_stay_valid_while_later_ones_are_read) {
  const scratch_file file{"first\nsecond\n"};
  auto reader = line_reader::open(file.path());
  ASSERT_TRUE(reader);
  line_batch first;
  line_batch second;
  ASSERT_TRUE(reader.value().next_batch(first, 1, 100).value());
  ASSERT_TRUE(reader.value().next_batch(second, 1, 100).value());
  EXPECT_EQ(first.lines.at(0).text, "first");
  EXPECT_EQ(second.lines.at(0).text, "second");
}

TEST(line_reader, hands_out_a_line_of_exactly_the_limit_whole) {
  const scratch_file file{std::string(k_max_line_bytes, 'x') + "\nnext"};
  auto reader = line_reader::open(file.path());
  ASSERT_TRUE(reader);
  line_batch batch;
  ASSERT_TRUE(reader.value().next_batch(batch, 10, 1).value());
  ASSERT_EQ(batch.lines.size(), 1U);
  EXPECT_FALSE(batch.lines[0].too_large);
  EXPECT_EQ(batch.lines[0].text.size(), k_max_line_bytes);
}

TEST(line_reader, reports_a_line_above_the_limit_without_holding_it) {
  const std::size_t size = k_max_line_bytes + k_max_line_bytes / 2;
  const scratch_file file{"a\n" + std::string(size, 'y') + "\nb"};
  auto reader = line_reader::open(file.path());
  ASSERT_TRUE(reader);
  line_batch batch;
  std::vector<input_line> lines;
  std::vector<std::string> texts;
  while (reader.value().next_batch(batch, 10, 100).value()) {
    for (const input_line& l : batch.lines) {
      lines.push_back(l);
      texts.emplace_back(l.text);
    }
  }
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(lines[1].too_large);
  EXPECT_EQ(lines[1].byte_offset, 2U);
  EXPECT_EQ(lines[1].size, size);
  EXPECT_EQ(texts[1], std::string(k_too_large_prefix_bytes, 'y'));
  EXPECT_EQ(texts[2], "b");
  EXPECT_EQ(lines[2].number, 3U);
  EXPECT_EQ(lines[2].byte_offset, 2 + size + 1);
}

TEST(line_reader, reports_a_last_line_above_the_limit_that_has_no_line_feed) {
  const std::size_t size = k_max_line_bytes + 1;
  const scratch_file file{std::string(size, 'y')};
  auto reader = line_reader::open(file.path());
  ASSERT_TRUE(reader);
  line_batch batch;
  ASSERT_TRUE(reader.value().next_batch(batch, 10, 100).value());
  ASSERT_EQ(batch.lines.size(), 1U);
  EXPECT_TRUE(batch.lines[0].too_large);
  EXPECT_EQ(batch.lines[0].size, size);
  EXPECT_FALSE(reader.value().next_batch(batch, 10, 100).value());
}

TEST(line_reader, holds_little_memory_over_many_blank_lines) {
  const scratch_file file{std::string(std::size_t{8} << 20, '\n') + "end"};
  auto reader = line_reader::open(file.path());
  ASSERT_TRUE(reader);
  line_batch batch;
  ASSERT_TRUE(reader.value().next_batch(batch, 10, 100).value());
  ASSERT_EQ(batch.lines.size(), 1U);
  EXPECT_EQ(batch.lines[0].text, "end");
  EXPECT_EQ(batch.lines[0].number, (std::uint64_t{8} << 20) + 1);
  EXPECT_LT(batch.bytes.capacity(), std::size_t{2} << 20);
}

TEST(line_reader, gives_what_a_pipe_has_rather_than_waiting_for_more) {
  pipe_ends ends;
  line_reader reader{ends.out, "a pipe"};
  ends.write("one\ntwo\nhal");
  line_batch batch;
  ASSERT_TRUE(reader.next_batch(batch, 1000, 1 << 20).value());
  ASSERT_EQ(batch.lines.size(), 2U);
  ends.write("f\n");
  ASSERT_TRUE(reader.next_batch(batch, 1000, 1 << 20).value());
  ASSERT_EQ(batch.lines.size(), 1U);
  EXPECT_EQ(batch.lines[0].text, "half");
  EXPECT_EQ(batch.lines[0].byte_offset, 8U);
  ends.close_in();
  EXPECT_FALSE(reader.next_batch(batch, 1000, 1 << 20).value());
}

TEST(line_reader, gives_way_to_the_interrupt_before_it_takes_input_and_loses_nothing) {
  pipe_ends ends;
  pipe_ends stop;
  line_reader reader{ends.out, "a pipe"};
  reader.set_interrupt(stop.out);
  ends.write("line\n");
  stop.write("!");
  line_batch batch;
  const auto interrupted = reader.next_batch(batch, 10, 100);
  ASSERT_FALSE(interrupted);
  EXPECT_EQ(interrupted.error().code, errc::aborted);
  reader.set_interrupt(-1);
  ASSERT_TRUE(reader.next_batch(batch, 10, 100).value());
  EXPECT_EQ(batch.lines.at(0).text, "line");
}

TEST(line_reader, comes_back_from_a_wait_in_which_nothing_came) {
  pipe_ends ends;
  line_reader reader{ends.out, "a pipe"};
  line_batch batch;
  const auto nothing = reader.next_batch(batch, 10, 100);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, errc::aborted);
  ends.write("late\n");
  ASSERT_TRUE(reader.next_batch(batch, 10, 100).value());
  EXPECT_EQ(batch.lines.at(0).text, "late");
}

TEST(line_reader, names_the_file_that_cannot_be_opened_or_read) {
  const auto missing = line_reader::open("/nonexistent/events.ndjson");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, errc::io);
  EXPECT_NE(missing.error().message.find("/nonexistent/events.ndjson"), std::string::npos);

  const std::string directory = std::filesystem::temp_directory_path().string();
  auto reader = line_reader::open(directory);
  ASSERT_TRUE(reader);
  line_batch batch;
  const auto read = reader.value().next_batch(batch, 1, 1);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, errc::io);
  EXPECT_NE(read.error().message.find(directory), std::string::npos);
}

TEST(line_reader, can_be_moved_in_the_middle_of_a_line) {
  const scratch_file file{"one\ntwo\nthree\n"};
  auto opened = line_reader::open(file.path());
  ASSERT_TRUE(opened);
  line_batch batch;
  ASSERT_TRUE(opened.value().next_batch(batch, 1, 1).value());
  line_reader reader = std::move(opened).value();
  const std::vector<seen_line> want{{"two", 2, 4}, {"three", 3, 8}};
  EXPECT_EQ(all_lines(reader), want);
}

}  // namespace
}  // namespace ratchet
