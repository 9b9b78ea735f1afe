// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/key_text.hpp"

#include <cstring>
#include <string>

#include "decode/event_id_text.hpp"
#include "decode/json_grammar.hpp"
#include "decode/json_scan.hpp"
#include "decode/json_text.hpp"
#include "decode/registry_frame.hpp"

namespace ratchet {
namespace {

constexpr std::size_t k_uuid_bytes = 16;
constexpr std::size_t k_uuid_characters = 36;

std::string_view keep(const std::string& text, text_arena& texts) {
  char* const room = texts.room(text.size());
  std::memcpy(room, text.data(), text.size());
  texts.keep(room, text.size());
  return {room, text.size()};
}

std::uint64_t big_endian(std::string_view bytes) noexcept {
  std::uint64_t value = 0;
  for (const char c : bytes) value = value << 8U | static_cast<unsigned char>(c);
  return value;
}

key_text invalid(std::uint64_t offset = 0) noexcept {
  return {{}, malformed_reason::key_invalid, offset};
}

key_text read_integer(std::string_view key, std::size_t size, text_arena& texts) {
  if (key.size() != size) return invalid();
  const std::uint64_t bits = big_endian(key);
  const auto value = size == sizeof(std::int32_t)
                         ? std::int64_t{static_cast<std::int32_t>(static_cast<std::uint32_t>(bits))}
                         : static_cast<std::int64_t>(bits);
  return {keep(std::to_string(value), texts)};
}

/// Also as Kafka's own serializer writes it, which makes it a text; in lower case, as one thing has one name.
key_text read_uuid(std::string_view key, text_arena& texts) {
  if (key.size() == k_uuid_bytes)
    return {keep(to_text(event_id{big_endian(key.substr(0, 8)), big_endian(key.substr(8))}), texts)};
  if (key.size() != k_uuid_characters) return invalid();
  std::string text{key};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (is_dash ? text[i] != '-' : json::hex_value(text[i]) < 0) return invalid(i);
    if (text[i] >= 'A' && text[i] <= 'F') text[i] = static_cast<char>(text[i] - 'A' + 'a');
  }
  return {keep(text, texts)};
}

std::string_view without_space(std::string_view text) noexcept {
  constexpr std::string_view k_space{" \t\r\n"};
  const std::size_t first = text.find_first_not_of(k_space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(k_space) - first + 1);
}

/// What a JSON string or number says. Objects and arrays as they stand, where they may be.
key_text read_json(std::string_view key, std::size_t header, bool takes_all, text_arena& texts) {
  const std::string_view body = key.substr(header);
  const json::fault fault = json::check_json(body);
  if (fault.reason != malformed_reason::none) return invalid(header + fault.offset);
  const std::string_view token = without_space(body);
  const auto offset = static_cast<std::uint64_t>(token.data() - key.data());
  const bool is_number = token.front() == '-' || json::is_digit(token.front());
  if (is_number || (takes_all && (token.front() == '{' || token.front() == '['))) return {token};
  if (token.front() != '"') return invalid(offset);
  const std::string_view quoted = token.substr(1, token.size() - 2);
  char* const room = texts.room(quoted.size());
  const json::unescaped plain = json::unescape(quoted, room);
  if (plain.lone_surrogate != nullptr) {
    return {
        {}, malformed_reason::lone_surrogate, static_cast<std::uint64_t>(plain.lone_surrogate - key.data())};
  }
  texts.keep(room, plain.size);
  return {{room, plain.size}};
}

constexpr std::uint64_t k_each = 0x0101010101010101;

/// The highest bit of some byte is set where one of the eight is a control character.
constexpr std::uint64_t has_control_in(std::uint64_t eight) noexcept {
  const std::uint64_t apart = eight ^ 0x7F * k_each;
  return ((eight - 0x20 * k_each) & ~eight) | ((apart - k_each) & ~apart);
}

/// Whether `look` sets the highest bit of some byte.
template <class Look>
bool any_of_eight(std::string_view bytes, Look look) noexcept {
  std::uint64_t any = 0;
  std::uint64_t eight = 0;
  std::size_t at = 0;
  for (; at + sizeof(eight) <= bytes.size(); at += sizeof(eight)) {
    std::memcpy(&eight, bytes.data() + at, sizeof(eight));
    any |= look(eight);
  }
  eight = 0x20 * k_each;
  if (at < bytes.size()) std::memcpy(&eight, bytes.data() + at, bytes.size() - at);
  return ((any | look(eight)) & 0x80 * k_each) != 0;
}

/// As long as what serializers write for an int or a float, a long or a double, and a UUID.
bool is_as_long_as_a_number(std::string_view key) noexcept {
  return key.size() == 4 || key.size() == 8 || key.size() == k_uuid_bytes;
}

/// A number of 8 bytes looks framed where its last three are digits: such a key has to be a string.
bool may_be_number(std::string_view key, std::size_t header) noexcept {
  return key.size() == sizeof(std::int64_t) && key[header] != '"';
}

key_text read_unnamed(std::string_view key, text_arena& texts) {
  const auto header = json_behind_frame(key);
  if (header && !may_be_number(key, *header)) {
    key_text read = read_json(key, *header, true, texts);
    if (read.reason != malformed_reason::key_invalid) return read;
  }
  const bool is_binary =
      has_control(key) || (is_as_long_as_a_number(key) && json::first_bad_utf8(key) != key.size());
  if (is_binary) return {{}, malformed_reason::key_binary, 0};
  return {key};
}

}  // namespace

bool has_control(std::string_view bytes) noexcept {
  return any_of_eight(bytes, &has_control_in);
}

bool is_ascii_text(std::string_view bytes) noexcept {
  return !any_of_eight(bytes, [](std::uint64_t eight) { return eight | has_control_in(eight); });
}

key_text read_key(key_kind kind, std::string_view key, text_arena& texts) {
  switch (kind) {
    case key_kind::automatic:
      break;
    case key_kind::text:
      return {key};
    case key_kind::json:
      return read_json(key, json_behind_frame(key).value_or(0), false, texts);
    case key_kind::i32:
      return read_integer(key, sizeof(std::int32_t), texts);
    case key_kind::i64:
      return read_integer(key, sizeof(std::int64_t), texts);
    case key_kind::uuid:
      return read_uuid(key, texts);
  }
  return read_unnamed(key, texts);
}

}  // namespace ratchet
