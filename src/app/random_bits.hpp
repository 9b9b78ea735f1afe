// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>

namespace ratchet {

/// From the system. Any thread.
[[nodiscard]] inline std::uint64_t random_bits() {
  std::random_device device;
  return (std::uint64_t{device()} << 32U) | device();
}

}  // namespace ratchet
