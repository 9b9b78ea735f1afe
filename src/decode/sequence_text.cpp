// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/sequence_text.hpp"

#include <limits>

#include "decode/json_scan.hpp"

namespace ratchet {

std::optional<std::uint64_t> parse_u64(std::string_view digits) noexcept {
  if (digits.empty()) return std::nullopt;
  constexpr std::uint64_t k_max = std::numeric_limits<std::uint64_t>::max();
  constexpr std::size_t k_never_too_large = 19;  // digits
  std::uint64_t value = 0;
  if (digits.size() <= k_never_too_large) {
    for (const char c : digits) {
      if (!json::is_digit(c)) return std::nullopt;
      value = value * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return value;
  }
  for (const char c : digits) {
    if (!json::is_digit(c)) return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > k_max / 10 || (value == k_max / 10 && digit > k_max % 10)) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

std::optional<sequence> parse_u128(std::string_view digits) noexcept {
  if (digits.empty()) return std::nullopt;
  constexpr std::uint64_t k_half = 0xFFFFFFFF;
  std::uint64_t limbs[4] = {};  // 32 bits each, the lowest first, so that a carry shows
  for (const char c : digits) {
    if (!json::is_digit(c)) return std::nullopt;
    auto carry = static_cast<std::uint64_t>(c - '0');
    for (std::uint64_t& limb : limbs) {
      carry += limb * 10;
      limb = carry & k_half;
      carry >>= 32;
    }
    if (carry != 0) return std::nullopt;
  }
  return sequence{limbs[3] << 32 | limbs[2], limbs[1] << 32 | limbs[0]};
}

std::string to_decimal(sequence s) {
  if (s.epoch == 0) return std::to_string(s.number);
  constexpr std::uint64_t k_half = 0xFFFFFFFF;
  std::uint64_t limbs[4] = {s.epoch >> 32, s.epoch & k_half, s.number >> 32, s.number & k_half};
  std::string digits;
  while ((limbs[0] | limbs[1] | limbs[2] | limbs[3]) != 0) {
    std::uint64_t rest = 0;
    for (std::uint64_t& limb : limbs) {
      const std::uint64_t value = rest << 32 | limb;
      limb = value / 10;
      rest = value % 10;
    }
    digits += static_cast<char>('0' + rest);
  }
  return {digits.rbegin(), digits.rend()};
}

std::optional<sequence> parse_hex_u128(std::string_view digits) noexcept {
  if (digits.empty()) return std::nullopt;
  sequence value;
  for (const char c : digits) {
    const int digit = json::hex_value(c);
    if (digit < 0 || value.epoch >> 60 != 0) return std::nullopt;
    value = {value.epoch << 4 | value.number >> 60, value.number << 4 | static_cast<std::uint64_t>(digit)};
  }
  return value;
}

}  // namespace ratchet
