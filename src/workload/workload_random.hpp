// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

namespace ratchet {

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): spreads a counter over all 64 bits.
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t x) noexcept {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

/// SplitMix64 with the few distributions that a workload needs; those of the standard library differ from one
/// implementation to the next, and a seed should give the same stream everywhere.
class workload_random {
 public:
  explicit constexpr workload_random(std::uint64_t seed) noexcept : state_{mix64(seed)} {}

  constexpr std::uint64_t next() noexcept {
    const auto value = mix64(state_);
    state_ += 0x9E3779B97F4A7C15U;
    return value;
  }
  /// In [0, bound), for a bound of 1 to 2^32. The bias of the multiplication is below bound / 2^32.
  constexpr std::uint64_t below(std::uint64_t bound) noexcept { return ((next() >> 32) * bound) >> 32; }
  /// In [0, 1).
  constexpr double unit() noexcept { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  constexpr bool chance(double probability) noexcept { return unit() < probability; }

  /// A rank in [0, count), rank k with a weight of (k + 1)^-exponent. Rejection-inversion (Hörmann and
  /// Derflinger 1996): no table, so that `count` may grow from call to call.
  std::uint64_t zipf(std::uint64_t count, double exponent) {
    if (exponent <= 0.0 || count < 2) return below(count);
    const auto area = [exponent](double x) {
      return exponent == 1.0 ? std::log(x) : (std::pow(x, 1.0 - exponent) - 1.0) / (1.0 - exponent);
    };
    const auto inverse = [exponent](double y) {
      return exponent == 1.0 ? std::exp(y) : std::pow(1.0 + y * (1.0 - exponent), 1.0 / (1.0 - exponent));
    };
    const double low = area(1.5) - 1.0;
    const double high = area(static_cast<double>(count) + 0.5);
    for (;;) {
      const double u = low + unit() * (high - low);
      const double x = inverse(u);
      const double k = std::fmin(std::fmax(std::floor(x + 0.5), 1.0), static_cast<double>(count));
      if (u >= area(k + 0.5) - std::pow(k, -exponent)) return static_cast<std::uint64_t>(k) - 1;
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace ratchet
