// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/shown_text.hpp"

#include <algorithm>
#include <iterator>

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

struct code_points {
  char32_t first;
  char32_t last;
};

/// Of those outside ASCII, in ascending order. Most show nothing at all: Unicode's default ignorable ones.
constexpr code_points k_harmful[] = {
    {0x80, 0x9F},        // C1: U+009B begins a sequence as ESC [ does
    {0xAD, 0xAD},        // soft hyphen
    {0x034F, 0x034F},    // grapheme joiner
    {0x061C, 0x061C},    // mark of direction
    {0x115F, 0x1160},    // Hangul fillers
    {0x17B4, 0x17B5},    // vowels without a shape
    {0x180B, 0x180F},    // Mongolian selectors
    {0x200B, 0x200F},    // zero width; marks of direction
    {0x2028, 0x202E},    // line and paragraph separator, embeddings, overrides
    {0x2060, 0x206F},    // word joiner, invisible operators, isolates
    {0x3164, 0x3164},    // Hangul filler
    {0xFE00, 0xFE0F},    // variation selectors
    {0xFEFF, 0xFEFF},    // byte order mark
    {0xFFA0, 0xFFA0},    // Hangul filler
    {0xFFF0, 0xFFFB},    // reserved; annotations
    {0x1BCA0, 0x1BCA3},  // controls of shorthand
    {0x1D173, 0x1D17A},  // controls of music
    {0xE0000, 0xE0FFF},  // tags, more variation selectors
};

constexpr bool is_harmful(char32_t c) noexcept {
  const auto* const at = std::find_if(std::begin(k_harmful), std::end(k_harmful),
                                      [c](const code_points& some) { return c <= some.last; });
  return at != std::end(k_harmful) && c >= at->first;
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
    const std::string_view one = text.substr(at, std::max<std::size_t>(length, 1));
    if (length < 2 || harmful_length(text, at) > 0) {  // 0: it is no UTF-8; 1: C0 or DEL
      append_spelled(out, one);
    } else {
      out += one;
    }
    at += one.size();
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

void append_spelled(std::string& out, std::string_view character) {
  character.size() == 1 ? append_byte(out, byte_at(character, 0))
                        : append_code_point(out, code_point(character));
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
