// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "text/json_writer.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/shown_text.hpp"
#include "core/utf8.hpp"
#include "decode/time_text.hpp"

namespace ratchet {

namespace {

constexpr std::string_view k_replacement = "\xEF\xBF\xBD";  // U+FFFD

unsigned char byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

void append_escaped(std::string& out, char32_t value) {
  constexpr char32_t k_pairs = 0x10000;  // from here on two surrogates
  if (value >= k_pairs) {
    append_escaped(out, 0xD800 + ((value - k_pairs) >> 10U));
    return append_escaped(out, 0xDC00 + ((value - k_pairs) & 0x3FFU));
  }
  constexpr char k_hex[] = "0123456789abcdef";
  out += "\\u";
  for (unsigned shift = 16; shift > 0; shift -= 4) out += k_hex[(value >> (shift - 4U)) & 0x0FU];
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
  append_escaped(out, static_cast<unsigned char>(c));
}

/// Control characters between values are white space; all others stand in strings, where they may be escaped.
void append_on_one_line(std::string& out, std::string_view document) {
  for (std::size_t at = 0; at < document.size();) {
    const std::size_t length = harmful_length(document, at);
    if (length == 0) {
      out += document[at++];
    } else if (byte_at(document, at) < ' ') {
      out += ' ';
      ++at;
    } else {
      append_escaped(out, code_point(document.substr(at)));
      at += length;
    }
  }
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
    } else if (harmful_length(text, at) > 0) {
      append_escaped(out, code_point(text.substr(at)));
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

json_writer& json_writer::place(const topic_partition& where, event_place place) {
  key("topic").string(where.topic);
  key("partition").number(static_cast<std::int32_t>(where.partition));
  key("offset").number(place.offset);
  if (place.index != 0) key("index").number(place.index);
  return *this;
}

json_writer& json_writer::time(const std::optional<timestamp>& value) {
  return value ? string(to_rfc3339(*value)) : null();
}

json_writer& json_writer::raw(std::string_view document, raw_layout layout) {
  separate();
  if (layout == raw_layout::one_line) {
    append_on_one_line(out_, document);
  } else {
    out_.append(document);
  }
  return *this;
}

std::string json_writer::take() {
  needs_comma_ = false;
  return std::exchange(out_, {});
}

}  // namespace ratchet
