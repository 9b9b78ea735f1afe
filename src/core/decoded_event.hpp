// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/record.hpp"
#include "ratchet/types.hpp"

namespace ratchet {

enum class decoded_kind : std::uint8_t {
  event,
  tombstone,  ///< a null value: deletes the snapshot and keeps the sequence
  malformed,
  ignored,  ///< the envelope, `types` or `ignore` says that it means nothing
};

/// Why a record, or one event of it, is malformed; the first fault in the order of reading. The name is shown
/// to people and counted by.
enum class malformed_reason : std::uint8_t {
  none,
  empty_value,   ///< a value of no bytes
  null_value,    ///< a tombstone where the config has no place for one
  null_key,      ///< a field is taken from a key that is null
  invalid_json,  ///< not JSON by RFC 8259, anywhere in the record
  invalid_utf8,
  byte_order_mark,
  too_deep,   ///< more than 1000 levels
  too_large,  ///< above 64 MiB
  missing_field,
  wrong_type,
  duplicate_field,  ///< a named field, or a key on its path, occurs twice
  duplicate_header,
  id_invalid,        ///< the event id is not of the kind that the config names
  aggregate_size,    ///< empty, or above 1024 bytes
  sequence_invalid,  ///< not digits alone of the base that the config names, or too large for its bits
  time_invalid,
  lone_surrogate,     ///< in a field that is read
  position_invalid,   ///< `apply --records`: the line is not what kcat -J prints
  version_unknown,    ///< CloudEvents: a `specversion` other than 1.0
  event_format,       ///< CloudEvents: a batch, or an event format that is not JSON
  base64_invalid,     ///< CloudEvents: `data_base64`
  sequence_negative,  ///< CloudEvents: `sequencetype: Integer` has a sign and wraps around; nothing orders it
  operation_unknown,  ///< a row change that is none of those which the format names
  connector_unknown,  ///< Debezium: nothing that orders this connector's changes is known
  unwrapped_row,      ///< Debezium: a row alone, without what orders it
  too_many_sources,   ///< `ids: monotonic`: it can be read, but of no more sources of its partition the last
                      ///< id is kept
  sequence_too_large,  ///< it is what the config names, but does not fit into the bits there are
  range_invalid,       ///< the first number that the event covers is above its last
  id_time_invalid,     ///< the time of a UUIDv7 lies behind the year 2100: an older draft, or a wrong clock
  avro,                ///< behind the frame of a schema registry: most likely Avro
  protobuf,            ///< the same, most likely Protobuf
  zlib,                ///< the same, compressed by AWS Glue's serializer
  key_binary,          ///< a key that is no text, and of which the config does not say what it is
  key_invalid,         ///< a key that is not what `envelope.key` says
  header_binary,       ///< a header that is no text
  longer_array,        ///< the config reads one element of an array that has more
  too_many_events,     ///< a record holds more of them than are taken of one
  unavailable_column,  ///< Debezium: a row that is new or read lacks the value of a column
};

[[nodiscard]] const char* name_of(malformed_reason) noexcept;

/// Where and why decoding failed.
struct malformed_detail {
  malformed_reason reason{malformed_reason::none};
  std::string_view pointer;  ///< the field's JSON Pointer, `key` or `header:NAME`; borrowed from the config
  std::uint64_t byte_offset{0};  ///< in the record's value; of one of several events, in the event
};

/// Whether the record's value is none that its format knows, rather than one in which something is amiss. A
/// config that does not fit a topic at all meets these alone.
[[nodiscard]] constexpr bool is_undecodable(const malformed_detail& fault) noexcept {
  switch (fault.reason) {
    case malformed_reason::empty_value:
    case malformed_reason::too_large:
    case malformed_reason::position_invalid:
    case malformed_reason::event_format:
    case malformed_reason::avro:
    case malformed_reason::protobuf:
    case malformed_reason::zlib:
      return true;
    case malformed_reason::invalid_json:
    case malformed_reason::invalid_utf8:
    case malformed_reason::byte_order_mark:
    case malformed_reason::too_deep:
      return fault.pointer.empty();  // else it is a key or a part
    default:
      return false;
  }
}

/// In how many events the fields were found that an event may lack.
struct field_counts {
  std::uint64_t events{0};
  std::uint64_t types{0};
  std::uint64_t times{0};
  std::uint64_t unlikely_times{0};         ///< events whose time, or their record's, is decades off
  std::optional<timestamp> unlikely_time;  ///< the last one of them
  field_counts& operator+=(const field_counts& more) noexcept {
    events += more.events;
    types += more.types;
    times += more.times;
    unlikely_times += more.unlikely_times;
    if (more.unlikely_time) unlikely_time = more.unlikely_time;
    return *this;
  }
  friend bool operator==(const field_counts&, const field_counts&) = default;
};

/// A record after decoding, or one of the events that it holds. Views are borrowed from the record's batch,
/// or from the decoder's arena for this batch.
struct decoded_event {
  const record* from{nullptr};
  decoded_kind kind{decoded_kind::malformed};
  malformed_detail malformed;
  std::string_view aggregate;
  bool has_sequence{false};
  ratchet::sequence sequence;
  /// `strict`, where events cover ranges of numbers: the first one of the event's own, in its epoch.
  std::optional<std::uint64_t> begins_at;
  bool has_id{false};
  event_id id;                  ///< what it counts as; with CloudEvents id and source in one
  std::string_view id_text;     ///< of an opaque or monotonic id, as its sender spelt it; else empty
  ratchet::sequence id_number;  ///< of a monotonic id
  std::string_view source;      ///< a CloudEvent's, where it has an id; else empty
  std::string_view type;
  std::optional<timestamp> time;  ///< the event's own
  std::optional<timestamp>
      record_time;           ///< what moves the floor: the record's, or in plain files the event's
  std::string_view payload;  ///< the reducer's input, byte for byte
  hash128 payload_hash;      ///< XXH3-128 of payload; zero for tombstones
  /// Some of the payload is what is stored already: the reducer needs the snapshot, whatever it says of
  /// itself.
  bool keeps_columns{false};
};

}  // namespace ratchet
