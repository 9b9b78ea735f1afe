// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/tables.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/utf8.hpp"

namespace ratchet {

namespace {

constexpr std::size_t k_number_bytes = 8;

/// Digits without sign and leading zeros, so that a number is spelt in one way.
std::optional<std::uint64_t> parse_number(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || at != end) return std::nullopt;
  return number;
}

bool has_key_size(std::string_view key) {
  return !key.empty() && key.size() <= k_most_table_key_bytes;
}

}  // namespace

const char* name_of(key_encoding value) noexcept {
  switch (value) {
    case key_encoding::text:
      return "text";
    case key_encoding::bytes:
      return "bytes";
    case key_encoding::u64:
      return "u64";
  }
  return "?";
}

const char* shape_of(key_encoding value) noexcept {
  switch (value) {
    case key_encoding::text:
      return "UTF-8 of 1 to 1024 bytes";
    case key_encoding::bytes:
      return "1 to 1024 bytes";
    case key_encoding::u64:
      return "a whole number below 2^64, in decimal digits without leading zeros";
  }
  return "?";
}

std::optional<key_encoding> key_encoding_named(std::string_view name) noexcept {
  for (const key_encoding e : {key_encoding::text, key_encoding::bytes, key_encoding::u64}) {
    if (name == name_of(e)) return e;
  }
  return std::nullopt;
}

std::optional<std::string> encode_table_key(key_encoding encoding, std::string_view key) {
  if (encoding != key_encoding::u64) {
    const bool fits = has_key_size(key) && (encoding == key_encoding::bytes || is_utf8(key));
    return fits ? std::optional{std::string{key}} : std::nullopt;
  }
  const auto number = parse_number(key);
  if (!number) return std::nullopt;
  std::string stored;
  for (std::size_t i = k_number_bytes; i-- > 0;) stored.push_back(static_cast<char>(*number >> (i * 8)));
  return stored;
}

std::optional<std::string> decode_table_key(key_encoding encoding, std::string_view stored) {
  if (encoding != key_encoding::u64) return encode_table_key(encoding, stored);
  if (stored.size() != k_number_bytes) return std::nullopt;
  std::uint64_t number = 0;
  for (const char c : stored) number = number << 8U | static_cast<unsigned char>(c);
  return std::to_string(number);
}

const table_config* find_table(std::span<const table_config> tables, std::string_view name) {
  const auto at =
      std::find_if(tables.begin(), tables.end(), [&](const table_config& t) { return t.name == name; });
  return at == tables.end() ? nullptr : &*at;
}

std::vector<table_config> tables_in(std::span<const std::pair<std::string, std::string>> meaning) {
  std::vector<table_config> out;
  for (const auto& [key, value] : meaning) {
    const auto encoding = key.starts_with(k_table_line) ? key_encoding_named(value) : std::nullopt;
    if (encoding) out.push_back({key.substr(k_table_line.size()), *encoding});
  }
  return out;
}

void add_changes(std::vector<table_change>& to, std::uint32_t aggregate, std::uint32_t at,
                 std::vector<owned_table_change>&& changes) {
  for (owned_table_change& c : changes)
    to.push_back({aggregate, at, std::move(c.table), std::move(c.key), std::move(c.value)});
}

}  // namespace ratchet
