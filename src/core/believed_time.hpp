// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "core/stream_state.hpp"
#include "ratchet/types.hpp"

namespace ratchet {

/// Raises the highest time of a partition to this one, or to `cap` where that is lower.
void raise_time(partition_state&, timestamp to, timestamp cap) noexcept;

/// A partition has no time before so many of its records.
constexpr std::size_t k_first_times = 8;

/// A record speaks against so many leaps at most.
constexpr std::size_t k_most_spoken_against = 2;

/// What came of a record's time.
struct time_news {
  std::size_t passed_over{0};     ///< so many leaps were passed over
  time_leap first_passed_over{};  ///< the first of them
  /// The furthest leap that is believed from now on, if one is: the time of the partition jumped there.
  std::optional<time_leap> followed{};
};

/// Moves the highest time that is believed of a partition by one record's, so that no single clock that is
/// wrong moves it far, or holds it back. Depends on nothing but the partition's records in their order and
/// `cap`.
///
/// - A time at most `max_skew` (a second at least) ahead of the highest counts at once.
/// - One that is further ahead is a leap. It counts once as many leaps lie there or beyond as the distance
///   asks for, leaps_needed(), and the furthest of them lies so far beyond it as lasting() says, or they are
///   k_most_leaps: a producer sends its records in batches, so that many in a row may be of one clock.
/// - A record speaks against the two furthest leaps that lie more than `max_skew` beyond it: they are passed
///   over. Where it is a leap itself they go on as if they lay just there. So a clock that is ahead moves
///   nothing where it makes less than half of the records, and one that is behind holds nothing up where it
///   makes less than a third. A record more than `max_skew` below the highest says nothing.
/// - The first time is that behind which three quarters of the first records lie: once they are k_first_times
///   and go on for `max_skew` from there, or are k_most_leaps.
///
/// `cap` bounds what is believed: the clock plus `max_skew`.
time_news believe_time(partition_state&, time_leap of_record, timestamp cap,
                       std::chrono::milliseconds max_skew);

/// Whether a record's time lies further than this behind what is believed of its partition.
[[nodiscard]] bool lies_behind(const partition_state&, timestamp, std::chrono::milliseconds by) noexcept;

/// No partition has more leaps: as many in a row are believed.
constexpr std::size_t k_most_leaps = 1000;

/// leaps_needed() is never more.
constexpr std::size_t k_most_leaps_needed = 64;

/// How many leaps bear a time out that is so far ahead of the highest: two for each time that the distance
/// doubles `skew`, which is above 0. With 5 minutes that is 8 for an hour, 18 for a day, 34 for a year.
[[nodiscard]] std::size_t leaps_needed(std::chrono::milliseconds ahead,
                                       std::chrono::milliseconds skew) noexcept;

/// How long they have to go on, by their own times: `skew`, or a 1024th of the distance where that is longer.
[[nodiscard]] std::chrono::milliseconds lasting(std::chrono::milliseconds ahead,
                                                std::chrono::milliseconds skew) noexcept;

}  // namespace ratchet
