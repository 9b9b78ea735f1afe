// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/base64_text.hpp"

#include <array>
#include <cstdint>

namespace ratchet {
namespace {

constexpr std::uint8_t k_none = 0xFF;

constexpr std::array<std::uint8_t, 256> k_values = [] {
  constexpr std::string_view k_alphabet{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"};
  std::array<std::uint8_t, 256> table{};
  for (std::uint8_t& value : table) value = k_none;
  for (std::size_t i = 0; i < k_alphabet.size(); ++i) {
    table[static_cast<unsigned char>(k_alphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return table;
}();

}  // namespace

std::optional<std::size_t> decode_base64(std::string_view text, char* out) noexcept {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  char* const begin = out;
  std::uint32_t bits = 0;
  unsigned held = 0;  // bits
  for (const char c : text) {
    const std::uint8_t value = k_values[static_cast<unsigned char>(c)];
    if (value == k_none) return std::nullopt;
    bits = bits << 6 | value;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    *out++ = static_cast<char>(bits >> held & 0xFFU);
  }
  if ((bits & ((1U << held) - 1)) != 0) return std::nullopt;
  return static_cast<std::size_t>(out - begin);
}

}  // namespace ratchet
