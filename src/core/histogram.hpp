// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ratchet {

/// What a histogram held at a moment.
struct histogram_counts {
  std::vector<double> bounds;         ///< the upper ends of the buckets, rising; one more bucket is open
  std::vector<std::uint64_t> counts;  ///< of each bucket by itself: bounds.size() + 1 of them
  double sum{0};
};

/// Counts values in buckets with fixed upper bounds. Whoever observes never waits: the counts are atomics,
/// read one by one, so that a snapshot may be in the middle of an observation. Thread-safety: any thread.
template <std::size_t N>
class histogram {
 public:
  explicit histogram(const std::array<double, N>& bounds) : bounds_{bounds} {}

  void observe(double value) noexcept {
    const auto at = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
    counts_[static_cast<std::size_t>(at)].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(value, std::memory_order_relaxed);
  }

  [[nodiscard]] histogram_counts snapshot() const {
    histogram_counts all{{bounds_.begin(), bounds_.end()}, {}, sum_.load(std::memory_order_relaxed)};
    for (const auto& count : counts_) all.counts.push_back(count.load(std::memory_order_relaxed));
    return all;
  }

 private:
  std::array<double, N> bounds_;
  std::array<std::atomic<std::uint64_t>, N + 1> counts_{};
  std::atomic<double> sum_{0};
};

/// In seconds, from a write into the page cache to a disk that hangs.
inline constexpr std::array<double, 13> k_duration_bounds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                          0.1,    0.25,  0.5,    1.0,   2.5,  10.0};

}  // namespace ratchet
