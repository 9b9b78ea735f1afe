// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <utility>

#include "ratchet/error.hpp"

namespace ratchet {

/// A lock on a state directory: flock(2) on the directory itself, so that taking it changes no file and the
/// kernel frees it when the process dies. RocksDB's own LOCK comes too late: the directory is inspected
/// before it is opened.
class directory_lock {
 public:
  enum class mode : unsigned char {
    exclusive,  ///< for as long as the directory is open for writing
    shared,     ///< while a reader opens it; afterwards a reader needs it no more
  };

  directory_lock() = default;
  directory_lock(directory_lock&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
  directory_lock& operator=(directory_lock&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~directory_lock();

  /// Does not wait for a writer; waits a while for readers that are just opening it.
  /// Errors: state_busy, with the holder's process id where it can be found; state_missing; system errors.
  [[nodiscard]] static reported<directory_lock> take(const std::filesystem::path& directory, mode);

 private:
  int fd_{-1};
};

}  // namespace ratchet
