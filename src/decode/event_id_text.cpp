// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/event_id_text.hpp"

#include <array>
#include <cstdint>

#include "decode/json_scan.hpp"

namespace ratchet {
namespace {

constexpr std::size_t k_text_size = 36;

constexpr bool is_dash_place(std::size_t i) noexcept {
  return i == 8 || i == 13 || i == 18 || i == 23;
}

/// The digit's value, 0xFF for what is none: a mask of four bits tells them apart once at the end.
constexpr std::array<std::uint8_t, 256> k_hex = [] {
  std::array<std::uint8_t, 256> table{};
  for (unsigned c = 0; c < 256; ++c) {
    const int value = json::hex_value(static_cast<char>(c));
    table[c] = value < 0 ? std::uint8_t{0xFF} : static_cast<std::uint8_t>(value);
  }
  return table;
}();

}  // namespace

std::optional<event_id> parse_uuidv7(std::string_view text) noexcept {
  if (text.size() != k_text_size) return std::nullopt;
  if (text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-') return std::nullopt;
  unsigned seen = 0;
  // Short runs of their own, as one long one would wait for itself at every digit.
  const auto digits = [&](std::size_t from, std::size_t to) {
    std::uint64_t value = 0;
    for (std::size_t i = from; i < to; ++i) {
      const unsigned digit = k_hex[static_cast<unsigned char>(text[i])];
      seen |= digit;
      value = value << 4 | (digit & 0xFU);
    }
    return value;
  };
  const event_id id{digits(0, 8) << 32 | digits(9, 13) << 16 | digits(14, 18),
                    digits(19, 23) << 48 | digits(24, 30) << 24 | digits(30, 36)};
  if ((seen & 0xF0U) != 0) return std::nullopt;
  if ((id.high >> 12 & 0xFU) != 7 || id.low >> 62 != 2) return std::nullopt;
  return id;
}

std::string to_text(event_id id) {
  std::string text(k_text_size, '-');
  unsigned shift = 128;
  for (std::size_t i = 0; i < k_text_size; ++i) {
    if (is_dash_place(i)) continue;
    shift -= 4;
    const std::uint64_t half = shift >= 64 ? id.high >> (shift - 64) : id.low >> shift;
    text[i] = "0123456789abcdef"[half & 0xFU];
  }
  return text;
}

}  // namespace ratchet
