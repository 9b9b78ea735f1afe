// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/sequence_range.hpp"

#include <algorithm>
#include <limits>

namespace ratchet {

namespace {

constexpr std::uint64_t k_highest_number = std::numeric_limits<std::uint64_t>::max();
/// Ranges of skipped numbers kept for one aggregate. Beyond, the two lowest become one: what was applied
/// between them and comes again is then called late where it would have been stale.
constexpr std::size_t k_skipped_ranges = 256;

}  // namespace

sequence before(sequence s) noexcept {
  return s.number > 0 ? sequence{s.epoch, s.number - 1} : sequence{s.epoch - 1, k_highest_number};
}

sequence behind(sequence s) noexcept {
  return s.number < k_highest_number ? sequence{s.epoch, s.number + 1} : sequence{s.epoch + 1, 0};
}

std::string to_text(sequence s) {
  std::string text = std::to_string(s.number);
  return s.epoch == 0 ? text : "[" + std::to_string(s.epoch) + ", " + text + "]";
}

void add_range(std::vector<sequence_range>& ranges, sequence_range added) {
  const auto at =
      std::upper_bound(ranges.begin(), ranges.end(), added,
                       [](const sequence_range& a, const sequence_range& b) { return a.first < b.first; });
  if (at != ranges.begin() && behind(std::prev(at)->last) == added.first) {
    std::prev(at)->last = added.last;
    return;
  }
  ranges.insert(at, added);
  if (ranges.size() > k_skipped_ranges) {
    ranges[1].first = ranges[0].first;
    ranges.erase(ranges.begin());
  }
}

}  // namespace ratchet
