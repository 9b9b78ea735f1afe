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
    if (!highest) {
      pending.push_back({time, false});
      begin(cap, skew);
      return;
    }
    if (time < *highest - skew) return;
    const bool is_near = time <= *highest + skew;
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
    }
    follow(cap, skew);
  }

 private:
  /// A quarter of the first ones may lie before the first time.
  void begin(std::int64_t cap, std::int64_t skew) {
    std::vector<leap> all = pending;
    std::sort(all.begin(), all.end());
    const std::size_t first = all.size() / 4;
    if (all.size() < 8) return;
    if (all.size() < 1000 && all.back().time - all[first].time < skew) return;
    highest = std::min(all[first].time, cap);
    pending.assign(all.begin() + static_cast<std::ptrdiff_t>(first) + 1, all.end());
    follow(cap, skew);
  }

  void follow(std::int64_t cap, std::int64_t skew) {
    while (!pending.empty()) {
      const auto lowest = std::min_element(pending.begin(), pending.end());
      const auto furthest = std::max_element(pending.begin(), pending.end());
      const std::int64_t ahead = lowest->time - *highest;
      const bool goes_on = furthest->time - lowest->time >= std::max(skew, ahead / 1024);
      if (ahead > skew && pending.size() < needed(ahead, skew)) return;
      if (ahead > skew && !goes_on && pending.size() < 1000) return;
      highest = std::max(*highest, std::min(lowest->time, cap));
      pending.erase(lowest);
    }
  }

  static std::size_t needed(std::int64_t ahead, std::int64_t skew) {
    std::size_t out = 0;
    for (std::int64_t reach = skew; reach < ahead; reach *= 2) out += 2;
    return std::min<std::size_t>(out, 64);
  }
};

}  // namespace ratchet::testing
