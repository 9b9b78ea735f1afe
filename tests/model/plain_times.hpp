// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

/// Which time is believed of a partition, worked out the slow way, in milliseconds. Shares nothing with
/// src/core/believed_time.cpp.
namespace ratchet::testing {

struct plain_times {
  std::optional<std::int64_t> highest;
  std::vector<std::int64_t> pending;  ///< times far ahead, as they came
  std::vector<bool> is_counted;       ///< of each: as passed over
  std::uint64_t passed_over{0};

  void take(std::int64_t time, std::int64_t now, std::int64_t max_skew) {
    const std::int64_t skew = std::max<std::int64_t>(max_skew, 1000);
    const std::int64_t cap = now + max_skew;
    if (highest && time < *highest - skew) return;
    if (highest && time <= *highest + skew) {
      highest = std::max(*highest, std::min(time, cap));
      passed_over += static_cast<std::uint64_t>(std::count(is_counted.begin(), is_counted.end(), false));
      pending.clear();
      is_counted.clear();
      return;
    }
    for (std::size_t i = 0; i < pending.size(); ++i) {
      if (pending[i] <= time + skew) continue;
      pending[i] = time + skew;
      if (!is_counted[i]) ++passed_over;
      is_counted[i] = true;
    }
    pending.push_back(time);
    is_counted.push_back(false);
    if (!highest) {
      if (pending.size() < 8) return;
      highest = std::min(*std::min_element(pending.begin(), pending.end()), cap);
    }
    while (!pending.empty()) {
      const auto lowest = std::min_element(pending.begin(), pending.end());
      if (pending.size() < needed(*lowest - *highest, skew)) return;
      highest = std::max(*highest, std::min(*lowest, cap));
      is_counted.erase(is_counted.begin() + (lowest - pending.begin()));
      pending.erase(lowest);
    }
  }

 private:
  static std::size_t needed(std::int64_t ahead, std::int64_t skew) {
    std::size_t out = 0;
    for (std::int64_t reach = skew; reach < ahead; reach *= 2) out += 2;
    return std::min<std::size_t>(out, 64);
  }
};

}  // namespace ratchet::testing
