// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/shown_id.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>

#include "core/shown_text.hpp"
#include "core/typed_command.hpp"
#include "core/utf8.hpp"

namespace ratchet {

namespace {

constexpr std::size_t k_digits_of_character = 6;

/// The spaces of Unicode outside ASCII. Two of them side by side look like the end of a column.
constexpr bool is_wide_space(char32_t c) noexcept {
  return c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

/// Of the space at `at`: whether it could pass for the end of the id.
bool looks_like_an_end(std::string_view id, std::size_t at) noexcept {
  return at == 0 || at + 1 == id.size() || id[at - 1] == ' ';
}

/// The bytes at `at` that are spelled out; 0: the character stands as it is.
std::size_t spelled_length(std::string_view id, std::size_t at) noexcept {
  if (id[at] == ' ') return looks_like_an_end(id, at) ? 1 : 0;
  if (const std::size_t harmful = harmful_length(id, at); harmful > 0) return harmful;
  const std::size_t length = utf8_length(id, at);
  if (length == 0) return 1;
  return length > 1 && is_wide_space(code_point(id.substr(at))) ? length : 0;
}

std::optional<std::uint32_t> hex_number(std::string_view digits) noexcept {
  constexpr int k_base = 16;
  std::uint32_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, number, k_base);
  return read.ec == std::errc{} && read.ptr == end ? std::optional{number} : std::nullopt;
}

/// What stands for the text from `at` on, which begins with a backslash, and how long that is.
struct escape {
  std::string bytes;
  std::size_t length{1};
};

escape escape_at(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at + 1);
  if (rest.starts_with('\\')) return {"\\", 2};
  if (rest.starts_with('x') && rest.size() > 2) {
    if (const auto byte = hex_number(rest.substr(1, 2))) return {{static_cast<char>(*byte)}, 4};
  }
  const std::size_t end = rest.find('}');
  if (rest.starts_with("u{") && end != std::string_view::npos && end - 2 <= k_digits_of_character) {
    const auto number = hex_number(rest.substr(2, end - 2));
    std::string character;
    if (number) append_utf8(character, *number);
    if (!character.empty() && is_utf8(character)) return {std::move(character), end + 2};
  }
  return {"\\", 1};
}

}  // namespace

std::string given_id(std::string_view text) {
  std::string id;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '\\') {
      id += text[at++];
      continue;
    }
    const escape e = escape_at(text, at);
    id += e.bytes;
    at += e.length;
  }
  return id;
}

std::string shown_id(std::string_view id) {
  std::string out;
  bool spells = given_id(id) != id;
  for (std::size_t at = 0; at < id.size();) {
    const std::size_t spelled = spelled_length(id, at);
    const std::size_t length = spelled > 0 ? spelled : utf8_length(id, at);
    spells = spells || spelled > 0;
    if (id[at] == '\\') {
      out += "\\\\";
    } else if (spelled > 0) {
      append_spelled(out, id.substr(at, spelled));
    } else {
      out.append(id, at, length);
    }
    at += length;
  }
  return spells ? out : std::string{id};
}

std::string typed_id(std::string_view id) {
  return typed_shown(shown_id(id));
}

std::string typed_shown(std::string shown) {
  if (shown.starts_with('-')) shown.replace(0, 1, "\\x2d");
  return shell_word(shown);
}

}  // namespace ratchet
