// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/record.hpp"
#include "core/sequence_range.hpp"
#include "ratchet/config.hpp"
#include "ratchet/types.hpp"

/// What is kept of events that cannot be handled yet. Plain values, as the store keeps them.
namespace ratchet {

enum class waiting_state : std::uint8_t {
  parked,    ///< it came before its turn
  retrying,  ///< its reducer failed, and it has a time when it is tried again
  dead,      ///< nobody but an operator moves it
};

/// A record's own bytes. Of one that holds several events, those of a record that holds this event alone.
struct kept_record {
  topic_partition where;  ///< topic empty: a plain file
  std::int64_t offset{0};
  std::optional<timestamp> time;  ///< what moved the floor
  std::optional<std::string> key;
  std::optional<std::string> value;
  std::vector<std::pair<std::string, std::optional<std::string>>> headers;
  std::uint32_t index{0};  ///< which of its record's events it is
  [[nodiscard]] event_place place() const noexcept { return {offset, index}; }
  friend bool operator==(const kept_record&, const kept_record&) = default;
};

/// What the gate needs to know of a waiting event.
struct waiting_head {
  ratchet::sequence sequence;  ///< in `arrival` order the number that it was given
  waiting_state state{waiting_state::parked};
  std::optional<event_id> id;
  hash128 payload_hash;  ///< as aggregate_row's
  /// Stream time when the gap below it began; a gap that shrinks keeps it. None where the stream had no time.
  std::optional<timestamp> since;
  std::optional<std::uint64_t> begins_at{};  ///< as decoded_event's
  /// The first number that it covers.
  [[nodiscard]] ratchet::sequence begin() const noexcept {
    return {sequence.epoch, begins_at.value_or(sequence.number)};
  }
  friend bool operator==(const waiting_head&, const waiting_head&) = default;
};

/// A waiting event, whole.
struct waiting_event {
  waiting_head head;
  bool tombstone{false};
  std::string type;
  std::optional<timestamp> time;  ///< the event's own
  timestamp first_seen;           ///< by the clock
  std::uint32_t attempts{0};
  std::optional<timestamp> last_attempt;
  std::optional<timestamp> due;  ///< when it is tried again, by the clock; of a retrying one
  std::string error;             ///< of the last attempt
  kept_record record;
  /// The reducer's input: these bytes of the record's value, or bytes of its own.
  std::uint64_t payload_begin{0};
  std::uint64_t payload_size{0};
  std::optional<std::string> own_payload;
  /// What its opaque id is filed under, where neither its record's time nor head.since says so (it began to
  /// wait below an older one, or was accepted at once).
  std::optional<timestamp> id_time;

  [[nodiscard]] std::string_view payload() const;
  /// What it counts for in `waiting.bytes`: everything of variable size, and 256 for the rest.
  [[nodiscard]] std::uint64_t bytes() const;
  /// It came too old (`too_old: park`), so that no reducer had it, and nobody has decided about it since.
  [[nodiscard]] bool is_undecided() const noexcept {
    return head.state == waiting_state::dead && attempts == 0;
  }
  friend bool operator==(const waiting_event&, const waiting_event&) = default;
};

/// How far the events of an aggregate were let in whose reducer runs later (`handling: deferred`). The gate
/// takes it for the last one handled: so what is said of a record rests on the records before it, and not on
/// how far their reducers have come.
struct accepted_position {
  ratchet::sequence sequence;
  std::optional<event_id> id;  ///< none: it came without one, or the number was skipped
  hash128 payload_hash;
  std::uint64_t events{0};  ///< that wait at or below it, and for nothing but their reducer
  friend bool operator==(const accepted_position&, const accepted_position&) = default;
};

/// An id that is filed although its event was not applied, as it was let in and then taken back: it counts as
/// not seen.
struct reopened_id {
  event_id id;
  timestamp filed;
  friend bool operator==(const reopened_id&, const reopened_id&) = default;
};

/// So many are kept of an aggregate: each of its steps reads and writes all of them.
constexpr std::size_t k_most_reopened = 4096;

/// How many events wait, by what they count as.
struct waiting_counts {
  std::uint64_t parked{0};
  std::uint64_t retrying{0};
  std::uint64_t dead{0};
};

/// What is kept of an aggregate's waiting events as a whole. It is there while any wait or ids are reopened,
/// and for ever where numbers were skipped.
struct backlog {
  std::uint64_t parked{0};  ///< events, each by the state in its own row
  std::uint64_t retrying{0};
  std::uint64_t dead{0};
  sequence highest;  ///< of all that waited since the backlog was last empty
  /// The limit per aggregate was reached: its events, but for accepted ones, count as dead until an operator
  /// decides.
  bool held{false};
  /// The lowest may be handled now: the work of one step was bounded, or its stream defers all events.
  bool ready{false};
  /// By the clock: when there is something to do. Where `ready` it is past: zero, or since when the lowest
  /// accepted event has its turn.
  std::optional<timestamp> wake;
  /// In stream time: the gap below the lowest that is not accepted; never beside `held`.
  std::optional<timestamp> gap_since;
  std::optional<sequence> adopted;            ///< `first: any`: the number that counts as the first
  std::vector<sequence_range> skipped;        ///< numbers that are past without an event; in order, apart
  std::optional<accepted_position> accepted;  ///< there while such events wait
  std::vector<reopened_id> reopened;          ///< none twice; k_most_reopened at most
  /// In stream time: when an operator discarded one of those that waited, so that its number is open, or let
  /// one in that was too old. None of the gaps is older. There while events wait that are not accepted.
  std::optional<timestamp> opened{};
  /// Strict and latest: how many of the dead ones came too old, and nobody has decided about them since.
  std::uint64_t too_old{0};

  [[nodiscard]] std::uint64_t events() const noexcept { return parked + retrying + dead; }
  /// Those that the gate knows as waiting.
  [[nodiscard]] std::uint64_t not_accepted() const noexcept {
    return events() - (accepted ? accepted->events : 0);
  }
  [[nodiscard]] bool is_accepted(sequence s) const noexcept { return accepted && s <= accepted->sequence; }
  /// The work of a step was bounded: what is next is released, or accepted, before any other record is
  /// decided.
  [[nodiscard]] bool goes_on() const noexcept { return ready && (!accepted || wake == timestamp{}); }
  /// Accepted ones are never held.
  [[nodiscard]] waiting_counts counted() const noexcept;
  [[nodiscard]] bool was_skipped(sequence) const noexcept;
  /// Nothing is worth keeping.
  [[nodiscard]] bool empty() const noexcept { return events() == 0 && skipped.empty() && reopened.empty(); }
  friend bool operator==(const backlog&, const backlog&) = default;
};

/// A waiting event that was asked for, and lies where the queue has nothing.
struct asked_row {
  waiting_event event;
  /// The one before it in its aggregate, which there always is: the queue has the lowest.
  waiting_head previous;
  /// So many accepted ones lie below; of an accepted one alone.
  std::uint64_t accepted_below{0};
};

/// What a store found of one aggregate that has a backlog.
struct backlog_rows {
  ratchet::backlog backlog;
  /// The lowest events in the order of their numbers, above those accepted unless the plan runs them: at
  /// least one where there is any. Where the plan asks for events, and the queue ends among the accepted
  /// ones, the lowest behind those follow.
  std::vector<waiting_event> queue;
  /// There is no other waiting event behind the queue.
  bool complete{true};
  std::vector<asked_row> asked{};  ///< by number
  /// Strict and latest: for each of the step's events of this aggregate that lies behind the queue, the first
  /// waiting event at or above its sequence, where there is one. Arrival: those whose id an event of the step
  /// has. By number, none twice, none that is in the queue.
  std::vector<waiting_head> near;
};

/// What a step changes of one aggregate's waiting events. `aggregate` is an index into the plan.
struct backlog_change {
  std::uint32_t aggregate{0};
  std::optional<ratchet::backlog> before;
  std::optional<ratchet::backlog> after;
  std::vector<waiting_event> puts;     ///< new, or in place of the one with this sequence
  std::vector<waiting_head> removals;  ///< of those stored before
  /// Arrival: those stored before that were accepted now and stay. An accepted event claims no id by waiting.
  std::vector<waiting_head> accepted;
};

/// What an operator decides about waiting events.
enum class waiting_verb : std::uint8_t {
  replay,   ///< it is tried again, now, as if for the first time; a held aggregate is one no longer
  skip,     ///< the last-handled sequence moves past it, and it goes
  discard,  ///< it goes, and its number is open again
};

/// One decision. `aggregate` is an index into the plan.
struct waiting_command {
  std::uint32_t aggregate{0};
  waiting_verb verb{waiting_verb::replay};
  ratchet::sequence sequence;
  /// replay: the reducer's input from now on, in place of what came; and its hash.
  std::optional<std::string> payload{};
  hash128 payload_hash{};
};

/// What came of it.
enum class waiting_answer : std::uint8_t {
  done,
  none_waits,      ///< no event of this number waits, and no gap has it
  not_first,       ///< skip: earlier ones wait
  not_in_trouble,  ///< replay: it is parked, and waits for others
  too_many_open    ///< discard: the ids of k_most_reopened others of its aggregate may still come again
};

/// What came of an event that waited, when it leaves or nobody but an operator moves it any more.
enum class waiting_end : std::uint8_t { released, superseded, skipped, discarded, dead, stale };

/// What an event waits for.
enum class wait_reason : std::uint8_t {
  gap,      ///< for those between it and the last one handled
  epoch,    ///< it is of a higher epoch, and `epoch_change: park` leaves that to an operator
  behind,   ///< for earlier ones of its aggregate, which wait themselves
  ready,    ///< for nothing: its turn has come, and a step will take it
  limit,    ///< its aggregate is held, as the limit per aggregate was reached
  reducer,  ///< its reducer failed
  too_old,  ///< nobody can tell whether it was handled, and `too_old: park` leaves that to an operator
};

/// The stable name of the reason: "gap" and so on.
[[nodiscard]] const char* name_of(wait_reason) noexcept;

/// The stable name of the end: "released" and so on.
[[nodiscard]] const char* name_of(waiting_end) noexcept;

/// The stable name of the verb: "replay", "skip", "discard".
[[nodiscard]] const char* name_of(waiting_verb) noexcept;

/// The stable name of the state: "parked", "retrying", "dead".
[[nodiscard]] const char* name_of(waiting_state) noexcept;

}  // namespace ratchet
