// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>

#include "ratchet/export.hpp"

/// The vocabulary of Ratchet: plain values without behaviour of their own.
namespace ratchet {

/// A point in time with the resolution of Kafka's record timestamps, milliseconds since 1970 in UTC.
using timestamp = std::chrono::sys_time<std::chrono::milliseconds>;

/// The producer's ordinal of an event within its aggregate; the epoch is compared first. A plain counter n is
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

/// A 128-bit event id; for UUIDv7 (RFC 9562, section 5.7) the upper 48 bits are its own time. An opaque one
/// is XXH3-128 of its text.
struct event_id {
  std::uint64_t high{0};
  std::uint64_t low{0};
  friend constexpr auto operator<=>(const event_id&, const event_id&) = default;
  /// The id's own time. Only meaningful for time-ordered kinds of id.
  [[nodiscard]] constexpr timestamp time() const noexcept {
    return timestamp{std::chrono::milliseconds{static_cast<std::int64_t>(high >> 16)}};
  }
};

/// A 128-bit hash. Which algorithm made it is said where it is persisted.
struct hash128 {
  std::uint64_t high{0};
  std::uint64_t low{0};
  friend constexpr auto operator<=>(const hash128&, const hash128&) = default;
};

/// A partition of a topic; an id, not a number to calculate with.
enum class partition_id : std::int32_t {};

struct topic_partition {
  std::string topic;
  partition_id partition{0};
  friend auto operator<=>(const topic_partition&, const topic_partition&) = default;
};

/// What a producer's versions are, and how they are compared. Each is kept in the 128 bits of a sequence in
/// its own order, or its record is malformed.
enum class sequence_kind : std::uint8_t {
  by_format,  ///< what the format of the envelope makes of it: see envelope_config::sequence_as
  integer,    ///< digits
  decimal,    ///< up to 20 digits before the point and 19 behind it; 3.0 is 3
  time,       ///< RFC 3339, with up to 19 digits of a fraction
  lsn,        ///< log positions of PostgreSQL, 16/B374D848, and of SQL Server, 00000027:00000758:0005
  hlc,        ///< CockroachDB's: nanoseconds, a point, and a counter of ten digits
  ulid,
  uuidv7,
  text,  ///< compared byte by byte; see core/ordered_text.hpp for what fits
};

/// How the events of one aggregate depend on each other.
enum class order : std::uint8_t {
  latest,   ///< events carry full state: the newest wins, older ones are discarded
  strict,   ///< every event is applied, n+1 after n; later ones are parked
  arrival,  ///< events carry no sequence: each id is applied once, in the order of arrival
};

/// What became of a record.
enum class verdict : std::uint8_t {
  applied,     ///< its effect is in the state
  superseded,  ///< `latest`: a newer event of the same step made it needless
  duplicate,   ///< it was handled before
  stale,       ///< a newer event was handled before it
  rejected,    ///< it cannot be handled; see reject_reason
  ignored,     ///< it is none of the stream's events: the envelope, `types` or `ignore` says so
  parked,      ///< it came early and is kept until the gap before it closes
  retrying,    ///< its reducer failed; it is kept and tried again
  dead,        ///< its reducer gave up, or failed too often; it is kept until an operator decides
  unhandled,   ///< not looked at: its partition was stopped before it, and its offset stays
};

/// Why a record was rejected.
enum class reject_reason : std::uint8_t {
  none,
  malformed,    ///< it cannot be decoded
  conflict,     ///< two events claim one sequence number
  too_old,      ///< it is older than the memory that could tell whether it was handled
  late,         ///< its number was skipped meanwhile
  id_reused,    ///< a new sequence number under an event id that was handled before
  below_first,  ///< `strict`: its number is below the first one that the config names
};

/// The answer of the gate and the final answer of a step for one record.
struct decision {
  ratchet::verdict verdict{verdict::unhandled};
  reject_reason reason{reject_reason::none};
  friend constexpr bool operator==(const decision&, const decision&) = default;
};

/// The names used in output, in counters and in documents; never changed, as people grep for them.
[[nodiscard]] RATCHET_EXPORT const char* name_of(order) noexcept;
[[nodiscard]] RATCHET_EXPORT const char* name_of(verdict) noexcept;
[[nodiscard]] RATCHET_EXPORT const char* name_of(reject_reason) noexcept;

}  // namespace ratchet
