// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sniff/columns.hpp"
#include "sniff/sniffed_record.hpp"

namespace ratchet::sniff {

/// Who writes row changes in a form of its own that is known, but that Ratchet has no format for.
enum class row_producer : std::uint8_t { canal, maxwell, mongodb };

/// A config for such row changes, as sources of its fields. An empty one is left out.
struct known_rows {
  std::vector<std::string> aggregate;  ///< several name the row together
  std::string sequence;
  std::string epoch;
  bool is_coarse{false};  ///< two changes may share the sequence
  std::string type;
  std::vector<std::string> types;     ///< of changes of rows; all others mean nothing
  std::vector<std::string> deleting;  ///< of these
  std::string null_deletes;           ///< a field that is null where the row is gone; empty: there is none
  std::string time;
  bool time_is_seconds{false};
  std::string row;                  ///< where the new row is; empty: it is the event
  std::vector<std::string> advice;  ///< for people
  std::string none;                 ///< why no config is known that is right; empty: one is
};

/// How many of the events are such row changes. The columns must be those of the events.
[[nodiscard]] std::size_t rows_of(row_producer, const std::vector<column>&);

/// What reads them. `guessed` is a place that may name the row, where the records do not say what its key is;
/// empty: there is none. Pure.
[[nodiscard]] known_rows config_of(row_producer, std::span<const sniffed_record>, const std::vector<column>&,
                                   const std::string& guessed);

}  // namespace ratchet::sniff
