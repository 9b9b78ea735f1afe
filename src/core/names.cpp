// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/decoded_event.hpp"
#include "ratchet/types.hpp"

namespace ratchet {

const char* name_of(order value) noexcept {
  switch (value) {
    case order::latest:
      return "latest";
    case order::strict:
      return "strict";
    case order::arrival:
      return "arrival";
  }
  return "?";
}

const char* name_of(verdict value) noexcept {
  switch (value) {
    case verdict::applied:
      return "applied";
    case verdict::superseded:
      return "superseded";
    case verdict::duplicate:
      return "duplicate";
    case verdict::stale:
      return "stale";
    case verdict::rejected:
      return "rejected";
    case verdict::ignored:
      return "ignored";
    case verdict::parked:
      return "parked";
    case verdict::retrying:
      return "retrying";
    case verdict::dead:
      return "dead";
    case verdict::unhandled:
      return "unhandled";
  }
  return "?";
}

const char* name_of(reject_reason value) noexcept {
  switch (value) {
    case reject_reason::none:
      return "none";
    case reject_reason::malformed:
      return "malformed";
    case reject_reason::conflict:
      return "conflict";
    case reject_reason::too_old:
      return "too_old";
    case reject_reason::late:
      return "late";
    case reject_reason::id_reused:
      return "id_reused";
    case reject_reason::below_first:
      return "below_first";
    case reject_reason::sequence_mixed:
      return "sequence_mixed";
  }
  return "?";
}

const char* name_of(malformed_reason value) noexcept {
  switch (value) {
    case malformed_reason::none:
      return "none";
    case malformed_reason::empty_value:
      return "empty_value";
    case malformed_reason::null_value:
      return "null_value";
    case malformed_reason::null_key:
      return "null_key";
    case malformed_reason::invalid_json:
      return "invalid_json";
    case malformed_reason::invalid_utf8:
      return "invalid_utf8";
    case malformed_reason::byte_order_mark:
      return "byte_order_mark";
    case malformed_reason::too_deep:
      return "too_deep";
    case malformed_reason::too_large:
      return "too_large";
    case malformed_reason::missing_field:
      return "missing_field";
    case malformed_reason::wrong_type:
      return "wrong_type";
    case malformed_reason::duplicate_field:
      return "duplicate_field";
    case malformed_reason::duplicate_header:
      return "duplicate_header";
    case malformed_reason::id_invalid:
      return "id_invalid";
    case malformed_reason::aggregate_size:
      return "aggregate_size";
    case malformed_reason::sequence_invalid:
      return "sequence_invalid";
    case malformed_reason::time_invalid:
      return "time_invalid";
    case malformed_reason::lone_surrogate:
      return "lone_surrogate";
    case malformed_reason::position_invalid:
      return "position_invalid";
    case malformed_reason::version_unknown:
      return "version_unknown";
    case malformed_reason::event_format:
      return "event_format";
    case malformed_reason::base64_invalid:
      return "base64_invalid";
    case malformed_reason::sequence_negative:
      return "sequence_negative";
    case malformed_reason::operation_unknown:
      return "operation_unknown";
    case malformed_reason::connector_unknown:
      return "connector_unknown";
    case malformed_reason::unwrapped_row:
      return "unwrapped_row";
    case malformed_reason::too_many_sources:
      return "too_many_sources";
    case malformed_reason::sequence_too_large:
      return "sequence_too_large";
    case malformed_reason::range_invalid:
      return "range_invalid";
    case malformed_reason::id_time_invalid:
      return "id_time_invalid";
    case malformed_reason::avro:
      return "avro";
    case malformed_reason::protobuf:
      return "protobuf";
    case malformed_reason::zlib:
      return "zlib";
    case malformed_reason::key_binary:
      return "key_binary";
    case malformed_reason::key_invalid:
      return "key_invalid";
    case malformed_reason::header_binary:
      return "header_binary";
    case malformed_reason::longer_array:
      return "longer_array";
    case malformed_reason::too_many_events:
      return "too_many_events";
    case malformed_reason::unavailable_column:
      return "unavailable_column";
  }
  return "?";
}

}  // namespace ratchet
