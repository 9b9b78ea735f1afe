// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sniff/value_form.hpp"

#include <algorithm>

#include "core/json_scan.hpp"
#include "core/utf8.hpp"
#include "decode/json_grammar.hpp"

namespace ratchet::sniff {

namespace {

constexpr std::size_t k_frame = 5;  // a byte 0 and four of the schema's number

bool is_valid_json(std::string_view text) {
  return json::check_json(text).reason == malformed_reason::none;
}

byte_form form_of_json(std::string_view text) noexcept {
  const char first = json_scan::trimmed(text).front();
  if (first == '{') return byte_form::json_object;
  return first == '[' ? byte_form::json_array : byte_form::json_scalar;
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

std::uint32_t schema_id_of(std::string_view bytes) noexcept {
  std::uint32_t id = 0;
  for (const char c : bytes.substr(1, 4)) id = id << 8U | static_cast<unsigned char>(c);
  return id;
}

bool has_every_other_zero(std::string_view bytes) noexcept {
  constexpr std::size_t k_looked_at = 16;
  if (bytes.size() < 4 || bytes.size() % 2 != 0) return false;
  std::size_t zeros[2] = {};
  const std::size_t size = std::min(bytes.size(), k_looked_at);
  for (std::size_t i = 0; i < size; ++i) zeros[i % 2] += bytes[i] == '\0' ? 1U : 0U;
  return std::max(zeros[0], zeros[1]) == size / 2 && std::min(zeros[0], zeros[1]) == 0;
}

}  // namespace

looked_at look_at(const std::optional<std::string>& of) {
  if (!of) return {};
  const std::string_view bytes = *of;
  if (bytes.empty()) return {byte_form::empty, {}, {}};
  if (is_valid_json(bytes)) return {form_of_json(bytes), bytes, {}};
  if (bytes.size() > k_frame && bytes.front() == '\0') {
    const std::string_view inside = bytes.substr(k_frame);
    const std::uint32_t id = schema_id_of(bytes);
    if (is_valid_json(inside) && form_of_json(inside) == byte_form::json_object)
      return {byte_form::framed_json, inside, id};
    constexpr std::uint32_t k_likely = 1U << 24U;
    if (bytes.size() > 8 && id != 0 && id < k_likely) return {byte_form::framed_bytes, {}, id};
  }
  if (bytes.starts_with("\x1f\x8b")) return {byte_form::gzip, {}, {}};
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff") ||
      (bytes.size() > 8 && has_every_other_zero(bytes))) {
    return {byte_form::utf16, {}, {}};
  }
  if (is_text(bytes)) return {are_json_lines(bytes) ? byte_form::json_lines : byte_form::text, {}, {}};
  if (bytes.size() == 8) return {byte_form::number_8, {}, {}};
  if (bytes.size() == 4) return {byte_form::number_4, {}, {}};
  return {bytes.size() == 16 ? byte_form::bytes_16 : byte_form::bytes, {}, {}};
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
    case byte_form::framed_json:
      return "JSON after the five bytes of Confluent's serializers";
    case byte_form::framed_bytes:
      return "not JSON, after the five bytes of Confluent's serializers: Avro or Protobuf";
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
