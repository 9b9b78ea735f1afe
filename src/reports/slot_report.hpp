// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ports/replica.hpp"
#include "telemetry/slot_status.hpp"
#include "text/json_writer.hpp"

/// How an instance stands to its replicated log, in `status`. As JSON
///
///     {"log": TOPIC, "instance": I, "advertise": A | null,
///      "role": "owner" | "standby" | "following" | "restoring" | "taking_over",
///      "owner": {"instance": I, "advertise": A | null, "generation": N, "attempt": N} | null,
///      "step": N, "behind": {"records": N, "ms": N | null}, "log_first": OFFSET | null,
///      "log_end": OFFSET | null, "log_bytes": N, "log_bytes_since_base": N | null,
///      "pending": {"steps": N, "bytes": N},
///      "base": {"step": N, "made_at": TIME, "bytes": N} | null, "base_writing_bytes": N | null,
///      "base_trouble": TEXT | null, "base_restoring_bytes": N | null,
///      "leads": N, "fences": N, "bases_written": N, "base_failures": N}
///
/// `base` and what follows it are an owner's. A directory that nobody has open has "role": null, "owner",
/// "step", "log_offset" and "log_bytes" alone.
namespace ratchet {

void write_slot(json_writer&, const slot_status&);
void write_slot(json_writer&, const replica_at_rest&);
/// Whose standby an instance is, and how old what it answers may be: a sentence.
[[nodiscard]] std::string standby_note(const slot_status&);
/// For people: whole lines.
void append_slot(std::string& out, const slot_status&);
void append_slot(std::string& out, const replica_at_rest&);

}  // namespace ratchet
