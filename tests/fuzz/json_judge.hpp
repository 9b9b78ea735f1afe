// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A second opinion on JSON, by Boost.JSON's streaming parser: it shares no code with src/decode.
///
/// Where Boost.JSON differs by design, and what is done about it:
/// - It refuses exponents that no double can have; Ratchet never converts a number. accepts() and may_begin()
/// see the digits
///   behind every `e` as zeros, which changes neither the verdict nor the place of a fault.
/// - It refuses lone surrogates, which RFC 8259 allows in its grammar. accepts() and may_begin() see every
/// escaped surrogate as
///   another character; read_json() has no answer for a document with a lone one, or with such an exponent.
/// - Its limit of depth is set to ours, 1000. A byte order mark is refused by both.
namespace ratchet::fuzz {

/// A document as it was written: names that occur twice are there twice, numbers keep their spelling.
struct json_node {
  enum class kind_of : std::uint8_t { object, array, string, number, boolean, null } kind{kind_of::null};
  std::string text;                ///< a string's characters, a number's or a boolean's token
  std::vector<std::string> names;  ///< an object's, beside `children`
  std::vector<json_node> children;
  friend bool operator==(const json_node&, const json_node&) = default;
};

enum class text_encoding : std::uint8_t { utf8, unchecked };

/// Whether the text is one valid document.
[[nodiscard]] bool accepts(std::string_view text, text_encoding = text_encoding::utf8);
/// Whether more text could make a valid document of it.
[[nodiscard]] bool may_begin(std::string_view text, text_encoding = text_encoding::utf8);
/// None where the text is no valid document, or Boost.JSON cannot read it (see above).
[[nodiscard]] std::optional<json_node> read_json(std::string_view text, text_encoding = text_encoding::utf8);

/// Whether the text is UTF-8 (RFC 3629).
[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace ratchet::fuzz
