// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "text/rejected_messages.hpp"

#include <cstdint>

#include "core/decoded_event.hpp"
#include "core/hex.hpp"
#include "decode/record_splitter.hpp"
#include "decode/registry_frame.hpp"
#include "text/json_members.hpp"
#include "text/likely_kind.hpp"

namespace ratchet {

namespace {

constexpr const char* k_times =
    "a time is RFC 3339, as in 2026-01-31T12:00:00Z, or a number of milliseconds since 1970; `time: {from: "
    "…, unit: s}` names another unit, also us and ns";

[[nodiscard]] bool is_json_string(std::string_view value) noexcept {
  const std::size_t first = value.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && value[first] == '"';
}

/// Whether a format of row changes read it, which knows its fields: a config has no keys for them.
[[nodiscard]] bool is_of_row_change(std::string_view pointer) noexcept {
  constexpr std::string_view k_beside_schema{"/payload"};
  if (pointer.starts_with(k_beside_schema)) pointer.remove_prefix(k_beside_schema.size());
  return pointer.starts_with("/source/") || pointer == "/ts" || pointer == "/ts/0" || pointer == "/ts/1" ||
         pointer.starts_with("/__");
}

}  // namespace

std::string fault_text(const rejected_row& row) {
  if (row.reason != reject_reason::malformed) return {};
  return row.detail + (row.pointer.empty() ? "" : " at " + row.pointer) + ", byte " +
         std::to_string(row.byte_offset);
}

std::string hint_on_fault(std::string_view fault, const std::optional<std::string>& value,
                          std::string_view pointer) {
  const auto is = [fault](malformed_reason reason) { return fault == name_of(reason); };
  if (is(malformed_reason::id_invalid)) {
    return "not an id of the kind that `dedup.ids` sets, which is UUIDv7 by default; `dedup: {ids: opaque}` "
           "takes any text";
  }
  if (is(malformed_reason::sequence_invalid) && value && value->find("gtid") != std::string::npos) {
    return "if this is a GTID of MySQL or MariaDB: those of several servers have no order; take the binlog's "
           "file and position, as debezium-cdc does, or `sequence: offset`";
  }
  const bool is_for_config = !is_of_row_change(pointer);
  if (is(malformed_reason::sequence_invalid) && is_for_config) {
    return "not of the kind that `sequence` takes, which is digits by default; `sequence: {from: …, as: …}` "
           "takes decimal, time (RFC 3339 with its zone, as in 2026-01-31T12:00:00Z), lsn, hlc, ulid, uuidv7 "
           "and text, too";
  }
  if (is(malformed_reason::sequence_too_large) && is_for_config) {
    return "too large: a plain number has 64 bits, a number with `sequence: {from: …, as: integer}` has 128, "
           "and a text the bits of its characters; Ratchet cannot order by a longer one";
  }
  if (is(malformed_reason::id_time_invalid)) {
    return "a UUIDv7 with a time after the year 2100: it is of an older draft with other bits, or of a wrong "
           "clock; with `dedup: {ids: opaque}` the time of its record counts";
  }
  if (is(malformed_reason::avro) || is(malformed_reason::protobuf)) {
    const auto framed = value ? read_frame(*value) : std::nullopt;
    return (framed ? "schema id " + framed->schema + ", " : std::string{}) +
           (is(malformed_reason::avro) ? "Avro" : "Protobuf") +
           ": not supported yet; have the topic written in JSON, or turn it into JSON first";
  }
  if (is(malformed_reason::zlib)) {
    const auto framed = value ? read_frame(*value) : std::nullopt;
    return (framed ? "schema id " + framed->schema + ", " : std::string{}) +
           "compressed with zlib by the serializer of AWS Glue: not supported; set its compression to NONE, "
           "as Kafka compresses batches by itself";
  }
  if (is(malformed_reason::key_binary)) {
    return "bytes of a binary serializer: set their kind, as in `envelope: {key: i64}`, also i32, uuid or "
           "json; without it a few such keys pass for text, so start with an empty state directory then. "
           "`key: text` takes text with control characters. A key of Avro or Protobuf (a byte 0 and a schema "
           "id in front) is not supported: take the aggregate from the value";
  }
  if (is(malformed_reason::header_binary)) {
    return "bytes of a binary serializer, such as a number of 8 bytes: have the producer write text into the "
           "header, or take the field from the value";
  }
  if (is(malformed_reason::key_invalid)) return "not of the kind that `envelope.key` sets";
  if (is(malformed_reason::time_invalid) && is_for_config) return k_times;
  if (is(malformed_reason::null_value) && !value && pointer.empty()) {
    return "a null value of this format does not name what it deletes: have the producer send an event that "
           "says so";
  }
  if (is(malformed_reason::null_value) && !value) {
    return "a null value does not hold this field: take the field from the key or a header, or set "
           "`ignore: {tombstones: true}`";
  }
  if (is(malformed_reason::null_value)) {
    return "the value is the JSON text null, which is not a null value (tombstone): let the producer send no "
           "value to delete";
  }
  if (is(malformed_reason::empty_value)) {
    return "a value without bytes is neither JSON nor a null value (tombstone): let the producer send a null "
           "value to delete";
  }
  if (is(malformed_reason::range_invalid)) {
    return "the event would begin after its own `sequence`: `previous` is the number of the event before "
           "it, and `sequence.first` is its own first number";
  }
  const bool lacks_fields = is(malformed_reason::missing_field) || is(malformed_reason::wrong_type);
  if (lacks_fields && value && is_json_string(*value)) {
    return "the value is a JSON string in quotes: if JSON text is within it, it was encoded twice; let the "
           "producer send the inner text";
  }
  if (is(malformed_reason::longer_array)) {
    return "the config reads one element of an array that has more, so the others would be lost: if each "
           "element "
           "is an event, set `each: /POINTER` to the array's pointer, and name the fields within an element; "
           "if "
           "not, name fields outside of the array, or have the producer send one record for each element";
  }
  if (is(malformed_reason::unavailable_column)) {
    return "the connector did not have the value of a column of a row that is new or read, and wrote a "
           "placeholder: have the database log whole rows (PostgreSQL: REPLICA IDENTITY FULL; Oracle: "
           "lob.enabled), and build the state again";
  }
  if (is(malformed_reason::too_many_events)) {
    return "a record may hold " + std::to_string(k_most_events_of_record) +
           " events, and these may repeat 32 MiB of its key, headers and fields beside the list: let the "
           "producer "
           "send more records with fewer events each";
  }
  const bool is_whole = is(malformed_reason::invalid_json) || is(malformed_reason::invalid_utf8) ||
                        is(malformed_reason::byte_order_mark);
  if (is(malformed_reason::invalid_utf8) && pointer == "key")
    return "the key is text in another encoding than UTF-8: have the producer write UTF-8";
  if (is(malformed_reason::invalid_json) && pointer == "key") {
    return "the key is not JSON, and this format takes the aggregate from it: set the connector's "
           "`key.converter` to JsonConverter";
  }
  if (is_whole && value && pointer.empty()) {
    const likely_kind kind = kind_of_bytes(*value);
    if (!kind.what.empty()) return "most likely " + kind.what + ": " + kind.of_record;
  }
  if (fault.starts_with(name_of(malformed_reason::connector_unknown))) {
    if (value && value->find("\"origin\":\"cockroachdb\"") != std::string::npos) {
      return "a changefeed of CockroachDB in its enriched envelope: take `format: json`, with `aggregate: "
             "key` "
             "and `sequence: {from: /source/ts_hlc, as: hlc}`";
    }
    if (pointer.ends_with("/source/connector")) {
      return "nothing in the change says which database it is of, so nothing orders it; `envelope: {format: "
             "debezium-cdc, position: partition}` takes the last change of a row in its partition";
    }
    return "Ratchet cannot order the changes of this connector by its log; `envelope: {format: debezium-cdc, "
           "position: partition}` takes the last change of a row in its partition";
  }
  if (fault.starts_with(name_of(malformed_reason::unwrapped_row))) {
    return "a row without its envelope, as ExtractNewRecordState leaves it: let it add the position "
           "(`add.fields: op,lsn,source.sequence`), or set `position: partition`";
  }
  return {};
}

std::string hint_on(const rejected_row& row) {
  if (row.reason == reject_reason::malformed) {
    std::string hint = hint_on_fault(row.detail, row.value, row.pointer);
    const bool lacks_field = row.detail == name_of(malformed_reason::missing_field);
    if (hint.empty() && lacks_field && row.value) hint = text_of_members_near(*row.value, row.pointer);
    return hint;
  }
  if (row.reason != reject_reason::sequence_mixed) return {};
  return "the `sequence` of one is a number and that of the other is text, or both are digits, of two "
         "lengths "
         "(as text \"10\" is below \"9\"): set `sequence: {from: attribute:sequence, as: integer}`, or have "
         "the "
         "producer pad its numbers";
}

std::string content_hash_text(const rejected_row& row) {
  return to_hex(static_cast<std::uint64_t>(row.offset));
}

}  // namespace ratchet
