// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ratchet/types.hpp"

namespace ratchet {

/// Ranges of skipped numbers kept for one aggregate. Beyond, the two lowest become one: what was applied
/// between them and comes again is then called late where it would have been stale.
constexpr std::size_t k_skipped_ranges = 256;

/// Numbers of one aggregate, both ends included.
struct sequence_range {
  sequence first;
  sequence last;
  [[nodiscard]] bool holds(sequence s) const noexcept { return first <= s && s <= last; }
  friend bool operator==(const sequence_range&, const sequence_range&) = default;
};

/// The one right before and right behind, over the border of an epoch, too. before() of {0, 0} and behind()
/// of the highest are not asked for.
[[nodiscard]] sequence before(sequence) noexcept;
[[nodiscard]] sequence behind(sequence) noexcept;

/// "5", or "[1, 5]" in an epoch that is not 0: as JSON output spells it.
[[nodiscard]] std::string to_text(sequence);

/// Adds a range to such that are apart from each other and in order; joins it with those that it overlaps,
/// and with the one that it follows. Keeps k_skipped_ranges at most, the lowest two of which become one.
/// Returns what of it was in none of them, in order.
std::vector<sequence_range> add_range(std::vector<sequence_range>&, sequence_range added);

/// Joins those that overlap, as an earlier version left them. Leaves ranges alone that end before they begin.
void join_ranges(std::vector<sequence_range>&);

}  // namespace ratchet
