// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ratchet::sniff {

/// What the bytes of a key or value are, by the bytes alone.
enum class byte_form : std::uint8_t {
  none,  ///< null
  empty,
  json_object,
  json_array,
  json_scalar,     ///< a number, a string in quotes, true, false or null
  json_in_string,  ///< JSON within a JSON string: encoded twice
  json_in_base64,  ///< in a JSON string, or alone
  json_lines,      ///< several JSON values, one behind the other
  number_8,        ///< 8 bytes that are no text: a big-endian number
  number_4,
  bytes_16,         ///< as a UUID in binary
  framed_json,      ///< JSON behind the frame of a schema registry
  framed_avro,      ///< most likely
  framed_protobuf,  ///< most likely
  framed_zlib,      ///< as AWS Glue's serializer compresses what follows
  gzip,
  utf16,
  text,
  bytes,
};

struct looked_at {
  byte_form form{byte_form::none};
  std::string_view json;  ///< of JSON, without what frames it
  std::string schema{};   ///< its id, where it is framed
};

/// Pure; borrows what it is given.
[[nodiscard]] looked_at look_at(const std::optional<std::string>& of);

/// For people, in the plural.
[[nodiscard]] const char* words_of(byte_form) noexcept;

/// Whether a key or a header is text for the decoder: UTF-8 without control characters.
[[nodiscard]] bool is_plain_text(std::string_view bytes) noexcept;

/// Whether the characters are an object or an array in JSON, and whether they are base64 of one.
[[nodiscard]] bool is_json_text(std::string_view characters);
[[nodiscard]] bool is_base64_of_json(std::string_view characters);

[[nodiscard]] constexpr bool is_json(byte_form form) noexcept {
  return form == byte_form::json_object || form == byte_form::json_array || form == byte_form::json_scalar ||
         form == byte_form::json_in_string || form == byte_form::json_in_base64 ||
         form == byte_form::framed_json;
}

}  // namespace ratchet::sniff
