// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

#include "ratchet/error.hpp"

namespace ratchet {

/// The file SYNCED beside the database: the last step that was synced. It tells a write-ahead log that lost
/// its unsynced tail from one that lost more. It is also the first file of a new directory, so that a
/// creation which was cut short can be told from a directory that is not ours.
///
/// Layout: 1024 bytes, two slots of 512, written in turn, so that a torn write leaves the one before. A slot:
/// the 8 bytes "ratchet" 01, u64 count of writes, u64 step, u32 CRC-32C of these 24 bytes, the rest zero.
/// Integers are big-endian. The valid slot with the higher count is the truth.
///
/// Thread-safety: one thread at a time.
class synced_file {
 public:
  static constexpr const char* k_name = "SYNCED";
  static constexpr const char* k_unfinished_name = "SYNCED.new";  ///< until it is whole

  synced_file() = default;
  synced_file(synced_file&& other) noexcept
      : fd_{std::exchange(other.fd_, -1)}, count_{other.count_}, step_{other.step_} {}
  synced_file& operator=(synced_file&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(count_, other.count_);
    std::swap(step_, other.step_);
    return *this;
  }
  ~synced_file();

  /// The step in the directory's file. Errors: not_found; state_damaged (no valid slot); system errors.
  [[nodiscard]] static result<std::uint64_t> read(const std::filesystem::path& directory);
  /// Opens for writing; creates it with step 0, durably, where there is none.
  [[nodiscard]] static result<synced_file> open(const std::filesystem::path& directory);

  /// Overwrites the older slot and syncs it. After an error the file's state is unknown: do not try again.
  [[nodiscard]] result<void> write(std::uint64_t step);
  [[nodiscard]] std::uint64_t step() const noexcept { return step_; }

 private:
  int fd_{-1};
  std::uint64_t count_{0};
  std::uint64_t step_{0};
};

/// Makes names created or removed in a directory survive a power cut.
[[nodiscard]] result<void> sync_directory(const std::filesystem::path&);

}  // namespace ratchet
