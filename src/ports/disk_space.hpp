// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "ratchet/error.hpp"

namespace ratchet {

/// Of one file system, in bytes.
struct disk_space {
  std::uint64_t free{0};  ///< what an ordinary user may still write
  std::uint64_t size{0};  ///< used and free together
};

/// How much room there is. Thread-safety: all calls from any thread.
class disk_space_port {
 public:
  virtual ~disk_space_port() = default;
  /// Of the file system that holds `path`. Errors: the system's.
  [[nodiscard]] virtual result<disk_space> look(const std::filesystem::path& path) const = 0;
};

class system_disk_space final : public disk_space_port {
 public:
  [[nodiscard]] result<disk_space> look(const std::filesystem::path& path) const override {
    std::error_code code;
    const std::filesystem::space_info found = std::filesystem::space(path, code);
    if (code) return code;
    return disk_space{found.available, found.capacity};
  }
};

}  // namespace ratchet
