// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "app/json_writer.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/utf8.hpp"
#include "decode/time_text.hpp"

namespace ratchet {

namespace {

constexpr std::string_view k_replacement = "\xEF\xBF\xBD";  // U+FFFD

unsigned char byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

/// The length of the UTF-8 sequence at `at`, or 0 where there is none (RFC 3629, section 4).
std::size_t utf8_length(std::string_view text, std::size_t at) noexcept {
  const unsigned char lead = byte_at(text, at);
  if (lead < 0x80) return 1;
  std::size_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;   // overlong
    if (lead == 0xED) high = 0x9F;  // surrogates
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;   // overlong
    if (lead == 0xF4) high = 0x8F;  // above U+10FFFF
  } else {
    return 0;
  }
  if (text.size() - at < length) return 0;
  if (byte_at(text, at + 1) < low || byte_at(text, at + 1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte_at(text, at + i) & 0xC0U) != 0x80U) return 0;
  }
  return length;
}

void append_escaped_control(std::string& out, char c) {
  switch (c) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    default:
      break;
  }
  constexpr char k_hex[] = "0123456789abcdef";
  const auto value = static_cast<unsigned char>(c);
  out += "\\u00";
  out += k_hex[value >> 4];
  out += k_hex[value & 0x0F];
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const std::size_t length = utf8_length(text, at);
    if (length == 0) {
      out += k_replacement;
      ++at;
      continue;
    }
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      append_escaped_control(out, c);
    } else {
      out.append(text, at, length);
    }
    at += length;
  }
  out += '"';
}

void append_base64(std::string& out, std::string_view bytes) {
  constexpr char k_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  out.reserve(out.size() + (bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t left = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = static_cast<std::uint32_t>(byte_at(bytes, at)) << 16;
    if (left > 1) group |= static_cast<std::uint32_t>(byte_at(bytes, at + 1)) << 8;
    if (left > 2) group |= byte_at(bytes, at + 2);
    out += k_digits[group >> 18];
    out += k_digits[(group >> 12) & 0x3F];
    out += left > 1 ? k_digits[(group >> 6) & 0x3F] : '=';
    out += left > 2 ? k_digits[group & 0x3F] : '=';
  }
}

json_writer& json_writer::open(char bracket) {
  separate();
  out_ += bracket;
  needs_comma_ = false;
  return *this;
}

json_writer& json_writer::close(char bracket) {
  out_ += bracket;
  needs_comma_ = true;
  return *this;
}

void json_writer::separate() {
  if (needs_comma_) out_ += ',';
  needs_comma_ = true;
}

json_writer& json_writer::key(std::string_view name) {
  separate();
  append_json_string(out_, name);
  out_ += ':';
  needs_comma_ = false;
  return *this;
}

json_writer& json_writer::string(std::string_view value) {
  separate();
  append_json_string(out_, value);
  return *this;
}

json_writer& json_writer::base64(std::string_view bytes) {
  separate();
  out_ += '"';
  append_base64(out_, bytes);
  out_ += '"';
  return *this;
}

json_writer& json_writer::boolean(bool value) {
  separate();
  out_ += value ? "true" : "false";
  return *this;
}

json_writer& json_writer::null() {
  separate();
  out_ += "null";
  return *this;
}

json_writer& json_writer::sequence(ratchet::sequence value) {
  if (value.epoch == 0) return number(value.number);
  return begin_array().number(value.epoch).number(value.number).end_array();
}

json_writer& json_writer::time(const std::optional<timestamp>& value) {
  return value ? string(to_rfc3339(*value)) : null();
}

json_writer& json_writer::raw(std::string_view document, raw_layout layout) {
  separate();
  const std::size_t from = out_.size();
  out_.append(document);
  if (layout == raw_layout::one_line) {
    std::replace_if(
        out_.begin() + static_cast<std::ptrdiff_t>(from), out_.end(),
        [](char c) { return c == '\n' || c == '\r'; }, ' ');
  }
  return *this;
}

std::string json_writer::take() {
  needs_comma_ = false;
  return std::exchange(out_, {});
}

}  // namespace ratchet
