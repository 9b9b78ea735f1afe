// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ratchet/config.hpp"
#include "sniff/columns.hpp"
#include "sniff/key_form.hpp"
#include "sniff/known_rows.hpp"
#include "sniff/likely_sequences.hpp"
#include "sniff/sniffed_record.hpp"

namespace ratchet::sniff {

/// What the records have the look of, by their structure.
enum class look : std::uint8_t {
  plain,  ///< fields where the producer put them
  cloudevents,
  debezium_changes,
  debezium_unwrapped,  ///< rows that ExtractNewRecordState left
  debezium_outbox,
  ydb_changefeed,
  canal,
  maxwell,
  mongodb,   ///< change events of its own connector, or of a change stream
  not_json,  ///< nothing that fields could be read from
};

/// What the attribute `sequence` of CloudEvents is.
enum class attribute_form : std::uint8_t { none, digits, text };

/// A place that may be what a config asks for, and why.
struct candidate {
  std::string source;
  std::string why;  ///< for people
  std::size_t column{0};
};

struct likely {
  sniff::look look{look::plain};
  each_config each;           ///< of records that hold several events each: everything else is of these
  std::size_t looking_so{0};  ///< records
  std::map<std::string, std::size_t> connectors;  ///< Debezium's
  std::map<std::string, std::size_t> operations;  ///< of row changes
  std::size_t unavailable{0};                     ///< rows with Debezium's placeholder in them
  bool is_ordered{false};                         ///< unwrapped rows: their place in the log was added
  std::vector<candidate> aggregates, ids, sequences, types, times;  ///< the likeliest first
  id_kind ids_are{id_kind::opaque};
  std::optional<time_unit> unit;  ///< of the likeliest time, where it is a number
  /// The likeliest sequence, in every aggregate that has several events, in whatever order they came.
  bool counts_by_one{false};
  bool grows{false};  ///< it, in every one of them
  growth in_time;     ///< how the likeliest time goes on within the aggregates, as the records came
  /// A field of the payload that some records have and some have not: each may be a change, and not all of a
  /// state. Empty: none. Of a payload within a value, as of CloudEvents, it is a field of that.
  std::string now_and_then;
  std::size_t now_and_then_in{0};                           ///< records
  attribute_form sequence_attribute{attribute_form::none};  ///< of CloudEvents
  /// What a config calls the likeliest sequence of CloudEvents; empty: they are not ordered by it.
  std::string sequence_in_events;
  std::string attributes_are_at;      ///< of CloudEvents in one mode: "/" or "header:ce_"; else empty
  bool is_from_start{false};          ///< the records are the first ones of their partitions, or of a file
  bool has_subjects{false};           ///< CloudEvents, in nearly all records
  std::vector<std::string> deleting;  ///< types that say so
  sniff::key_form keys;               ///< what the keys are
  std::string root;                   ///< where the values are, beside their schema; mostly empty
  bool has_after_image{false};        ///< a changefeed's: /after is the new row, or null
  bool has_resolved{false};           ///< its marks are among the records
  bool deletes_rows{false};           ///< all types are words of databases: insert, update, delete
  std::optional<likely_sequence> sequence_is;  ///< what the likeliest sequence is
  /// Fields that name the aggregate, or the event, together; none where one does.
  std::vector<std::string> joined_aggregate, joined_id;
  std::optional<known_rows> rows;  ///< of a look that is a row_producer
  /// What was likelier to name the aggregate, but that the sequence does not grow within it. Empty: nothing.
  std::string not_the_aggregate;
};

/// Pure. The columns must be those of the records. `known` is the look that they have, where it was found
/// before: records that are unwrapped show no more what they were.
[[nodiscard]] likely guess(std::span<const sniffed_record>, const std::vector<column>&,
                           std::optional<look> known = std::nullopt);

}  // namespace ratchet::sniff
