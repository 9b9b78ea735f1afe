// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ratchet/error.hpp"

namespace ratchet {

/// Begins a source that stands beside the list of several events: `record:/pointer`.
inline constexpr std::string_view k_record_source{"record:"};

/// Where the `json` envelope takes a field from.
struct field_source {
  enum class place : std::uint8_t {
    pointer,  ///< into the event
    key,
    header,
    record,  ///< a pointer into the record's value, of which the event is one of several
  } from{place::pointer};
  std::string text;                 ///< as configured
  std::vector<std::string> tokens;  ///< of a pointer, unescaped
  std::string header;               ///< the header's name
};

/// The tokens of a JSON Pointer (RFC 6901), unescaped; none for "", the whole document. Errors:
/// config_invalid, where the text is no pointer (no slash at its start, a tilde without 0 or 1 behind it).
[[nodiscard]] result<std::vector<std::string>> parse_json_pointer(std::string_view text);

/// Reads `/pointer`, `key`, `header:NAME` or `record:/pointer`. Errors: config_invalid, where it is none of
/// them.
[[nodiscard]] result<field_source> parse_field_source(std::string_view text);

}  // namespace ratchet
