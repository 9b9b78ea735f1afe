// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/// The lexical parts of RFC 8259 over a buffer without padding: nothing here reads at or behind `end`.
/// Every scanner returns true with `p` behind what it read, or false with `p` at the first byte that no valid
/// document can have there (`end` where the document ends too early).
namespace ratchet::json {

[[nodiscard]] constexpr bool is_space(char c) noexcept {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}
[[nodiscard]] constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
/// The value of a hexadecimal digit in either case, or -1.
[[nodiscard]] constexpr int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

[[gnu::always_inline]] inline void skip_space(const char*& p, const char* end) noexcept {
  while (p != end && is_space(*p)) ++p;
}

/// What a string holds besides plain ASCII.
struct string_traits {
  bool escaped{false};
  /// Not 0 if a byte above 0x7F was met. It may also come from bytes shortly behind the string.
  unsigned high{0};
};

/// Moves p to the next quote, backslash or control character, or to end.
/// 16 bytes at a time; what is left at the buffer's end is read with one load that reaches back before p.
[[gnu::always_inline]] inline void skip_plain([[maybe_unused]] const char* begin, const char*& p,
                                              const char* end, unsigned& high) noexcept {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i last_control = _mm_set1_epi8(0x1F);
  const auto special = [&](__m128i x) noexcept {
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(x, last_control), x);
    const __m128i either = _mm_or_si128(_mm_cmpeq_epi8(x, quote), _mm_cmpeq_epi8(x, backslash));
    return static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(either, control)));
  };
  while (end - p >= 16) {
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const unsigned mask = special(x);
    high |= static_cast<unsigned>(_mm_movemask_epi8(x));
    if (mask != 0) {
      p += std::countr_zero(mask);
      return;
    }
    p += 16;
  }
  if (p != end && end - begin >= 16) {
    const auto before = static_cast<unsigned>(16 - (end - p));
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(end - 16));
    const unsigned mask = special(x) >> before;
    high |= static_cast<unsigned>(_mm_movemask_epi8(x));
    p = mask != 0 ? p + std::countr_zero(mask) : end;
    return;
  }
#endif
  for (; p != end; ++p) {
    const auto c = static_cast<unsigned char>(*p);
    if (c == '"' || c == '\\' || c < 0x20) return;
    high |= c & 0x80U;
  }
}

/// Whether the string whose first character is at p is plain ASCII and ends after `size` (< 16) characters.
/// False also where that cannot be told with one load of 16 bytes. A right guess of a size spares the wait
/// for the scan's result: the processor goes on behind the string while it is still being checked.
[[nodiscard, gnu::always_inline]] inline bool is_plain_of_size(const char* p, const char* end,
                                                               unsigned size) noexcept {
#if defined(__SSE2__)
  if (end - p < 16) return false;
  const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(0x1F)), x);
  const __m128i quote = _mm_cmpeq_epi8(x, _mm_set1_epi8('"'));
  const __m128i other = _mm_or_si128(_mm_or_si128(control, x), _mm_cmpeq_epi8(x, _mm_set1_epi8('\\')));
  const auto quotes = static_cast<unsigned>(_mm_movemask_epi8(quote));
  const auto others = static_cast<unsigned>(_mm_movemask_epi8(other));  // x itself: bytes above 0x7F
  const unsigned upto = (2U << size) - 1;
  return (quotes & upto) == 1U << size && (others & upto) == 0;
#else
  static_cast<void>(p);
  static_cast<void>(end);
  static_cast<void>(size);
  return false;
#endif
}

/// Reads an escape, p at its backslash. A surrogate may stand alone here: that is for those who decode it.
[[nodiscard]] inline bool scan_escape(const char*& p, const char* end) noexcept {
  if (++p == end) return false;
  switch (*p) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
      ++p;
      return true;
    case 'u':
      break;
    default:
      return false;
  }
  ++p;
  for (int i = 0; i < 4; ++i, ++p) {
    if (p == end || hex_value(*p) < 0) return false;
  }
  return true;
}

/// Reads a string, p at its opening quote. Bytes above 0x7F are let pass and flagged.
[[nodiscard, gnu::always_inline]] inline bool scan_string(const char* begin, const char*& p, const char* end,
                                                          string_traits& traits) noexcept {
  ++p;
  for (;;) {
    skip_plain(begin, p, end, traits.high);
    if (p == end) return false;
    if (*p == '"') {
      ++p;
      return true;
    }
    if (*p != '\\') return false;
    traits.escaped = true;
    if (!scan_escape(p, end)) return false;
  }
}

/// Moves p to the next quote or bracket of any kind; false: there is none, and p is at the end.
[[gnu::always_inline]] inline bool skip_to_mark(const char*& p, const char* end) noexcept {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i lower = _mm_set1_epi8(0x20);  // with it both kinds of brackets are braces
  const __m128i opens = _mm_set1_epi8('{');
  const __m128i closes = _mm_set1_epi8('}');
  while (end - p >= 16) {
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i braces = _mm_or_si128(x, lower);
    const __m128i either = _mm_or_si128(_mm_cmpeq_epi8(braces, opens), _mm_cmpeq_epi8(braces, closes));
    const auto mask =
        static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(either, _mm_cmpeq_epi8(x, quote))));
    if (mask != 0) {
      p += std::countr_zero(mask);
      return true;
    }
    p += 16;
  }
#endif
  for (; p != end; ++p) {
    if (*p == '"' || (*p | 0x20) == '{' || (*p | 0x20) == '}') return true;
  }
  return false;
}

/// Moves p behind the digits that stand there, 16 at a time: their number is hard to foresee for a branch.
[[gnu::always_inline]] inline void skip_digits(const char*& p, const char* end) noexcept {
#if defined(__SSE2__)
  const __m128i nine = _mm_set1_epi8(9);
  while (end - p >= 16) {
    const __m128i x = _mm_sub_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)), _mm_set1_epi8('0'));
    const auto digits = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(x, nine), x)));
    p += std::countr_one(digits);
    if (digits != 0xFFFF) return;
  }
#endif
  while (p != end && is_digit(*p)) ++p;
}

/// Reads a number, p at its first byte ('-' or a digit). What may follow it is checked by the caller.
[[nodiscard]] inline bool scan_number(const char*& p, const char* end) noexcept {
  const auto digits = [&]() noexcept {
    const char* const first = p;
    skip_digits(p, end);
    return p != first;
  };
  if (*p == '-') ++p;
  if (p != end && *p == '0') {
    ++p;
  } else if (!digits()) {
    return false;
  }
  if (p != end && *p == '.') {
    ++p;
    if (!digits()) return false;
  }
  if (p != end && (*p == 'e' || *p == 'E')) {
    ++p;
    if (p != end && (*p == '+' || *p == '-')) ++p;
    if (!digits()) return false;
  }
  return true;
}

/// Reads `true`, `false` or `null`, p at its first byte.
[[nodiscard]] inline bool scan_literal(const char*& p, const char* end, const char* word) noexcept {
  for (; *word != '\0'; ++word, ++p) {
    if (p == end || *p != *word) return false;
  }
  return true;
}

}  // namespace ratchet::json
