// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "app/line_reader.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace ratchet {

namespace {

constexpr std::size_t k_read_bytes = std::size_t{256} << 10;
/// For a pipe that gives nothing: its reader must get to look whether it is told to stop.
constexpr int k_longest_wait_ms = 250;

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

/// True where waiting makes no sense: a read of a regular file always returns.
bool is_regular(int fd, std::uint64_t& size) {
  struct stat found {};
  if (fstat(fd, &found) != 0 || !S_ISREG(found.st_mode)) return false;
  size = static_cast<std::uint64_t>(found.st_size);
  return true;
}

}  // namespace

reported<line_reader> line_reader::open(const std::string& path) {
  if (path == "-") return line_reader{STDIN_FILENO, "standard input"};
  int fd = -1;
  do {
    fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) {
    return problem{errc::io, "cannot open " + path + ": " + std::strerror(errno), "", {}};
  }
  line_reader reader{fd, path};
  reader.owned_ = true;
  return reader;
}

line_reader::line_reader(int fd, std::string name) : fd_{fd}, name_{std::move(name)} {
  regular_ = is_regular(fd_, total_);
}

line_reader::~line_reader() {
  if (owned_) ::close(fd_);
}

line_reader::line_reader(line_reader&& other) noexcept : line_reader{-1, {}} {
  *this = std::move(other);
}

line_reader& line_reader::operator=(line_reader&& other) noexcept {
  if (this == &other) return *this;
  if (owned_) ::close(fd_);
  fd_ = std::exchange(other.fd_, -1);
  owned_ = std::exchange(other.owned_, false);
  interrupt_ = other.interrupt_;
  longest_line_ = other.longest_line_;
  regular_ = other.regular_;
  ended_ = other.ended_;
  name_ = std::move(other.name_);
  carry_ = std::move(other.carry_);
  carry_scanned_ = other.carry_scanned_;
  starts_ = std::move(other.starts_);
  dropped_ = other.dropped_;
  line_offset_ = other.line_offset_;
  line_number_ = other.line_number_;
  read_ = other.read_;
  total_ = other.total_;
  return *this;
}

problem line_reader::failed(int error) const {
  return {errc::io,
          "cannot read " + name_ + " at byte " + std::to_string(read_) + ": " + std::strerror(error),
          "",
          {}};
}

/// True where a read will not block.
reported<bool> line_reader::wait_for_input(bool may_wait) {
  if (regular_) return true;
  pollfd waited[2] = {{fd_, POLLIN, 0}, {interrupt_, POLLIN, 0}};  // a negative descriptor is passed over
  for (;;) {
    const int count = ::poll(waited, 2, may_wait ? k_longest_wait_ms : 0);
    if (count < 0 && errno == EINTR && !may_wait) continue;
    if (count < 0 && errno != EINTR) return failed(errno);
    if (may_wait && (count <= 0 || waited[1].revents != 0)) {
      return problem{errc::aborted, "waiting for " + name_ + " was interrupted", "", {}};
    }
    if ((waited[0].revents & POLLNVAL) != 0) return failed(EBADF);
    return waited[0].revents != 0;
  }
}

reported<line_reader::filled> line_reader::fill(std::string& bytes, bool may_wait) {
  for (;;) {
    RATCHET_TRY(const bool readable, wait_for_input(may_wait));
    if (!readable) return filled::nothing_now;
    const std::size_t before = bytes.size();
    bytes.resize(before + k_read_bytes);
    const ssize_t count = ::read(fd_, bytes.data() + before, k_read_bytes);
    const int error = errno;
    bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count > 0) {
      read_ += static_cast<std::uint64_t>(count);
      return filled::more;
    }
    if (count == 0) return filled::end;
    // A descriptor that somebody else made non-blocking may be drained between poll and read.
    if (error == EAGAIN && !may_wait) return filled::nothing_now;
    if (error != EINTR && error != EAGAIN) return failed(error);
  }
}

void line_reader::take_line(line_batch& out, std::size_t from, std::size_t length) {
  ++line_number_;
  const std::uint64_t size = dropped_ + length;
  const std::uint64_t offset = line_offset_;
  const bool too_large = size > longest_line_;
  line_offset_ += size + 1;
  dropped_ = 0;
  if (!too_large && is_blank(std::string_view{out.bytes}.substr(from, length))) return;
  input_line line;
  line.number = line_number_;
  line.byte_offset = offset;
  line.size = size;
  line.too_large = too_large;
  out.lines.push_back(line);
  starts_.push_back(from);
}

/// Keeps the first bytes of a line that has grown too large, so that memory stays bounded.
void line_reader::drop_middle_of_long_line(std::string& bytes, std::size_t from) {
  const std::size_t held = bytes.size() - from;
  if (held + dropped_ <= longest_line_) return;
  if (held <= k_too_large_prefix_bytes) return;
  dropped_ += held - k_too_large_prefix_bytes;
  bytes.resize(from + k_too_large_prefix_bytes);
}

/// Puts what lies behind the batch's last line aside, and points the lines at their text.
void line_reader::end_batch(line_batch& out, std::size_t from, std::size_t scanned) {
  carry_.assign(out.bytes, from);
  carry_scanned_ = scanned - from;
  for (std::size_t i = 0; i < out.lines.size(); ++i) {
    input_line& line = out.lines[i];
    const std::size_t length =
        line.too_large ? k_too_large_prefix_bytes : static_cast<std::size_t>(line.size);
    line.text = std::string_view{out.bytes}.substr(starts_[i], length);
  }
}

reported<bool> line_reader::next_batch(line_batch& out, std::size_t max_lines, std::size_t max_bytes) {
  out.lines.clear();
  starts_.clear();
  out.bytes.swap(carry_);
  carry_.clear();
  std::size_t from = 0;  // where the current line begins in out.bytes
  std::size_t scanned = carry_scanned_;
  while (out.lines.empty() || (out.lines.size() < max_lines && from < max_bytes)) {
    const std::size_t feed = out.bytes.find('\n', scanned);
    if (feed != std::string::npos) {
      take_line(out, from, feed - from);
      from = scanned = feed + 1;
      continue;
    }
    if (ended_) {
      if (from < out.bytes.size()) take_line(out, from, out.bytes.size() - from);
      from = scanned = out.bytes.size();
      break;
    }
    if (out.lines.empty()) {  // nothing points here yet: blank lines must not pile up
      out.bytes.erase(0, from);
      from = 0;
    }
    drop_middle_of_long_line(out.bytes, from);
    scanned = out.bytes.size();
    const auto got = fill(out.bytes, out.lines.empty());
    if (!got && out.lines.empty()) {
      end_batch(out, from, scanned);
      return got.error();
    }
    if (!got || got.value() == filled::nothing_now) break;  // a failure comes again at the next call
    ended_ = got.value() == filled::end;
  }
  end_batch(out, from, scanned);
  return !out.lines.empty();
}

}  // namespace ratchet
