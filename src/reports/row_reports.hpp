// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/stream_state.hpp"
#include "text/json_writer.hpp"

/// Rejected records and audit rows as people and programs read them, in `status` and `explain`.
///
/// A rejected record is
///
///     {"topic": T | null, "partition": N | null, "offset": N | null, "content_hash": HEX, "step": N,
///      "rejected_at": TIME, "reason": R, "detail": FAULT | null, "aggregate": A | null, "pointer": P | null,
///      "byte_offset": N | null, "time": TIME | null, "key": TEXT | null, "value": TEXT | null, "truncated":
///      BOOL}
///
/// with `key_base64` or `value_base64` where the bytes are not UTF-8. One from a plain file has no position
/// but a `content_hash`, which the others do not have. One that is not the first event of its record has an
/// `index` behind the offset. `detail`, `pointer` and `byte_offset` are of records
/// that cannot be decoded, `aggregate` of all others. An audit row is
///
///     {"step": N, "time": TIME, "kind": K, "stream": S | null, "topic": T | null, "partition": N | null,
///      "not_handled": {"from": OFFSET, "to": OFFSET} | null, "text": SENTENCE}
///
/// where `to` is the first offset that was handled again.
namespace ratchet {

/// A record's bytes for people: as a JSON string, or in base64 where they are not UTF-8; "null" for none.
[[nodiscard]] std::string bytes_on_one_line(const std::optional<std::string>&);

/// The key "NAME" with the text, or "NAME_base64" where the bytes are not UTF-8; null for none.
void write_bytes(json_writer&, const std::string& name, const std::optional<std::string>&);

void write_rejected(json_writer&, const rejected_row&);
/// One line, without its line feed.
[[nodiscard]] std::string rejected_line(const rejected_row&);
void write_audit(json_writer&, const audit_row&);
/// One line, without its line feed.
[[nodiscard]] std::string audit_line(const audit_row&);

}  // namespace ratchet
