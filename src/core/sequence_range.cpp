// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/sequence_range.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace ratchet {

namespace {

constexpr std::uint64_t k_highest_number = std::numeric_limits<std::uint64_t>::max();

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

std::vector<sequence_range> add_range(std::vector<sequence_range>& ranges, sequence_range added) {
  std::vector<sequence_range> news;
  sequence from = added.first;  // what lies below is known
  auto at = std::find_if(ranges.begin(), ranges.end(), [&added](const sequence_range& r) {
    return r.last >= added.first || behind(r.last) == added.first;
  });
  while (at != ranges.end() && at->first <= added.last) {
    if (from < at->first) news.push_back({from, before(at->first)});
    from = std::max(from, behind(at->last));
    added = {std::min(added.first, at->first), std::max(added.last, at->last)};
    at = ranges.erase(at);
  }
  if (from <= added.last) news.push_back({from, added.last});
  ranges.insert(at, added);
  if (ranges.size() > k_skipped_ranges) {
    ranges[1].first = ranges[0].first;
    ranges.erase(ranges.begin());
  }
  return news;
}

void join_ranges(std::vector<sequence_range>& ranges) {
  const auto is_apart = [](const sequence_range& a, const sequence_range& b) { return a.last < b.first; };
  const bool is_sound =
      std::all_of(ranges.begin(), ranges.end(), [](const sequence_range& r) { return r.first <= r.last; });
  const auto overlap = std::adjacent_find(ranges.begin(), ranges.end(),
                                          [&](const auto& a, const auto& b) { return !is_apart(a, b); });
  if (!is_sound || overlap == ranges.end()) return;
  for (const sequence_range& r : std::exchange(ranges, {})) (void)add_range(ranges, r);
}

}  // namespace ratchet
