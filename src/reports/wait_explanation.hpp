// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/waiting.hpp"
#include "ports/store_view.hpp"
#include "ratchet/error.hpp"
#include "ratchet/gate.hpp"
#include "reports/id_spelling.hpp"
#include "text/json_writer.hpp"

/// Why events wait, for people: drawn from what is stored, deciding nothing. A waiting event is
///
///     {"stream": S, "aggregate": A, "sequence": Q, "event_id": ID | null,
///      "state": "parked" | "retrying" | "dead",
///      "reason": "gap" | "epoch" | "behind" | "ready" | "limit" | "reducer" | "too_old",
///      "missing": {"first": Q, "last": Q} | null,                       gap: the numbers, where they are
///      known "error": TEXT | null, "attempts": N, "due": TIME | null, "time": TIME | null, "first_seen":
///      TIME, "position": {"topic": T, "partition": N, "offset": N} | null}    null: it came from a plain
///      file
///
/// A position has an `index` behind the offset where it is not the first event of its record.
/// Q is a number, or [epoch, number]; in `arrival` order the number that the event was given. `time` is the
/// event's own, else its record's. `due` is of a retrying one.
namespace ratchet {

/// What of an aggregate tells why its events wait.
struct waiting_aggregate {
  ratchet::backlog backlog;
  std::optional<sequence> last;                     ///< handled, or accepted
  std::optional<sequence> lowest;                   ///< of those that wait and are not accepted
  std::optional<std::uint64_t> lowest_begins_at{};  ///< its waiting_head's
  std::optional<sequence> begins_first{};           ///< of ranges: where the one begins that begins first
  std::optional<sequence> lowest_accepted{};
};

struct wait_story {
  waiting_state state{waiting_state::parked};  ///< dead where the aggregate is held
  wait_reason reason{wait_reason::gap};
  std::optional<sequence_range> missing;  ///< of a gap, where they are known
  friend bool operator==(const wait_story&, const wait_story&) = default;
};

/// The rules that the stored state was made with.
[[nodiscard]] gate_rules rules_of(const named_stream&);
/// None where nothing of it waits. Errors: state_damaged; of the store.
[[nodiscard]] result<std::optional<waiting_aggregate>> read_waiting_aggregate(const store_view&, stream_id,
                                                                              std::string_view aggregate);
/// A place in front of the aggregate's first event, and behind nearly all that come before it.
[[nodiscard]] waiting_place in_front_of(std::string_view aggregate);

[[nodiscard]] wait_story story_of(const gate_rules&, const waiting_aggregate&, const waiting_head&);
/// The same of a whole event, which also tells that it is too old.
[[nodiscard]] wait_story story_of(const gate_rules&, const waiting_aggregate&, const waiting_event&);
/// The numbers that are missing below the lowest that is not accepted; none where there is no gap, or nobody
/// knows them.
[[nodiscard]] std::optional<sequence_range> missing_below_lowest(const gate_rules&, const waiting_aggregate&);

/// The oldest gap of a stream.
struct gap_report {
  std::string aggregate;
  timestamp since;  ///< in stream time
  std::optional<sequence_range> missing;
};
/// None where no gap has an age. Errors: state_damaged; of the store.
[[nodiscard]] result<std::optional<gap_report>> oldest_gap_of(const store_view&, const named_stream&);
/// Stream time as the stored state tells it, which does not hold the window: the lowest of what the
/// partitions have come to, those left out apart. Where all are, the highest. None where no record had a
/// time.
[[nodiscard]] std::optional<timestamp> stream_time_of(const stream_state&) noexcept;
/// In stream time; never below 0.
[[nodiscard]] std::chrono::milliseconds age_of(const gap_report&, const stream_state&) noexcept;
/// The two largest units of it, as in "3h 12m" or "800ms".
[[nodiscard]] std::string age_text(std::chrono::milliseconds);

/// "7", or "3:7" of an epoch other than 0; sequence_of() takes it back, and [3,7] too.
[[nodiscard]] std::string sequence_word(sequence);
[[nodiscard]] std::optional<sequence> sequence_of(std::string_view text) noexcept;

/// "6 is missing", "6 to 8 are missing".
[[nodiscard]] std::string missing_text(const sequence_range&);
/// The value of the key "missing".
void write_missing(json_writer&, const std::optional<sequence_range>&);

/// The event's own time, else its record's.
[[nodiscard]] std::optional<timestamp> time_of(const waiting_event&) noexcept;
/// An event's members, as above, without the braces.
void write_waiting_members(json_writer&, std::string_view stream, const id_spelling&,
                           std::string_view aggregate, const waiting_event&, const wait_story&);
/// The value of the key "position": null for a plain file's.
void write_position(json_writer&, const topic_partition&, event_place);
/// What one line for people tells; whoever prints it does so by append_line().
[[nodiscard]] std::string waiting_line(const id_spelling&, std::string_view aggregate, const waiting_event&,
                                       const wait_story&);

}  // namespace ratchet
