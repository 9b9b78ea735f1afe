// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/stream_state.hpp"
#include "ports/store_view.hpp"
#include "ratchet/error.hpp"
#include "reports/id_spelling.hpp"
#include "reports/row_walk.hpp"
#include "reports/wait_explanation.hpp"
#include "text/byte_sink.hpp"

/// `ratchet explain`: what a store knows of one aggregate, or of one event id.
///
///     {"stream": S, "known": BOOL, "floor": TIME | null,
///      "aggregate": A,                                               asked for an aggregate
///      "event_id": ID, "event_time": TIME | null,                    asked for an event
///      "window": "inside" | "before_floor" | "not_seen" | "off",
///      "aggregates": [{"aggregate": A,                               asked for an aggregate: one or none
///                      "last_handled": {"sequence": Q, "event_id": ID | null, "time": TIME | null,
///                                       "payload_hash": HEX, "deleted": BOOL, "snapshot_bytes": N | null,
///                                       "event_in_window": BOOL | null} | null,
///                      "backlog": {"parked": N, "retrying": N, "dead": N, "highest": Q, "held": BOOL,
///                                  "missing": {"first": Q, "last": Q} | null, "gap_since": TIME | null,
///                                  "next_try": TIME | null, "skipped": [{"first": Q, "last": Q}]} | null,
///                      "is_last": BOOL}],                            asked for an event
///      "more_aggregates": BOOL,                                      asked for an event
///      "waiting": [...], "more_waiting": BOOL,
///      "rejected_records": [...], "audit": [...]}
///
/// Where ids are opaque the event's is shown as it was asked for, any other as the hash that is stored, and
/// `event_time` is the time that it is filed under, null where it is not.
///
/// Q is a number, or [epoch, number]. `aggregates` of an event are those for which it was applied or
/// superseded: identity is (aggregate, id). `rejected_records` are the kept ones that name the aggregate or
/// the id: by what was decoded of them, or, of those that cannot be decoded, by their bytes. In which
/// partition an aggregate's events come is not stored, so that `audit` has, beside the rows about those
/// aggregates, every row about the stream or the store as a whole. Of an event so many aggregates are told
/// apart (100), and of kept records that name others the audit rows are left out. `waiting` are the
/// aggregate's lowest waiting events, or those with the id, as `ratchet waiting list` prints them; of a
/// backlog that is held all count as dead.
namespace ratchet {

struct explained_aggregate {
  std::string aggregate;
  std::optional<aggregate_row> row;  ///< none: nothing of it was applied yet, or that is forgotten
  std::optional<ratchet::backlog> backlog{};
  std::optional<sequence_range> missing{};  ///< below the lowest that waits
  std::optional<timestamp> last_filed{};    ///< when the id of the last event was filed, where it still is
};

/// An event that waits, with why.
struct explained_event {
  std::string aggregate;
  waiting_event event;
  wait_story story;
};

enum class id_place : std::uint8_t {
  inside,        ///< filed, and not before the floor: a repeat is told by it
  before_floor,  ///< older than the window: it tells nothing, whatever still lies on disk
  not_seen,      ///< not filed, though it would still be remembered
  off,           ///< the stream keeps no ids
};

struct explain_report {
  std::string stream;
  std::optional<std::string> aggregate;  ///< what was asked for: this,
  std::optional<event_id> event;         ///< or this
  std::string event_text;                ///< and how it was spelt, where `event` is its hash
  id_spelling ids{};                     ///< of the stream
  std::optional<timestamp> floor;
  std::optional<timestamp> forgotten_before;  ///< retention_state::before
  bool keeps_ids{true};
  bool supersedes{true};  ///< the stream's order: a newer event may replace an older one of its step
  id_place place{id_place::not_seen};   ///< of `event`
  std::optional<timestamp> event_time;  ///< of `event`: its own, else the latest that it is filed under
  std::vector<explained_aggregate> aggregates;
  bool more_aggregates{false};  ///< the id is filed under still others
  std::vector<explained_event> waiting;
  bool more_waiting{false};
  rejected_walk rejected;  ///< newest first; empty: there are none
  audit_walk audits;       ///< borrows the view
  bool is_audited{false};  ///< nothing else is known, and some of these are of `aggregate` itself

  [[nodiscard]] bool is_below_floor(timestamp t) const noexcept { return floor && t < *floor; }
  [[nodiscard]] bool is_known() const noexcept {
    return !aggregates.empty() || !waiting.empty() || rejected || is_audited;
  }
};

/// Where `wanted` says false, nobody wants the report any more, and it is not complete. Errors:
/// state_damaged; of the store.
using still_wanted = std::function<bool()>;
[[nodiscard]] result<explain_report> explain_aggregate(const store_view&, const named_stream&,
                                                       const std::string& aggregate, const still_wanted&);
[[nodiscard]] result<explain_report> explain_event(const store_view&, const named_stream&, const asked_id&,
                                                   const still_wanted&);

/// Writes it in pieces, with rows that are read meanwhile: one line of JSON, or lines for people. Errors: of
/// the store, behind a part of the answer.
[[nodiscard]] result<void> write_explained(const explain_report&, bool json, const byte_sink&);
/// not_found, with what it means that nothing is known.
[[nodiscard]] problem nothing_known(const explain_report&);

/// True where `text` stands in `bytes` as a whole word: what touches it is no letter, digit, - or _ of ASCII.
/// Letters are compared without their case where `any_case`.
[[nodiscard]] bool mentions(std::string_view bytes, std::string_view text, bool any_case) noexcept;

}  // namespace ratchet
