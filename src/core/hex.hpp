// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ratchet/types.hpp"

namespace ratchet {

/// Sixteen lower-case digits.
[[nodiscard]] inline std::string to_hex(std::uint64_t number) {
  constexpr std::string_view k_digits = "0123456789abcdef";
  std::string text;
  for (unsigned shift = 64; shift > 0; shift -= 4) text += k_digits[(number >> (shift - 4)) & 0xFU];
  return text;
}
/// Thirty-two, the high half first.
[[nodiscard]] inline std::string to_hex(const hash128& hash) {
  return to_hex(hash.high) + to_hex(hash.low);
}

}  // namespace ratchet
