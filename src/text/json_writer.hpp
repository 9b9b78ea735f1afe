// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/record.hpp"
#include "ratchet/types.hpp"

namespace ratchet {

/// Appends `text` as a JSON string with its quotes (RFC 8259, section 7). Bytes that are not UTF-8 become
/// U+FFFD, so that the output is valid whatever goes in; where bytes must survive, use base64. What must not
/// be shown as it is (core/shown_text.hpp) is escaped: a line of JSON may be read on a terminal, too.
void append_json_string(std::string& out, std::string_view text);

/// Appends `bytes` in base64 (RFC 4648, section 4), padded, without quotes.
void append_base64(std::string& out, std::string_view bytes);

/// How a JSON document stands inside another.
enum class raw_layout : std::uint8_t {
  as_it_stands,  ///< byte for byte
  one_line,  ///< control characters as spaces (valid JSON has them only outside strings), and none that harm
};

/// Writes one JSON text, front to back, into a string. It sets the commas; that keys and values alternate and
/// that what is begun is ended is the caller's to see to. No white space but what raw() brings along.
/// Thread-safety: none; a value.
class json_writer {
 public:
  json_writer& begin_object() { return open('{'); }
  json_writer& end_object() { return close('}'); }
  json_writer& begin_array() { return open('['); }
  json_writer& end_array() { return close(']'); }
  json_writer& key(std::string_view name);

  json_writer& string(std::string_view value);
  json_writer& base64(std::string_view bytes);
  json_writer& boolean(bool value);
  json_writer& null();
  template <std::integral T>
  requires(!std::same_as<T, bool>) json_writer& number(T value) {
    separate();
    out_ += std::to_string(value);
    return *this;
  }
  /// A number where the epoch is 0, else [epoch, number].
  json_writer& sequence(ratchet::sequence value);
  /// RFC 3339 in UTC with milliseconds; null where there is none.
  json_writer& time(const std::optional<timestamp>& value);
  /// Members of the object: topic, partition and offset, and the index of an event that is not the first of
  /// its record.
  json_writer& place(const topic_partition&, event_place);
  /// A document that is valid JSON already.
  json_writer& raw(std::string_view document, raw_layout layout = raw_layout::as_it_stands);

  [[nodiscard]] const std::string& text() const noexcept { return out_; }
  /// Gives the text away; the writer is as new.
  [[nodiscard]] std::string take();

 private:
  json_writer& open(char bracket);
  json_writer& close(char bracket);
  void separate();

  std::string out_;
  bool needs_comma_{false};
};

}  // namespace ratchet
