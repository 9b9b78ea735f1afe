// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/json_text.hpp"

#include <cstdint>
#include <cstring>

#include "decode/json_scan.hpp"

namespace ratchet::json {
namespace {

std::uint32_t four_hex(const char* p) noexcept {
  std::uint32_t unit = 0;
  for (int i = 0; i < 4; ++i) unit = unit << 4 | static_cast<std::uint32_t>(hex_value(p[i]));
  return unit;
}

char* write_utf8(std::uint32_t c, char* out) noexcept {
  const auto put = [&out](std::uint32_t byte) { *out++ = static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6);
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3F));
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  }
  return out;
}

/// Reads a \u escape (two of them for a surrogate pair), p at its backslash. False: it is a lone surrogate.
bool read_unicode(const char*& p, const char* end, std::uint32_t& c) noexcept {
  c = four_hex(p + 2);
  if (c < 0xD800 || c > 0xDFFF) {
    p += 6;
    return true;
  }
  if (c > 0xDBFF || end - p < 12 || p[6] != '\\' || p[7] != 'u') return false;
  const std::uint32_t low = four_hex(p + 8);
  if (low < 0xDC00 || low > 0xDFFF) return false;
  c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
  p += 12;
  return true;
}

char short_escape(char c) noexcept {
  switch (c) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return c;  // quote, backslash and slash stand for themselves
  }
}

}  // namespace

unescaped unescape(std::string_view text, char* out) noexcept {
  const char* p = text.data();
  const char* const end = p + text.size();
  char* const start = out;
  while (p != end) {
    const void* next = std::memchr(p, '\\', static_cast<std::size_t>(end - p));
    const char* const stop = next != nullptr ? static_cast<const char*>(next) : end;
    std::memcpy(out, p, static_cast<std::size_t>(stop - p));
    out += stop - p;
    p = stop;
    if (p == end) break;
    if (p[1] != 'u') {
      *out++ = short_escape(p[1]);
      p += 2;
      continue;
    }
    std::uint32_t c = 0;
    if (!read_unicode(p, end, c)) return {static_cast<std::size_t>(out - start), p};
    out = write_utf8(c, out);
  }
  return {static_cast<std::size_t>(out - start), nullptr};
}

}  // namespace ratchet::json
