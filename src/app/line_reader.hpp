// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ratchet/error.hpp"

namespace ratchet {

/// The longest line that is handed out whole, unless set_longest_line() says otherwise.
constexpr std::size_t k_max_line_bytes = std::size_t{64} << 20;
/// How much of a longer line is kept, to show it and to tell it from others.
constexpr std::size_t k_too_large_prefix_bytes = 4096;

/// One line of input, without its line feed; a carriage return before it is white space and stays.
struct input_line {
  std::string_view text;         ///< of a line that is too large: its first bytes
  std::uint64_t number{0};       ///< in its file, from 1, blank lines counted
  std::uint64_t byte_offset{0};  ///< of its first byte in its file
  std::uint64_t size{0};         ///< in bytes; equal to text.size() unless it is too large
  bool too_large{false};         ///< above the longest; it was read past and not held
};

/// Some lines and the memory that their text points into. Reuse it: next_batch() keeps its memory.
struct line_batch {
  std::vector<input_line> lines;
  std::string bytes;
};

/// Reads a file, a pipe or standard input line by line, in batches, in bounded memory. Any bytes may be in a
/// line, NUL too; a last line without a line feed is a line; lines of nothing but spaces, tabs and carriage
/// returns are passed over.
/// Thread-safety: one thread at a time. Batches are independent of the reader and of each other.
class line_reader {
 public:
  /// `path` "-" is standard input, which stays open when the reader goes. Errors: io, naming the file.
  [[nodiscard]] static reported<line_reader> open(const std::string& path);
  /// Reads from `fd`, which stays the caller's. `name` stands for it in errors.
  line_reader(int fd, std::string name);
  ~line_reader();
  line_reader(line_reader&&) noexcept;
  line_reader& operator=(line_reader&&) noexcept;
  line_reader(const line_reader&) = delete;
  line_reader& operator=(const line_reader&) = delete;

  /// While this descriptor is readable a waiting next_batch() returns errc::aborted. -1: none.
  void set_interrupt(int fd) noexcept { interrupt_ = fd; }

  /// At least k_too_large_prefix_bytes.
  void set_longest_line(std::uint64_t bytes) noexcept { longest_line_ = bytes; }

  /// Fills `out` with the next lines: at most `max_lines`, and no further one once they hold `max_bytes`.
  /// Waits for at least one; returns what there is rather than waiting for more, so that a slow pipe is
  /// handled as it flows. False at the end of the input, with `out` empty.
  /// Errors: io, naming the file and the byte; aborted, where a wait was ended by the interrupt or a signal,
  /// or nothing came for a quarter of a second: nothing is lost, look whether to stop, and call again.
  [[nodiscard]] reported<bool> next_batch(line_batch& out, std::size_t max_lines, std::size_t max_bytes);

  /// Bytes that were taken from the input so far, and of a regular file how many there are; else 0.
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return read_; }
  [[nodiscard]] std::uint64_t bytes_total() const noexcept { return total_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  enum class filled : std::uint8_t { more, nothing_now, end };

  [[nodiscard]] reported<filled> fill(std::string& bytes, bool may_wait);
  [[nodiscard]] reported<bool> wait_for_input(bool may_wait);
  [[nodiscard]] problem failed(int error) const;
  void take_line(line_batch& out, std::size_t from, std::size_t length);
  void drop_middle_of_long_line(std::string& bytes, std::size_t from);
  void end_batch(line_batch& out, std::size_t from, std::size_t scanned);

  int fd_{-1};
  bool owned_{false};
  bool regular_{false};
  int interrupt_{-1};
  std::uint64_t longest_line_{k_max_line_bytes};
  bool ended_{false};
  std::string name_;
  std::string carry_;                ///< the bytes behind the last line handed out
  std::vector<std::size_t> starts_;  ///< of the batch's lines, while its memory still grows
  std::size_t carry_scanned_{0};     ///< of those, how many are known to hold no line feed
  std::uint64_t dropped_{0};         ///< bytes of the current line that were read past
  std::uint64_t line_offset_{0};     ///< where the current line begins in the file
  std::uint64_t line_number_{0};
  std::uint64_t read_{0};
  std::uint64_t total_{0};
};

}  // namespace ratchet
