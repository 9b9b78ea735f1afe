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
  json_scalar,  ///< a number, a string in quotes, true, false or null
  json_lines,   ///< several JSON values, one behind the other
  number_8,     ///< 8 bytes that are no text: a big-endian number
  number_4,
  bytes_16,      ///< as a UUID in binary
  framed_json,   ///< as Confluent's serializers frame it, before JSON
  framed_bytes,  ///< the same before Avro, Protobuf, or what else the registry says
  gzip,
  utf16,
  text,
  bytes,
};

struct looked_at {
  byte_form form{byte_form::none};
  std::string_view json;                   ///< of JSON, without what frames it
  std::optional<std::uint32_t> schema_id;  ///< where it is framed
};

/// Pure; borrows the bytes.
[[nodiscard]] looked_at look_at(const std::optional<std::string>& bytes) noexcept;

/// For people, in the plural.
[[nodiscard]] const char* words_of(byte_form) noexcept;

[[nodiscard]] constexpr bool is_json(byte_form form) noexcept {
  return form == byte_form::json_object || form == byte_form::json_array || form == byte_form::json_scalar ||
         form == byte_form::framed_json;
}

}  // namespace ratchet::sniff
