// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/kept_rejected.hpp"
#include "ports/store_view.hpp"
#include "reports/waiting_list.hpp"
#include "text/byte_sink.hpp"

/// `ratchet waiting list --state-is rejected`: the rejected records that are kept, with the members of a
/// waiting event (see wait_explanation.hpp):
///
///     {"stream": S, "aggregate": A | null, "sequence": Q | null, "event_id": ID | null, "state": "rejected",
///      "reason": "malformed" | "conflict" | "too_old" | "late" | "id_reused", "missing": null,
///      "error": TEXT | null, "attempts": 0, "due": null, "time": TIME | null, "first_seen": TIME,
///      "position": {"topic": T, "partition": N, "offset": N} | null}
///
/// What cannot be decoded has neither aggregate nor sequence, and an `error` that says what is wrong with it
/// and where. `first_seen` is when it was rejected. The bytes: `ratchet status --rejected`.
namespace ratchet {

/// TOPIC/PARTITION@OFFSET, with .INDEX behind it of an event that is not its record's first; or /0@HASH of a
/// plain file's; position_of() takes it back.
[[nodiscard]] std::string position_word(const kept_rejected::position&);
[[nodiscard]] std::optional<kept_rejected::position> position_of(std::string_view text);

/// As list_waiting(), in the order of position.
[[nodiscard]] result<waiting_listed> list_rejected(const store_view&, const named_stream&,
                                                   const waiting_filter&, bool json, const byte_sink&);
/// How many fit. Errors: state_damaged; of the store.
[[nodiscard]] result<std::uint64_t> count_rejected(const store_view&, const named_stream&,
                                                   const waiting_filter&);

}  // namespace ratchet
