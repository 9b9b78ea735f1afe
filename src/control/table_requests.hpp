// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "control/protocol.hpp"
#include "ports/store_view.hpp"
#include "ratchet/error.hpp"
#include "text/byte_sink.hpp"

/// The questions about read-model tables, and their answers: a part of what requests.hpp describes.
namespace ratchet {

struct table_question {
  std::string table;
  std::optional<std::string> key;      ///< one row; none: a range of them
  std::string prefix;                  ///< of a range
  std::string from;                    ///< of a range: see table_range
  std::optional<std::uint64_t> limit;  ///< of a range; none: all
  bool json{false};                    ///< one row; a range is always JSON
  friend bool operator==(const table_question&, const table_question&) = default;
};

/// As words on the control socket.
[[nodiscard]] std::vector<std::string> to_words(const table_question&);
/// None where these words ask something else, or are not understood.
[[nodiscard]] std::optional<table_question> parse_table_words(std::span<const std::string> words);

/// Of one row the value's bytes, or {table, key, value} and a line feed; of a range {key, value} a line, in
/// the order of keys. A value stands raw where it is JSON (in a range with line feeds as spaces), else as
/// "value_base64"; a key is a number in tables of u64, else a string, or where it is no text "key_base64".
/// Errors: not_found; usage (no such table, a key that does not fit it); of the store.
[[nodiscard]] reported<void> answer_table_question(const store_view&, const table_question&,
                                                   const byte_sink&);

}  // namespace ratchet
