// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "core/stream_state.hpp"
#include "ratchet/types.hpp"

namespace ratchet {

/// Raises the highest time of a partition to this one, or to `cap` where that is lower.
void raise_time(partition_state&, timestamp to, timestamp cap) noexcept;

/// So many records of a partition make its first time: the lowest of theirs.
constexpr std::size_t k_first_times = 8;

/// A record speaks against so many leaps at most.
constexpr std::size_t k_most_spoken_against = 2;

/// Moves the highest time that is believed of a partition by one record's, so that no single clock that is
/// wrong moves it far, or holds it back. Depends on nothing but the partition's records in their order and
/// `cap`.
///
/// - A time at most `max_skew` (a second at least) ahead of the highest counts at once.
/// - One that is further ahead is a leap. It counts once as many leaps lie there or beyond as the distance
///   asks for: two for each time that it doubles `max_skew`. With 5 minutes that is 8 for an hour, 18 for a
///   day, 34 for a year, never more than k_most_leaps.
/// - A record speaks against the two furthest leaps that lie more than `max_skew` beyond it: they are passed
///   over. Where it is a leap itself they go on as if they lay just there. So a clock that is ahead moves
///   nothing where it makes less than half of the records, and one that is behind holds nothing up where it
///   makes less than a third. A record more than `max_skew` below the highest says nothing.
/// - The first time is the lowest of the first k_first_times records.
///
/// `cap` bounds what is believed: the clock plus `max_skew`. Returns the leaps that were passed over.
std::vector<time_leap> believe_time(partition_state&, time_leap of_record, timestamp cap,
                                    std::chrono::milliseconds max_skew);

/// So many leaps are believed, however far ahead they are.
constexpr std::size_t k_most_leaps = 64;

/// How many leaps bear a time out that is so far ahead of the highest. `skew` is above 0.
[[nodiscard]] std::size_t leaps_needed(std::chrono::milliseconds ahead,
                                       std::chrono::milliseconds skew) noexcept;

}  // namespace ratchet
