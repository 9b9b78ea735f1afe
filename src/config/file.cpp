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

problem unreadable(const std::filesystem::path& file, const std::string& why, const char* hint = "") {
  return {errc::io, "cannot read the config " + file.string() + ": " + why, hint, {}};
}

problem unreadable(const std::filesystem::path& file, int error) {
  // Only where there is none: elsewhere the hint would tell people to overwrite the one they have.
  return unreadable(file, std::generic_category().message(error),
                    error == ENOENT ? "ratchet init > ratchet.yaml writes one to start from" : "");
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

}  // namespace

reported<config_text> read_config_file(const std::filesystem::path& path, milliseconds patience) {
  const unique_fd file = open_for_reading(path);
  if (!file.valid()) return unreadable(path, errno);
  struct ::stat info {};
  if (::fstat(file.get(), &info) != 0) return unreadable(path, errno);
  if (S_ISDIR(info.st_mode)) return unreadable(path, "it is a directory");
  config_text out;
  out.open_to_all = S_ISREG(info.st_mode) && (info.st_mode & S_IROTH) != 0;
  const auto until = steady_clock::now() + patience;
  std::string piece(std::size_t{64} << 10, '\0');
  for (;;) {
    if (!wait_for(file.get(), until)) {
      return unreadable(
          path, "it is a pipe, and did not end within " + std::to_string(patience.count() / 1000) + " s",
          "name a file, or let something write the config into it");
    }
    const ::ssize_t got = ::read(file.get(), piece.data(), piece.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return unreadable(path, errno);
    if (got == 0) return out;
    out.text.append(piece, 0, static_cast<std::size_t>(got));
    if (out.text.size() > k_largest_config)
      return unreadable(path, "it is larger than 4 MiB, which no config is");
  }
}

}  // namespace ratchet
