// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/shown_text.hpp"

#include <algorithm>

#include "core/utf8.hpp"

namespace ratchet {

namespace {

constexpr char k_hex[] = "0123456789abcdef";
constexpr unsigned k_delete = 0x7F;

constexpr unsigned byte_at(std::string_view text, std::size_t at) noexcept {
  return static_cast<unsigned char>(text[at]);
}

constexpr bool is_printable_ascii(char c) noexcept {
  return c >= ' ' && static_cast<unsigned char>(c) < k_delete;
}

/// Nothing is drawn for it, so that two ids with and without it look alike. Joiners are none of these: words
/// of some languages, and emoji, are written with them.
constexpr bool is_invisible(char32_t c) noexcept {
  return c == 0xAD || c == 0x200B || c == 0x2060 || c == 0xFEFF       // soft hyphen, spaces of no width
         || c == 0x115F || c == 0x1160 || c == 0x3164 || c == 0xFFA0  // fillers of Hangul
         || (c >= 0xE0000 && c <= 0xE007F);                           // tags
}

/// Of the characters outside ASCII.
constexpr bool is_harmful(char32_t c) noexcept {
  return (c >= 0x80 && c <= 0x9F)                      // C1: U+009B begins a sequence as ESC [ does
         || c == 0x061C || c == 0x200E || c == 0x200F  // marks of direction
         || (c >= 0x2028 && c <= 0x202E)               // line and paragraph separator, embeddings, overrides
         || (c >= 0x2066 && c <= 0x2069)               // isolates
         || is_invisible(c);
}

void append_byte(std::string& out, unsigned byte) {
  out += {'\\', 'x', k_hex[byte >> 4U], k_hex[byte & 0x0FU]};
}

void append_code_point(std::string& out, char32_t c) {
  out += "\\u{";
  bool begun = false;
  for (int shift = 20; shift >= 0; shift -= 4) {
    const unsigned digit = (c >> static_cast<unsigned>(shift)) & 0x0FU;
    begun = begun || digit != 0;
    if (begun) out += k_hex[digit];
  }
  out += '}';
}

void append_shown(std::string& out, std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto from = text.begin() + static_cast<std::ptrdiff_t>(at);
    const auto plain =
        static_cast<std::size_t>(std::find_if_not(from, text.end(), is_printable_ascii) - from);
    out.append(text, at, plain);
    at += plain;
    if (at == text.size()) return;
    const std::size_t length = utf8_length(text, at);
    if (length < 2) {  // C0, DEL, or no UTF-8
      append_byte(out, byte_at(text, at));
      ++at;
      continue;
    }
    if (harmful_length(text, at) > 0) {
      append_code_point(out, code_point(text.substr(at)));
    } else {
      out.append(text, at, length);
    }
    at += length;
  }
}

}  // namespace

std::size_t harmful_length(std::string_view text, std::size_t at) noexcept {
  const unsigned lead = byte_at(text, at);
  if (lead < 0x80) return lead < ' ' || lead == k_delete ? 1 : 0;
  const std::size_t length = utf8_length(text, at);
  return length > 1 && is_harmful(code_point(text.substr(at))) ? length : 0;
}

char32_t code_point(std::string_view text) noexcept {
  const unsigned lead = byte_at(text, 0);
  if (lead < 0x80) return lead;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  char32_t c = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) c = (c << 6U) | (byte_at(text, i) & 0x3FU);
  return c;
}

std::string shown_text(std::string_view line) {
  std::string out;
  append_shown(out, line);
  return out;
}

void append_line(std::string& out, std::string_view line) {
  append_shown(out, line);
  out += '\n';
}

}  // namespace ratchet
