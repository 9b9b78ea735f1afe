// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "ports/disk_space.hpp"
#include "ratchet/config.hpp"

namespace ratchet {

/// The room that is kept free: as configured (0: none), else half of the memory limit, which is more than the
/// store can write at once from memory, but at most a tenth of the file system.
[[nodiscard]] std::uint64_t space_to_keep(std::optional<std::uint64_t> configured, std::uint64_t memory_limit,
                                          std::uint64_t file_system_bytes) noexcept;

/// Says when consumption has to stop because the file system of the state is nearly full, and when it may go
/// on: at a quarter above the reserve, so that it does not toggle. Looks at most once in a while, so that it
/// may be asked between any two steps. A file system that cannot be asked changes nothing: the writes will
/// tell. Thread-safety: one owner thread.
class space_guard {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  /// What stands against being ready while it is low.
  static constexpr std::string_view k_condition = "disk";
  /// Null: the system's own answer.
  space_guard(const config&, const disk_space_port*);

  /// True where low() has changed.
  [[nodiscard]] bool look(time_point now);
  [[nodiscard]] bool low() const noexcept { return low_; }
  /// What is free, as of the last look; none where that found no answer.
  [[nodiscard]] std::optional<std::uint64_t> free() const {
    return answered_ ? std::optional{found_.free} : std::nullopt;
  }
  /// What is to be kept free there, as of the last look.
  [[nodiscard]] std::uint64_t reserve() const noexcept {
    return space_to_keep(configured_, memory_limit_, found_.size);
  }
  /// What there is, and what there should be: for logs and readiness.
  [[nodiscard]] std::string text() const;
  /// The same as an error, with what to do.
  [[nodiscard]] problem refusal() const;

 private:
  std::filesystem::path directory_;
  std::optional<std::uint64_t> configured_;
  std::uint64_t memory_limit_;
  const disk_space_port* port_;
  std::optional<time_point> last_look_;
  disk_space found_;
  bool answered_{false};
  bool low_{false};
};

}  // namespace ratchet
