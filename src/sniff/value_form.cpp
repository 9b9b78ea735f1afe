// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sniff/value_form.hpp"

#include <algorithm>

#include "core/json_scan.hpp"
#include "core/utf8.hpp"
#include "decode/base64_text.hpp"
#include "decode/json_grammar.hpp"
#include "decode/key_text.hpp"
#include "decode/registry_frame.hpp"

namespace ratchet::sniff {

namespace {

bool is_valid_json(std::string_view text) {
  return json::check_json(text).reason == malformed_reason::none;
}

byte_form form_of_json(std::string_view text) {
  const char first = json_scan::trimmed(text).front();
  if (first == '{') return byte_form::json_object;
  if (first == '[') return byte_form::json_array;
  if (first != '"') return byte_form::json_scalar;
  const std::string inside = json_scan::unescaped(json_scan::trimmed(text));
  if (is_json_text(inside)) return byte_form::json_in_string;
  return is_base64_of_json(inside) ? byte_form::json_in_base64 : byte_form::json_scalar;
}

/// Whether each line of several is JSON.
bool are_json_lines(std::string_view text) {
  std::size_t lines = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = json_scan::trimmed(text.substr(0, end));
    if (!line.empty() && !is_valid_json(line)) return false;
    if (!line.empty()) ++lines;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines > 1;
}

bool is_text(std::string_view bytes) noexcept {
  const auto is_control = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r';
  };
  return is_utf8(bytes) && std::none_of(bytes.begin(), bytes.end(), is_control);
}

bool has_every_other_zero(std::string_view bytes) noexcept {
  constexpr std::size_t k_looked_at = 16;
  if (bytes.size() < 4 || bytes.size() % 2 != 0) return false;
  std::size_t zeros[2] = {};
  const std::size_t size = std::min(bytes.size(), k_looked_at);
  for (std::size_t i = 0; i < size; ++i) zeros[i % 2] += bytes[i] == '\0' ? 1U : 0U;
  return std::max(zeros[0], zeros[1]) == size / 2 && std::min(zeros[0], zeros[1]) == 0;
}

/// A frame of few bytes is one by chance.
std::optional<looked_at> look_behind_frame(std::string_view bytes) {
  constexpr std::size_t k_short = 8;
  const auto begin = json_behind_frame(bytes);
  const auto framed = read_frame(bytes);
  if (!framed) return std::nullopt;
  if (begin && is_valid_json(bytes.substr(*begin))) {
    const byte_form form = form_of_json(bytes.substr(*begin));
    if (form == byte_form::json_object || bytes.size() > k_short)
      return looked_at{form == byte_form::json_object ? byte_form::framed_json : form, bytes.substr(*begin),
                       framed->schema};
  }
  constexpr std::size_t k_digits = 8;  // of a likely id
  if (bytes.size() <= k_short || framed->schema == "0") return std::nullopt;
  const bool is_number = framed->schema.find('-') == std::string::npos;
  if (is_number && framed->schema.size() > k_digits) return std::nullopt;
  switch (framed->kind) {
    case framed_kind::protobuf:
      return looked_at{byte_form::framed_protobuf, {}, framed->schema};
    case framed_kind::zlib:
      return looked_at{byte_form::framed_zlib, {}, framed->schema};
    case framed_kind::avro:
      return looked_at{byte_form::framed_avro, {}, framed->schema};
    case framed_kind::json:
      break;  // it begins as JSON, and is none
  }
  return std::nullopt;
}

}  // namespace

looked_at look_at(const std::optional<std::string>& of) {
  if (!of) return {};
  const std::string_view bytes = *of;
  if (bytes.empty()) return {byte_form::empty, {}};
  if (is_valid_json(bytes)) return {form_of_json(bytes), bytes};
  if (const auto framed = look_behind_frame(bytes)) return *framed;
  if (bytes.starts_with("\x1f\x8b")) return {byte_form::gzip, {}};
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff") ||
      (bytes.size() > 8 && has_every_other_zero(bytes))) {
    return {byte_form::utf16, {}};
  }
  if (is_text(bytes)) {
    if (is_base64_of_json(json_scan::trimmed(bytes))) return {byte_form::json_in_base64, {}};
    return {are_json_lines(bytes) ? byte_form::json_lines : byte_form::text, {}};
  }
  if (bytes.size() == 8) return {byte_form::number_8, {}};
  if (bytes.size() == 4) return {byte_form::number_4, {}};
  return {bytes.size() == 16 ? byte_form::bytes_16 : byte_form::bytes, {}};
}

bool is_plain_text(std::string_view bytes) noexcept {
  return !has_control(bytes) && is_utf8(bytes);
}

bool is_json_text(std::string_view characters) {
  const std::string_view text = json_scan::trimmed(characters);
  constexpr std::size_t k_empty = 2;  // {}
  return text.size() > k_empty && (text.front() == '{' || text.front() == '[') && is_valid_json(text);
}

bool is_base64_of_json(std::string_view characters) {
  constexpr std::size_t k_least = 12;
  if (characters.size() < k_least) return false;
  std::string text{characters};
  // As URLs have it, and without padding.
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  while (text.size() % 4 != 0) text += '=';
  std::string decoded(text.size(), '\0');
  const auto size = decode_base64(text, decoded.data());
  return size && is_json_text(std::string_view{decoded}.substr(0, *size));
}

const char* words_of(byte_form form) noexcept {
  switch (form) {
    case byte_form::none:
      return "null";
    case byte_form::empty:
      return "empty";
    case byte_form::json_object:
      return "JSON objects";
    case byte_form::json_array:
      return "JSON arrays";
    case byte_form::json_scalar:
      return "single JSON values";
    case byte_form::json_lines:
      return "several JSON values each, a line for each";
    case byte_form::number_8:
      return "numbers of 8 bytes";
    case byte_form::number_4:
      return "numbers of 4 bytes";
    case byte_form::bytes_16:
      return "16 bytes, as a UUID in binary";
    case byte_form::json_in_string:
      return "JSON within JSON strings";
    case byte_form::json_in_base64:
      return "JSON in base64";
    case byte_form::framed_json:
      return "JSON behind the frame of a schema registry";
    case byte_form::framed_avro:
      return "most likely Avro, behind the frame of a schema registry";
    case byte_form::framed_protobuf:
      return "most likely Protobuf, behind the frame of a schema registry";
    case byte_form::framed_zlib:
      return "compressed with zlib, behind the frame of AWS Glue";
    case byte_form::gzip:
      return "compressed with gzip by their producer";
    case byte_form::utf16:
      return "text in UTF-16";
    case byte_form::text:
      return "text";
    case byte_form::bytes:
      return "bytes that are not text";
  }
  return "?";
}

}  // namespace ratchet::sniff
