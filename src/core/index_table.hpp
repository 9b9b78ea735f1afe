// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ratchet {

/// Gives equal keys one index: open addressing over indexes into an array that the caller keeps. Made for one
/// batch of known size and thrown away, so it never grows.
class index_table {
 public:
  /// Room for `keys` distinct keys at a load of at most one half.
  explicit index_table(std::size_t keys) : slots_(std::bit_ceil(keys * 2 + 1)) {}

  /// The index of the key with this hash for which same(index) holds; where there is none, `next` is entered
  /// and returned.
  template <class Same>
  std::uint32_t find_or_add(std::uint64_t hash, std::uint32_t next, Same same) {
    const std::size_t mask = slots_.size() - 1;
    const auto tag = static_cast<std::uint32_t>(hash >> 32U);
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
      slot_of_key& slot = slots_[at];
      if (slot.index_plus_one == 0) {
        slot = {tag, next + 1};
        return next;
      }
      if (slot.tag == tag && same(slot.index_plus_one - 1)) return slot.index_plus_one - 1;
    }
  }

 private:
  struct slot_of_key {
    std::uint32_t tag{0};
    std::uint32_t index_plus_one{0};
  };
  std::vector<slot_of_key> slots_;
};

/// Spreads the bits of `x` (the finaliser of MurmurHash3).
[[nodiscard]] constexpr std::uint64_t mix_bits(std::uint64_t x) noexcept {
  x ^= x >> 33U;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33U;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33U);
}

}  // namespace ratchet
