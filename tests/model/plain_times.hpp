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
  struct leap {
    std::int64_t time;
    bool is_counted;  ///< as passed over
    bool operator<(const leap& other) const {
      return time != other.time ? time < other.time : is_counted && !other.is_counted;
    }
  };
  std::vector<leap> pending;  ///< times far ahead, as they came
  std::uint64_t passed_over{0};

  void take(std::int64_t time, std::int64_t now, std::int64_t max_skew) {
    const std::int64_t skew = std::max<std::int64_t>(max_skew, 1000);
    const std::int64_t cap = now + max_skew;
    if (highest && time < *highest - skew) return;
    const bool is_near = highest && time <= *highest + skew;
    for (int n = 0; n < 2 && !pending.empty(); ++n) {
      const auto furthest = std::max_element(pending.begin(), pending.end());
      if (furthest->time <= time + skew) break;
      if (!furthest->is_counted) ++passed_over;
      if (is_near) {
        pending.erase(furthest);
      } else {
        *furthest = {time + skew, true};
      }
    }
    if (is_near) {
      highest = std::max(*highest, std::min(time, cap));
    } else {
      pending.push_back({time, false});
      if (!highest && pending.size() < 8) return;
      if (!highest) highest = std::min(std::min_element(pending.begin(), pending.end())->time, cap);
    }
    while (!pending.empty()) {
      const auto lowest = std::min_element(pending.begin(), pending.end());
      if (pending.size() < needed(lowest->time - *highest, skew)) return;
      highest = std::max(*highest, std::min(lowest->time, cap));
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
