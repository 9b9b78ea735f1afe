// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/files/directory_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "store/files/file_problem.hpp"

namespace ratchet {

namespace {

/// Readers hold the lock for one read-only open: milliseconds, or seconds with a long write-ahead log.
constexpr std::chrono::milliseconds k_wait_for_readers{10'000};
constexpr std::chrono::milliseconds k_retry_pause{20};

/// Who holds the flock, by /proc/locks, whose lines read "1: FLOCK  ADVISORY  WRITE PID MAJOR:MINOR:INODE 0
/// EOF".
std::optional<long> holder_of(int fd) {
  struct ::stat info {};
  if (::fstat(fd, &info) != 0) return std::nullopt;
  char device[64];
  std::snprintf(device, sizeof device, "%02x:%02x:%llu", major(info.st_dev), minor(info.st_dev),
                static_cast<unsigned long long>(info.st_ino));
  std::ifstream locks{"/proc/locks"};
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words{line};
    std::string number;
    std::string type;
    std::string advisory;
    std::string access;
    std::string where;
    long pid = 0;
    if (words >> number >> type >> advisory >> access >> pid >> where && type == "FLOCK" && where == device) {
      return pid;
    }
  }
  return std::nullopt;
}

problem busy(const std::filesystem::path& directory, int fd) {
  problem p;
  p.code = make_error_code(errc::state_busy);
  p.message = "the state directory " + directory.string() + " is in use";
  if (const auto pid = holder_of(fd)) p.message += " by process " + std::to_string(*pid);
  p.hint =
      "stop the other process, or ask it (get, scan and status work while it runs); a second instance needs "
      "its own `state.path`, `kafka.group` and output topics";
  return p;
}

}  // namespace

directory_lock::~directory_lock() {
  if (fd_ >= 0) ::close(fd_);
}

reported<directory_lock> directory_lock::take(const std::filesystem::path& directory, mode m) {
  directory_lock lock;
  lock.fd_ = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock.fd_ < 0) {
    const int code = errno;
    std::error_code ignored;
    if (code == ENOENT && std::filesystem::is_symlink(directory, ignored)) {
      return problem{make_error_code(errc::state_missing),
                     "the state directory " + directory.string() + " is a symbolic link to nothing",
                     "make the directory that it names, or name another",
                     {}};
    }
    if (code == ENOENT) {
      return problem{make_error_code(errc::state_missing),
                     "there is no state directory " + directory.string(),
                     "name another, or run first",
                     {}};
    }
    return file_problem("open the state directory", directory, {code, std::generic_category()});
  }
  const auto deadline = std::chrono::steady_clock::now() + k_wait_for_readers;
  while (::flock(lock.fd_, (m == mode::exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) {
      const int code = errno;
      return file_problem("lock the state directory", directory, {code, std::generic_category()});
    }
    // A shared lock that can be had says that only readers are in the way.
    const bool only_readers = m == mode::exclusive && ::flock(lock.fd_, LOCK_SH | LOCK_NB) == 0;
    if (!only_readers || std::chrono::steady_clock::now() > deadline) return busy(directory, lock.fd_);
    ::flock(lock.fd_, LOCK_UN);
    std::this_thread::sleep_for(k_retry_pause);
  }
  return lock;
}

}  // namespace ratchet
