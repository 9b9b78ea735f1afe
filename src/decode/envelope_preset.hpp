// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "ratchet/config.hpp"

/// What the formats of envelopes know by themselves.
namespace ratchet {

/// The word of the config for a format; also part of a store's identity.
[[nodiscard]] const char* name_of(envelope_format) noexcept;

/// The envelope with every field that its format knows, where nothing else is said. Doing it twice changes
/// nothing.
[[nodiscard]] envelope_config with_defaults(envelope_config);

/// True where the sequence is a position in a database's log: with gaps by nature, with ties that the offset
/// decides, and of events that have no ids.
[[nodiscard]] constexpr bool has_log_positions(envelope_format format) noexcept {
  return format == envelope_format::debezium_cdc || format == envelope_format::ydb_changefeed;
}

/// Whether events have a type. The envelope must have its defaults.
[[nodiscard]] bool tells_types(const envelope_config&) noexcept;

/// Whether a field is taken from a header.
[[nodiscard]] bool is_of_header(std::string_view field) noexcept;

/// Whether records must come with their headers. The envelope must have its defaults.
[[nodiscard]] bool reads_headers(const envelope_config&);

/// NAME of `attribute:NAME`, which is what CloudEvents allow: 1 or more of a-z and 0-9. Empty: it is none.
[[nodiscard]] std::string_view attribute_of(std::string_view source) noexcept;

/// Whether the text names a field in this format: an attribute, pointer, `key` or header.
[[nodiscard]] bool is_field_source(envelope_format, std::string_view);

}  // namespace ratchet
