// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>

#include "ratchet/export.hpp"

/// The vocabulary of Ratchet: plain values without behaviour.
namespace ratchet {

/// A point in time with the resolution of Kafka's record timestamps: milliseconds since 1970 in UTC.
using timestamp = std::chrono::sys_time<std::chrono::milliseconds>;

/// The producer's number of an event within its aggregate. The epoch is compared first. A plain counter n is
/// {0, n}; a 128-bit number is {high, low}; a log position is {commit LSN, event LSN}.
struct sequence {
  std::uint64_t epoch{0};
  std::uint64_t number{0};
  friend constexpr auto operator<=>(const sequence&, const sequence&) = default;
};

constexpr sequence seq(std::uint64_t number) noexcept {
  return {0, number};
}
constexpr sequence seq(std::uint64_t epoch, std::uint64_t number) noexcept {
  return {epoch, number};
}

/// A 128-bit event id. The upper 48 bits of a UUIDv7 are its time (RFC 9562, section 5.7). An opaque id is
/// XXH3-128 of its text.
struct event_id {
  std::uint64_t high{0};
  std::uint64_t low{0};
  friend constexpr auto operator<=>(const event_id&, const event_id&) = default;
  /// The time within the id. Defined only for kinds of ids that hold one.
  [[nodiscard]] constexpr timestamp time() const noexcept {
    return timestamp{std::chrono::milliseconds{static_cast<std::int64_t>(high >> 16)}};
  }
};

/// A 128-bit hash. The place that stores it names the algorithm.
struct hash128 {
  std::uint64_t high{0};
  std::uint64_t low{0};
  friend constexpr auto operator<=>(const hash128&, const hash128&) = default;
};

/// A partition of a topic. An id: do not calculate with it.
enum class partition_id : std::int32_t {};

struct topic_partition {
  std::string topic;
  partition_id partition{0};
  friend auto operator<=>(const topic_partition&, const topic_partition&) = default;
};

/// The kind of a producer's versions, which defines how they are compared. Each version must fit into the 128
/// bits of a sequence in this order, or its record is malformed.
enum class sequence_kind : std::uint8_t {
  by_format,  ///< the format of the envelope decides: see envelope_config::sequence_as
  integer,    ///< digits
  decimal,    ///< up to 20 digits before the point and 19 after it; 3.0 is 3
  time,       ///< RFC 3339, with a fraction of up to 19 digits
  lsn,        ///< log positions of PostgreSQL, 16/B374D848, and of SQL Server, 00000027:00000758:0005
  hlc,        ///< CockroachDB's time: nanoseconds, a point, and a counter of ten digits
  ulid,
  uuidv7,
  text,  ///< compared byte by byte; core/ordered_text.hpp has the limits
};

/// How the events of one aggregate depend on each other.
enum class order : std::uint8_t {
  latest,   ///< events carry the full state: the newest wins, older ones are stale
  strict,   ///< every event is applied, n+1 after n; events that come early are parked
  arrival,  ///< events carry no sequence: each id is applied once, in the order of arrival
};

/// The verdict of a record.
enum class verdict : std::uint8_t {
  applied,     ///< its effect is in the state
  superseded,  ///< `latest`: a newer event of the same step replaced it
  duplicate,   ///< it was handled before
  stale,       ///< a newer event was handled before it
  rejected,    ///< it cannot be handled; see reject_reason
  ignored,     ///< the envelope, `types` or `ignore` excludes it from the stream
  parked,      ///< it came early, and waits until the gap before it closes
  retrying,    ///< its reducer failed; it waits, and is tried again
  dead,        ///< its reducer gave up, or failed too often; it waits until an operator decides
  unhandled,   ///< its partition stopped before it; a later start handles it
};

/// Why a record was rejected.
enum class reject_reason : std::uint8_t {
  none,
  malformed,       ///< Ratchet cannot decode it
  conflict,        ///< two events claim one sequence number
  too_old,         ///< it is older than the window, so Ratchet cannot tell whether it was handled
  late,            ///< its number was skipped before it came
  id_reused,       ///< a new sequence number under the id of a handled event
  below_first,     ///< `strict`: its number is below `first`
  sequence_mixed,  ///< CloudEvents in `latest`: a number where the aggregate has text, or the other way round
};

/// The verdict of the gate, and the final verdict of a step, for one record.
struct decision {
  ratchet::verdict verdict{verdict::unhandled};
  reject_reason reason{reject_reason::none};
  friend constexpr bool operator==(const decision&, const decision&) = default;
};

/// The names in output, counters and pages. They never change, because people grep for them.
[[nodiscard]] RATCHET_EXPORT const char* name_of(order) noexcept;
[[nodiscard]] RATCHET_EXPORT const char* name_of(verdict) noexcept;
[[nodiscard]] RATCHET_EXPORT const char* name_of(reject_reason) noexcept;

}  // namespace ratchet
