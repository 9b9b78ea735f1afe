// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ratchet {

/// True where `text` is UTF-8 to the letter (RFC 3629, section 4): no overlong forms, no surrogates, nothing
/// above U+10FFFF.
[[nodiscard]] constexpr bool is_utf8(std::string_view text) noexcept {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  for (std::size_t at = 0; at < text.size();) {
    const unsigned first = byte(at);
    if (first < 0x80) {
      ++at;
      continue;
    }
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() - at < length) return false;
    const unsigned second = byte(at + 1);
    const unsigned least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    const unsigned most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (second < least || second > most) return false;
    for (std::size_t i = 2; i < length; ++i) {
      if ((byte(at + i) & 0xC0U) != 0x80U) return false;
    }
    at += length;
  }
  return true;
}

/// The length of the character at `at`, or 0 where the bytes there are no UTF-8.
[[nodiscard]] constexpr std::size_t utf8_length(std::string_view text, std::size_t at) noexcept {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t length = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  return text.size() - at >= length && is_utf8(text.substr(at, length)) ? length : 0;
}

/// Appends the bytes of a code point up to U+10FFFF. Those of a surrogate are no UTF-8.
inline void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0U | (code >> 6U));
    put(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    put(0xE0U | (code >> 12U));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  } else {
    put(0xF0U | (code >> 18U));
    put(0x80U | ((code >> 12U) & 0x3FU));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  }
}

}  // namespace ratchet
