// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "text/rejected_words.hpp"

#include <cstddef>
#include <cstdint>

#include "core/decoded_event.hpp"
#include "core/hex.hpp"

namespace ratchet {

std::string fault_text(const rejected_row& row) {
  if (row.reason != reject_reason::malformed) return {};
  return row.detail + (row.pointer.empty() ? "" : " at " + row.pointer) + ", byte " +
         std::to_string(row.byte_offset);
}

std::string hint_on_fault(std::string_view fault, const std::optional<std::string>& value) {
  constexpr std::size_t k_schema_header = 5;  // a byte 0 and four of the schema's number
  if (fault == name_of(malformed_reason::id_invalid)) {
    return "not an id as `dedup.ids` names them, a UUIDv7 where it names none; `dedup: {ids: opaque}` takes "
           "any "
           "text";
  }
  if (fault.starts_with(name_of(malformed_reason::connector_unknown))) {
    return "how this connector's changes are ordered is not known; `envelope: {format: debezium-cdc, "
           "position: "
           "partition}` takes the last one of a row in its partition";
  }
  if (fault.starts_with(name_of(malformed_reason::unwrapped_row))) {
    return "a row without its envelope, as ExtractNewRecordState leaves it: let it add the position "
           "(`add.fields: op,lsn,source.sequence`), or say `position: partition`";
  }
  const bool is_framed = value && value->size() >= k_schema_header && value->front() == '\0';
  if (is_framed && fault == name_of(malformed_reason::invalid_json))
    return "as Confluent's serializers frame it: a byte 0 and a schema's number; Ratchet reads plain JSON";
  return {};
}

std::string content_hash_text(const rejected_row& row) {
  return to_hex(static_cast<std::uint64_t>(row.offset));
}

}  // namespace ratchet
