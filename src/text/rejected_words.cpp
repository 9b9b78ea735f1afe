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
  if (fault == name_of(malformed_reason::sequence_invalid)) {
    return "not what the config says of `sequence`, digits where it says nothing; `sequence: {from: …, as: "
           "…}` "
           "takes decimal, time, lsn, hlc, ulid, uuidv7 and text, too";
  }
  if (fault == name_of(malformed_reason::sequence_too_large)) {
    return "more than there is room for: 64 bits where `sequence` is a plain number, 128 with `sequence: "
           "{from: …, "
           "as: integer}`; what does not fit there cannot be ordered by";
  }
  if (fault == name_of(malformed_reason::id_time_invalid)) {
    return "a UUIDv7 from behind the year 2100: of an older draft, whose time has other bits, or of a wrong "
           "clock; "
           "`dedup: {ids: opaque}` takes it by its record's time";
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
