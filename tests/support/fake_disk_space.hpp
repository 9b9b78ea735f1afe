// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "ports/disk_space.hpp"

namespace ratchet::testing {

/// A disk that is as full as a test says.
class fake_disk_space final : public disk_space_port {
 public:
  std::uint64_t free{std::uint64_t{1} << 40U};
  std::uint64_t size{std::uint64_t{1} << 41U};
  std::optional<std::error_code> error;
  mutable int looks{0};

  [[nodiscard]] result<disk_space> look(const std::filesystem::path&) const override {
    ++looks;
    if (error) return *error;
    return disk_space{free, size};
  }
};

}  // namespace ratchet::testing
