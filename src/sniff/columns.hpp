// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "decode/pointer_tree.hpp"
#include "ratchet/config.hpp"
#include "sniff/sniffed_record.hpp"

namespace ratchet::sniff {

/// What one record has at one place.
struct cell {
  std::size_t record{0};
  json::kind what{json::kind::none};
  std::string text;  ///< a string's characters, or a number as it is spelt; of others nothing
};

/// What a place has in all records, and what can be said of it. The name is what a config would call it:
/// `/pointer`, `key`, `header:NAME`, and `record:/pointer` beside the list of several events.
struct column {
  std::string source;
  std::vector<cell> cells;  ///< at most one a record, in their order

  std::size_t names{0};     ///< strings, not empty, and integers: what may be an id
  std::size_t distinct{0};  ///< of these
  std::size_t integers{0};  ///< also such as stand in strings
  std::size_t uuids{0};
  std::size_t uuids_7{0};
  std::size_t ulids{0};
  std::size_t ksuids{0};
  std::size_t binary{0};        ///< of a header: bytes that are not text
  std::size_t json_texts{0};    ///< strings that are JSON
  std::size_t json_base64s{0};  ///< strings that are base64 of JSON
  std::size_t rfc3339{0};
  std::size_t times{0};  ///< also in other spellings that Ratchet reads; not a date alone
  std::size_t objects{0};
  std::optional<time_unit> unit;  ///< where all are numbers that can be times of 2001 to 2096

  /// The time of the cell by what was found of the column.
  [[nodiscard]] std::optional<timestamp> time_of(const cell&) const;
};

/// The columns of the records: keys, which are of this kind, headers, and the members of values that are JSON
/// objects, those of objects in them too, but not what lies in arrays. A header of bytes that are not text
/// has a cell of kind none.
[[nodiscard]] std::vector<column> columns_of(std::span<const sniffed_record>, key_kind = key_kind::automatic);

/// Where CloudEvents come in both modes, one column for each attribute, which has the name of structured
/// mode. The headers keep theirs.
void unite_attributes(std::vector<column>&);

/// The column of this name; null where there is none.
[[nodiscard]] const column* find(const std::vector<column>&, std::string_view source) noexcept;

}  // namespace ratchet::sniff
