// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ratchet/effects.hpp"
#include "ratchet/table.hpp"

/// Read-model tables in the core: keys as they are stored, and what a step changes. Pure.
namespace ratchet {

constexpr std::size_t k_most_table_key_bytes = 1024;

/// The key as it is stored, where bytes compare as the encoding wants it; none where it does not fit.
[[nodiscard]] std::optional<std::string> encode_table_key(key_encoding, std::string_view key);
/// The key as people and programs read it; none where these bytes are no such key.
[[nodiscard]] std::optional<std::string> decode_table_key(key_encoding, std::string_view stored);
/// What a key must be, for people: "1 to 1024 bytes".
[[nodiscard]] const char* shape_of(key_encoding) noexcept;
/// The encoding of this name; none where there is none.
[[nodiscard]] std::optional<key_encoding> key_encoding_named(std::string_view) noexcept;
/// Null where there is none of this name.
[[nodiscard]] const table_config* find_table(std::span<const table_config>, std::string_view name);

/// A row that a step puts or erases.
struct table_change {
  std::uint32_t aggregate{0};  ///< of the event, as an index into the plan
  /// The event of the batch that had it done, as an index; an event that waited counts as the one that
  /// released it.
  std::uint32_t at{0};
  std::string table;
  std::string key;                   ///< as it is stored
  std::optional<std::string> value;  ///< none: erased
};

/// Adds what the reducer changed for one event; the keys are encoded.
void add_changes(std::vector<table_change>& to, std::uint32_t aggregate, std::uint32_t at,
                 std::vector<owned_table_change>&&);

/// Each table of a stream is a line of its meaning: this and the table's name, and the encoding of its keys.
inline constexpr std::string_view k_table_line = "table.";
/// The tables that these lines speak of. One whose encoding is not known is left out.
[[nodiscard]] std::vector<table_config> tables_in(
    std::span<const std::pair<std::string, std::string>> meaning);

}  // namespace ratchet
