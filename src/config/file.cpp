// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "config/file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "process/unique_fd.hpp"

namespace ratchet {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// So that a pipe which nobody writes to is opened, too: the wait for it is bounded below.
unique_fd open_for_reading(const std::filesystem::path& path) {
  for (;;) {
    unique_fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
    if (file.valid() || errno != EINTR) return file;
  }
}

/// Whatever is read, and how it is named: a file, or a pipe.
struct wanted {
  const char* what;  ///< "config"
  std::filesystem::path path;
  const char* hint_if_none;
};

problem unreadable(const wanted& file, const std::string& why, const std::string& hint = "") {
  return {errc::io,
          std::string{"cannot read the "} + file.what + " " + file.path.string() + ": " + why,
          hint,
          {}};
}

problem unreadable(const wanted& file, int error) {
  // Only where there is none: elsewhere the hint would tell people to overwrite the one they have.
  return unreadable(file, std::generic_category().message(error), error == ENOENT ? file.hint_if_none : "");
}

/// False: nothing came in time. A file that never waits is always there.
bool wait_for(int fd, steady_clock::time_point until) {
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
    ::pollfd asked{fd, POLLIN, 0};
    const int got = ::poll(&asked, 1, static_cast<int>(std::max<milliseconds::rep>(left.count(), 0)));
    if (got > 0) return true;
    if (got == 0 || errno != EINTR) return false;
  }
}

struct bytes_read {
  std::string text;
  mode_t mode{0};
};

/// To its end, or up to where it is longer than `most`.
reported<bytes_read> read_up_to(const wanted& from, std::size_t most, milliseconds patience) {
  const unique_fd file = open_for_reading(from.path);
  if (!file.valid()) return unreadable(from, errno);
  struct ::stat info {};
  if (::fstat(file.get(), &info) != 0) return unreadable(from, errno);
  if (S_ISDIR(info.st_mode)) return unreadable(from, "it is a directory");
  bytes_read out;
  out.mode = info.st_mode;
  const auto until = steady_clock::now() + patience;
  std::string piece(std::size_t{64} << 10, '\0');
  while (out.text.size() <= most) {
    if (!wait_for(file.get(), until)) {
      return unreadable(
          from, "it is a pipe, and did not end within " + std::to_string(patience.count() / 1000) + " s",
          std::string{"name a file, or let something write the "} + from.what + " into it");
    }
    const ::ssize_t got = ::read(file.get(), piece.data(), piece.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return unreadable(from, errno);
    if (got == 0) break;
    out.text.append(piece, 0, static_cast<std::size_t>(got));
  }
  return out;
}

}  // namespace

reported<config_text> read_config_file(const std::filesystem::path& path, milliseconds patience) {
  const wanted config{"config", path, "ratchet init > ratchet.yaml writes one to start from"};
  RATCHET_TRY(auto read, read_up_to(config, k_largest_config, patience));
  if (read.text.size() > k_largest_config)
    return problem{errc::config_invalid,
                   "the config " + path.string() + " is larger than 4 MiB, which no config is",
                   "name the right file",
                   {}};
  return config_text{std::move(read.text), S_ISREG(read.mode) && (read.mode & S_IROTH) != 0};
}

reported<std::string> read_payload_file(const std::filesystem::path& path, std::size_t most,
                                        milliseconds patience) {
  RATCHET_TRY(auto read, read_up_to({"payload", path, ""}, most, patience));
  if (read.text.size() > most) read.text.resize(most + 1);
  return std::move(read.text);
}

}  // namespace ratchet
