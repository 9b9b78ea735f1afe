// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

/// Real file systems that are small: a tmpfs in a mount namespace of this process' own, which ends with it.
namespace ratchet::testing {

/// Moves this thread, and what it starts, into a mount namespace of its own. False where that is not
/// permitted: then say so and skip. Without privileges it must come before any other thread.
inline bool enter_mount_namespace() {
  static const bool done = [] {
    const auto user = ::getuid();
    const auto group = ::getgid();
    if (::unshare(CLONE_NEWNS) != 0) {
      if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
      std::ofstream{"/proc/self/setgroups"} << "deny";
      std::ofstream{"/proc/self/uid_map"} << "0 " << user << " 1";
      std::ofstream{"/proc/self/gid_map"} << "0 " << group << " 1";
    }
    return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  }();
  return done;
}

class small_file_system {
 public:
  /// Mounts one at `where`, which is made.
  small_file_system(std::filesystem::path where, std::uint64_t mebibytes) : where_{std::move(where)} {
    std::filesystem::create_directories(where_);
    if (::mount("tmpfs", where_.c_str(), "tmpfs", 0, size_of(mebibytes).c_str()) != 0) {
      throw std::runtime_error{std::string{"mount: "} + std::strerror(errno)};
    }
  }
  ~small_file_system() { ::umount2(where_.c_str(), MNT_DETACH); }
  small_file_system(const small_file_system&) = delete;
  small_file_system& operator=(const small_file_system&) = delete;

  /// What an operator does who makes room.
  void resize(std::uint64_t mebibytes) const {
    if (::mount("tmpfs", where_.c_str(), "tmpfs", MS_REMOUNT, size_of(mebibytes).c_str()) != 0) {
      throw std::runtime_error{std::string{"remount: "} + std::strerror(errno)};
    }
  }
  [[nodiscard]] std::uint64_t free_mebibytes() const {
    return std::filesystem::space(where_).available >> 20U;
  }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return where_; }

 private:
  static std::string size_of(std::uint64_t mebibytes) { return "size=" + std::to_string(mebibytes) + "m"; }
  std::filesystem::path where_;
};

}  // namespace ratchet::testing
