// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/registry_frame.hpp"

#include "decode/event_id_text.hpp"
#include "decode/json_grammar.hpp"

namespace ratchet {
namespace {

constexpr std::size_t k_confluent = 5;
constexpr std::size_t k_apicurio = 9;
constexpr std::size_t k_glue = 18;

/// Whether a JSON document may begin like this.
bool begins_json(std::string_view text) noexcept {
  const std::size_t at = text.find_first_not_of(" \t\r\n");
  return at != std::string_view::npos &&
         std::string_view{"{[\"-0123456789tfn"}.find(text[at]) != std::string_view::npos;
}

std::uint64_t big_endian(std::string_view bytes) noexcept {
  std::uint64_t value = 0;
  for (const char c : bytes) value = value << 8U | static_cast<unsigned char>(c);
  return value;
}

/// AWS Glue's second byte.
constexpr char k_glue_plain = 0;
constexpr char k_glue_zlib = 5;

/// The frame's size; 0: it is none. An id of 8 bytes begins with zeros, where one of 4 counts from 1.
std::size_t header_of(std::string_view bytes) noexcept {
  if (bytes.size() > k_glue && bytes[0] == 3 && (bytes[1] == k_glue_plain || bytes[1] == k_glue_zlib))
    return k_glue;
  if (bytes.size() <= k_confluent || bytes[0] != 0) return 0;
  const bool is_wide = bytes.size() > k_apicurio && big_endian(bytes.substr(1, 4)) == 0 &&
                       big_endian(bytes.substr(5, 4)) != 0 && !begins_json(bytes.substr(k_confluent));
  return is_wide ? k_apicurio : k_confluent;
}

/// A base 128 number; `at` is moved behind it. None: it does not end, or is too long.
std::optional<std::uint64_t> read_varint(std::string_view bytes, std::size_t& at) noexcept {
  std::uint64_t value = 0;
  for (unsigned shift = 0; at < bytes.size() && shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if ((byte & 0x80U) == 0) return value;
  }
  return std::nullopt;
}

/// Whether the bytes are fields of a message up to their end, as Protobuf writes them.
bool is_message(std::string_view bytes, std::size_t at) noexcept {
  while (at < bytes.size()) {
    const auto tag = read_varint(bytes, at);
    if (!tag || *tag >> 3U == 0) return false;
    std::uint64_t size = 0;
    switch (*tag & 7U) {
      case 0:
        if (!read_varint(bytes, at)) return false;
        break;
      case 1:
        size = 8;
        break;
      case 2: {
        const auto length = read_varint(bytes, at);
        if (!length) return false;
        size = *length;
        break;
      }
      case 5:
        size = 4;
        break;
      default:
        return false;
    }
    if (size > bytes.size() - at) return false;
    at += static_cast<std::size_t>(size);
  }
  return true;
}

/// Confluent writes the way to the message's type first: how many indexes, and each of them; 0 is the first.
bool is_protobuf(std::string_view body) noexcept {
  std::size_t at = 0;
  const auto count = read_varint(body, at);
  if (!count || *count % 2 != 0 || *count > 20) return false;
  for (std::uint64_t i = 0; i < *count / 2; ++i) {
    if (!read_varint(body, at)) return false;
  }
  return at < body.size() && is_message(body, at);
}

bool is_compressed(std::string_view bytes, std::size_t header) noexcept {
  return header == k_glue && bytes[1] == k_glue_zlib;
}

}  // namespace

std::optional<std::size_t> json_behind_frame(std::string_view bytes) noexcept {
  const std::size_t header = header_of(bytes);
  if (header == 0 || is_compressed(bytes, header) || !begins_json(bytes.substr(header))) return std::nullopt;
  return header;
}

std::optional<framed_value> read_frame(std::string_view bytes) {
  const std::size_t header = header_of(bytes);
  if (header == 0) return std::nullopt;
  const std::string_view body = bytes.substr(header);
  framed_value found{.header = header, .kind = framed_kind::avro, .schema = {}};
  if (header == k_glue) {
    found.schema = to_text(event_id{big_endian(bytes.substr(2, 8)), big_endian(bytes.substr(10, 8))});
  } else {
    found.schema = std::to_string(big_endian(bytes.substr(1, header - 1)));
  }
  if (header == k_glue ? is_message(body, 0) : is_protobuf(body)) found.kind = framed_kind::protobuf;
  if (body.front() == '{' || body.front() == '[') found.kind = framed_kind::json;
  if (is_compressed(bytes, header)) found.kind = framed_kind::zlib;
  return found;
}

malformed_reason take_off_frame(std::string_view& bytes) {
  const auto header = json_behind_frame(bytes);
  const bool may_be_json =
      header && (bytes[*header] == '{' || bytes[*header] == '[' ||
                 json::check_json(bytes.substr(*header)).reason == malformed_reason::none);
  if (may_be_json) {
    bytes.remove_prefix(*header);
    return malformed_reason::none;
  }
  const auto framed = read_frame(bytes);
  if (!framed) return malformed_reason::none;  // whoever reads it says what is wrong
  if (framed->kind == framed_kind::zlib) return malformed_reason::zlib;
  return framed->kind == framed_kind::protobuf ? malformed_reason::protobuf : malformed_reason::avro;
}

}  // namespace ratchet
