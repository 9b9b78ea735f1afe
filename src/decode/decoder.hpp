// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "core/decoded_event.hpp"
#include "core/record.hpp"
#include "ratchet/config.hpp"

namespace ratchet {

/// What of a stream's config decoding depends on.
struct decode_rules {
  envelope_config envelope;
  ratchet::order order{order::latest};
  id_kind ids{id_kind::uuidv7};
  std::string payload_from;           ///< JSON Pointer of the reducer's input; empty: the whole value
  std::vector<std::string> types{};   ///< stream_config::types
  std::vector<std::string> ignore{};  ///< stream_config::ignore
  bool ignore_tombstones{false};
  std::string ignore_having{};         ///< stream_config::ignore_having
  bool time_stands_for_record{false};  ///< plain files: the event's time is the record's
  /// A longer value is malformed. `apply` sets k_apply_value_bytes; in Kafka the broker's limit is the limit.
  std::uint64_t max_value_bytes{std::numeric_limits<std::uint64_t>::max()};
  /// Where every field comes from key and headers and the payload is the whole value: a record whose header
  /// `content-type` names something other than JSON carries bytes, which are not looked at. Not for reducers
  /// that read their input as JSON (merge_patch).
  bool bytes_allowed{false};
  /// `debezium-cdc`: whether envelope.unavailable is looked for, see decoded_event::keeps_columns.
  bool keeps_columns{false};
};

/// The largest value that `apply` takes, 64 MiB. A source need not hold more than one byte beyond it.
constexpr std::uint64_t k_apply_value_bytes = std::uint64_t{64} << 20;

/// The events of one batch, and the memory that some of their views and records point into.
/// Borrows from the batch that was decoded and, for the pointers in malformed_detail, from the decoder: must
/// not outlive them.
class decoded_batch {
 public:
  decoded_batch();
  ~decoded_batch();
  decoded_batch(decoded_batch&&) noexcept;
  decoded_batch& operator=(decoded_batch&&) noexcept;

  /// One per record, in the same order; of a record that holds several, each of them, in theirs.
  std::vector<decoded_event> events;

 private:
  friend class decoder;
  struct arena;
  std::unique_ptr<arena> arena_;
};

/// Turns records into events by the rules of one stream. Every byte of a record is checked against RFC 8259
/// and UTF-8. Never fails: what cannot be decoded is an event of kind malformed that says why and where.
/// The first fault counts: the value as a whole (size, JSON, UTF-8) before the fields, and these in the order
/// event_id, aggregate, sequence, epoch, type, time, payload; the type comes first where `types` or `ignore`
/// choose by it, as nothing else of what is ignored is looked at. Its byte offset is in the value, for a
/// field from the key or a header in that; what is missing is placed at the innermost value on its path that
/// is there. Thread-safety: one thread at a time; reuse it, as it keeps its buffers.
class decoder {
 public:
  /// Every source in the rules must be valid (parse_field_source(), for payload_from parse_json_pointer()):
  /// another one ends the program.
  explicit decoder(decode_rules);
  ~decoder();
  decoder(decoder&&) noexcept;
  decoder& operator=(decoder&&) noexcept;

  /// `out` is cleared first; passing the same object again reuses its memory. Takes no further record once
  /// `out` has so many events, or they repeat 4 MiB of records. Returns how many: all, if each is one.
  std::size_t decode(std::span<const record> records, decoded_batch& out,
                     std::size_t most_events = std::numeric_limits<std::size_t>::max());

 private:
  struct implementation;
  std::unique_ptr<implementation> self_;
};

}  // namespace ratchet
