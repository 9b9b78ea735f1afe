// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/record.hpp"
#include "ratchet/snapshot_bytes.hpp"
#include "ratchet/types.hpp"

/// What a store remembers of a stream as a whole, and the rows it keeps. Plain values: the owner thread holds
/// one copy, each step makes the next one, and the store writes what changed in the step's batch.
namespace ratchet {

/// A stream's number inside one store; given when its name is first seen, and never again.
enum class stream_id : std::uint32_t {};

/// Which part of the state an aggregate lives in: 0 is the instance.
enum class slot : std::uint32_t {};
constexpr slot k_instance_slot{0};

/// A stream, or the part of it that lies in one slot.
struct stream_slot {
  stream_id stream{0};
  ratchet::slot slot{k_instance_slot};
  // NOLINTNEXTLINE(google-explicit-constructor): a stream that is not cut into slots is all in that of the
  // instance
  constexpr stream_slot(stream_id all, ratchet::slot in = k_instance_slot) noexcept : stream{all}, slot{in} {}
  friend constexpr auto operator<=>(const stream_slot&, const stream_slot&) = default;
};

/// Counters by verdict and by reason. An event is counted once; see `consumed`.
struct counters {
  std::uint64_t applied{0};
  std::uint64_t superseded{0};
  std::uint64_t duplicate{0};
  std::uint64_t stale{0};
  std::uint64_t ignored{0};
  std::uint64_t skipped{0};
  std::uint64_t discarded{0};
  std::uint64_t rejected_malformed{0};
  std::uint64_t rejected_conflict{0};
  std::uint64_t rejected_too_old{0};
  std::uint64_t rejected_late{0};
  std::uint64_t rejected_id_reused{0};
  std::uint64_t rejected_below_first{0};
  std::uint64_t rejected_sequence_mixed{0};
  std::uint64_t waiting_parked{0};
  std::uint64_t waiting_retrying{0};
  std::uint64_t waiting_dead{0};
  /// Events taken in, as many as records where each holds one: counted on its own, so that the ledger can be
  /// checked against the sum of the rest.
  std::uint64_t consumed{0};
  /// Ids whose own time was further ahead of their record than the allowed skew. Not a part of the ledger.
  std::uint64_t ids_ahead{0};
  /// Record times that were far ahead of their neighbours', which did not bear them out. Not a part of the
  /// ledger.
  std::uint64_t times_passed_over{0};
  /// Record times that lay behind the window of their own partition. Not a part of the ledger.
  std::uint64_t times_behind{0};
  /// What the waiting events take, as their limit counts it. Not a part of the ledger.
  std::uint64_t waiting_bytes{0};
  /// Aggregates that were forgotten, and are gone or began anew since. Not a part of the ledger.
  std::uint64_t forgotten{0};

  [[nodiscard]] constexpr std::uint64_t waiting() const noexcept {
    return waiting_parked + waiting_retrying + waiting_dead;
  }
  [[nodiscard]] constexpr std::uint64_t rejected() const noexcept {
    return rejected_malformed + rejected_conflict + rejected_too_old + rejected_late + rejected_id_reused +
           rejected_below_first + rejected_sequence_mixed;
  }
  /// The ledger: every event is in exactly one of these. Equal to `consumed` at any moment.
  [[nodiscard]] constexpr std::uint64_t accounted() const noexcept {
    return applied + superseded + duplicate + stale + rejected() + ignored + skipped + discarded +
           waiting_parked + waiting_retrying + waiting_dead;
  }
  /// Counts one event by what became of it. `unhandled` counts nothing.
  void count(decision) noexcept;
  /// These counters less `before`, member by member: what one run did.
  [[nodiscard]] counters since(const counters& before) const noexcept;
  friend constexpr bool operator==(const counters&, const counters&) = default;
};

/// Next offsets of a partition that was not read yet, and whose log nobody could look at: it begins where its
/// log ends when that is known, or where it starts. Kafka's own numbers.
constexpr std::int64_t k_from_log_end = -1;
constexpr std::int64_t k_from_log_start = -2;

/// A record by its place, and by what is in it.
struct known_record {
  std::int64_t offset{0};
  hash128 hash;  ///< XXH3-128 of its key and value
  friend constexpr bool operator==(const known_record&, const known_record&) = default;
};

constexpr std::int64_t k_passed_over = -1;

/// A record whose time lies far ahead of those before it in its partition.
struct time_leap {
  timestamp time;
  std::int64_t offset{0};  ///< k_passed_over: it was passed over, and `time` is not its own any more
  friend bool operator==(const time_leap&, const time_leap&) = default;
};

/// What is remembered of one partition.
struct partition_state {
  /// Without a position it is there to hold the floor back alone, as its events are still to come.
  std::int64_t next_offset{0};
  /// So many events of the record there were handled: a step may end within a record that holds several.
  std::uint32_t next_index{0};
  /// The highest record time that is believed, see believe_time(); at most the clock plus the allowed skew of
  /// when its record was handled.
  std::optional<timestamp> highest_time;
  /// What no record since has spoken against, and too few have borne out: by time, the lowest first.
  std::vector<time_leap> leaps;
  /// Left out of the floor, as it is read, and there is nothing to read; or as nobody reads it any more. Its
  /// next record brings it back, and so does whoever learns that it has one or may have one.
  bool idle{false};
  /// Malformed records in a row.
  std::uint32_t malformed_run{0};
  /// The last record that was handled, if in part: not right below next_offset where transaction markers,
  /// which nobody is given, lie between. None: nothing was handled since the position was set.
  std::optional<known_record> last_record;
  /// The highest number of each source; of monotonic ids alone.
  std::map<std::string, sequence, std::less<>> last_ids;

  [[nodiscard]] constexpr bool has_position() const noexcept { return next_offset >= 0; }
  [[nodiscard]] constexpr event_place next() const noexcept { return {next_offset, next_index}; }
  /// Nothing of the record at this offset was handled.
  constexpr void move_to(std::int64_t offset) noexcept {
    next_offset = offset;
    next_index = 0;
  }
  friend bool operator==(const partition_state&, const partition_state&) = default;
};

/// Which aggregates of a stream are forgotten, by when their last event was handled; see core/retention.hpp.
struct retention_state {
  /// Those that were handled last before this; only grows, also where `retention` becomes longer or goes.
  /// None: the stream never had a `retention`, or no time.
  std::optional<timestamp> before;
  /// Stands in for the time of rows that have none, as they are older than the stream's `retention`: when it
  /// had one first. None: such rows are kept.
  std::optional<timestamp> since;
  friend bool operator==(const retention_state&, const retention_state&) = default;
};

/// What is remembered of one stream.
struct stream_state {
  /// The window's floor; only grows. None until every partition has shown a time or was left out.
  std::optional<timestamp> floor;
  ratchet::counters counters;
  std::map<topic_partition, partition_state> partitions;
  retention_state retention;

  /// False: nothing of the stream was read yet.
  [[nodiscard]] bool has_positions() const noexcept {
    return std::any_of(partitions.begin(), partitions.end(),
                       [](const auto& partition) { return partition.second.has_position(); });
  }
  friend bool operator==(const stream_state&, const stream_state&) = default;
};

/// The row of an aggregate: what was handled last, and its snapshot.
struct aggregate_row {
  bool has_last{true};  ///< false: nothing was applied or skipped yet, and there is no snapshot
  bool waits{false};    ///< it has a backlog
  sequence last;
  std::optional<event_id> id;
  hash128 payload_hash;           ///< XXH3-128 of the reducer's input; zero for a tombstone
  std::optional<timestamp> time;  ///< the event's own time, else its record's
  bool deleted{false};            ///< there is no snapshot: a tombstone came, or the reducer erased it
  snapshot_bytes snapshot;
  /// Id and payload hash were not looked up, as no event of the step has the number `last`: they are as
  /// stored.
  bool partial{false};
  /// When its last event was handled, in the time of the stream; of a stream with a `retention` alone.
  std::optional<timestamp> seen{};
  friend bool operator==(const aggregate_row&, const aggregate_row&) = default;
};

/// A rejected record as it is kept. Keyed by position, so that reading it again does not double it.
struct rejected_row {
  topic_partition where;  ///< topic empty: a plain file; then `offset` is a hash of the content
  std::int64_t offset{0};
  std::uint64_t step{0};
  timestamp at;  ///< when it was rejected, by the clock
  reject_reason reason{reject_reason::none};
  std::string detail;                         ///< for malformed ones the fault's name, else the aggregate
  std::optional<ratchet::sequence> sequence;  ///< none: malformed, or the order has none
  std::optional<event_id> id;
  std::optional<timestamp> time;  ///< the event's own
  std::string pointer;
  std::uint64_t byte_offset{0};
  std::optional<timestamp> record_time;
  std::optional<std::string> key;
  std::optional<std::string> value;
  bool truncated{false};  ///< the value was longer than what is kept
  /// Which of its record's events it is; 0 in plain files. Key and value: of a record that holds several, the
  /// value is the event.
  std::uint32_t index{0};
  [[nodiscard]] event_place place() const noexcept { return {offset, index}; }
  friend bool operator==(const rejected_row&, const rejected_row&) = default;
};

/// Offsets from `from` up to, but without, `to`.
struct offset_range {
  std::int64_t from{0};
  std::int64_t to{0};
  friend bool operator==(const offset_range&, const offset_range&) = default;
};

/// What an operator or a start decided: kept for ever, as it explains a hole in the ledger.
struct audit_row {
  std::uint64_t step{0};
  timestamp time;
  std::string kind;                           ///< in snake_case, as in "resume_store_lost"
  std::string stream;                         ///< empty: it is about the whole store
  std::string text;                           ///< one line
  std::optional<topic_partition> where{};     ///< the partition it is about, where it is about one
  std::optional<offset_range> not_handled{};  ///< offsets that were passed over or lost
  friend bool operator==(const audit_row&, const audit_row&) = default;
};

}  // namespace ratchet
