// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/json_scan.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/utf8.hpp"

namespace ratchet::json_scan {

namespace {

/// What ends a number or a word, and what a container is made of.
enum class sign : std::uint8_t { other, space, quote, opens, closes, comma };

constexpr std::array<sign, 256> k_signs = [] {
  std::array<sign, 256> out{};
  for (const char c : k_white_space) out[static_cast<unsigned char>(c)] = sign::space;
  out['"'] = sign::quote;
  out['{'] = out['['] = sign::opens;
  out['}'] = out[']'] = sign::closes;
  out[','] = sign::comma;
  return out;
}();

[[nodiscard]] sign sign_of(char c) noexcept {
  return k_signs[static_cast<unsigned char>(c)];
}

[[nodiscard]] std::uint32_t hex4(std::string_view digits) noexcept {
  std::uint32_t value = 0;
  for (const char c : digits.substr(0, 4)) {
    const auto digit = static_cast<std::uint32_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    value = value * 16 + digit;
  }
  return value;
}

/// Reads the escape at `at` (behind the backslash) and returns the position behind it. A lone surrogate is
/// kept as the three bytes of its code point: not valid UTF-8, but only compared with others made the same
/// way.
[[nodiscard]] std::size_t append_escape(std::string& out, std::string_view spelt, std::size_t at) {
  constexpr std::string_view k_short = "bfnrt";
  constexpr std::string_view k_meaning = "\b\f\n\r\t";
  const char c = spelt[at];
  if (c != 'u') {
    const std::size_t known = k_short.find(c);
    out.push_back(known == std::string_view::npos ? c : k_meaning[known]);
    return at + 1;
  }
  std::uint32_t code = hex4(spelt.substr(at + 1));
  at += 5;
  if (code >= 0xD800 && code < 0xDC00 && spelt.substr(at, 2) == "\\u") {
    const std::uint32_t low = hex4(spelt.substr(at + 2));
    if (low >= 0xDC00 && low < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
      at += 6;
    }
  }
  append_utf8(out, code);
  return at;
}

}  // namespace

std::string_view trimmed(std::string_view text) noexcept {
  const std::size_t begin = text.find_first_not_of(k_white_space);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(k_white_space) - begin + 1);
}

std::size_t end_of_string(std::string_view json, std::size_t at) noexcept {
  for (++at; at < json.size() && json[at] != '"'; ++at) {  // not covered: valid JSON ends its strings
    if (json[at] == '\\') ++at;
  }
  return at + 1;
}

std::size_t skip_space(std::string_view json, std::size_t at) noexcept {
  while (at < json.size() && sign_of(json[at]) == sign::space) ++at;
  return at;
}

long_values::long_values(std::string_view json) {
  if (json.size() < k_long) return;
  std::vector<std::size_t> open;  // indexes into extents_
  for (std::size_t at = 0; at < json.size();) {
    const sign what = sign_of(json[at]);
    if (what == sign::quote) {
      at = end_of_string(json, at);
      continue;
    }
    const char* here = json.data() + at++;
    if (what == sign::opens) {
      open.push_back(extents_.size());
      extents_.push_back({here, nullptr});
    } else if (what == sign::closes) {
      if (open.empty()) return;  // not covered: valid JSON opens what it closes
      extent& closed = extents_[open.back()];
      closed.end = here + 1;
      // All that is inside is shorter still and has gone already, so it is the last one.
      if (closed.end - closed.begin < static_cast<std::ptrdiff_t>(k_long)) extents_.pop_back();
      open.pop_back();
    }
  }
}

const char* long_values::end_of(const char* begin) const noexcept {
  if (extents_.empty()) return nullptr;
  const auto at = std::lower_bound(extents_.begin(), extents_.end(), begin,
                                   [](const extent& e, const char* p) { return e.begin < p; });
  return at == extents_.end() || at->begin != begin ? nullptr : at->end;
}

std::size_t end_of_value(std::string_view json, std::size_t at, const long_values& known) noexcept {
  const sign first = sign_of(json[at]);
  if (first == sign::quote) return end_of_string(json, at);
  if (first != sign::opens) {
    while (at < json.size() && sign_of(json[at]) == sign::other) ++at;
    return at;
  }
  if (const char* end = known.end_of(json.data() + at)) return static_cast<std::size_t>(end - json.data());
  std::size_t depth = 0;
  while (at < json.size()) {  // not covered: valid JSON closes what it opens
    const sign what = sign_of(json[at]);
    if (what == sign::quote) {
      at = end_of_string(json, at);
      continue;
    }
    if (what == sign::opens) ++depth;
    if (what == sign::closes && --depth == 0) return at + 1;
    ++at;
  }
  return json.size();  // not covered: see the loop
}

std::string unescaped(std::string_view spelt) {
  std::string out;
  for (std::size_t at = 1; at + 1 < spelt.size();) {
    if (spelt[at] == '\\') {
      at = append_escape(out, spelt, at + 1);
    } else {
      out.push_back(spelt[at++]);
    }
  }
  return out;
}

}  // namespace ratchet::json_scan
