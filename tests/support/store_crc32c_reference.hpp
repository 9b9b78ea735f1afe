// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

/// CRC-32C bit by bit, as RFC 3720 has it.
namespace ratchet::crc32c_reference {

inline std::uint32_t plain_crc32c(std::string_view bytes) {
  std::uint32_t crc = ~std::uint32_t{0};
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int i = 0; i < 8; ++i) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0x82F63B78U : 0U);
  }
  return ~crc;
}

}  // namespace ratchet::crc32c_reference
