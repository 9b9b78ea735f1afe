// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/step/evicted_ids.hpp"

#include <algorithm>

namespace ratchet {

// Parquet's split-block filter, written here: ADR 83 says why.
namespace {

constexpr std::uint64_t k_bits_per_key = 10;
constexpr std::uint64_t k_bits_per_byte = 8;
/// Odd numbers, one for each word of a block, as the specification gives them.
constexpr std::array<std::uint32_t, 8> k_salts{0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU,
                                               0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U};

/// The bit of this word that stands for the key: the highest five of 32 bits tell which.
constexpr std::uint32_t bit_of(std::uint64_t hash, std::size_t word) noexcept {
  return std::uint32_t{1} << (static_cast<std::uint32_t>(hash) * k_salts[word] >> 27U);
}

}  // namespace

evicted_ids::evicted_ids(std::uint64_t bytes)
    : most_blocks_{std::max<std::size_t>(static_cast<std::size_t>(bytes) / sizeof(block), 1)} {}

/// By the upper half of the hash: the lower one chooses the bits.
std::size_t evicted_ids::block_of(std::uint64_t hash) const noexcept {
  return static_cast<std::size_t>(((hash >> 32U) * blocks_.size()) >> 32U);
}

bool evicted_ids::may_have(std::uint64_t hash) const noexcept {
  if (blocks_.empty()) return false;
  const block& in = blocks_[block_of(hash)];
  std::uint32_t missing = 0;
  for (std::size_t i = 0; i < k_salts.size(); ++i) missing |= ~in.words[i] & bit_of(hash, i);
  return missing == 0;
}

void evicted_ids::prefetch(std::uint64_t hash) const noexcept {
  if (!blocks_.empty()) __builtin_prefetch(&blocks_[block_of(hash)]);
}

void evicted_ids::add(std::uint64_t hash) {
  if (blocks_.empty()) blocks_.resize(most_blocks_);
  block& in = blocks_[block_of(hash)];
  for (std::size_t i = 0; i < k_salts.size(); ++i) in.words[i] |= bit_of(hash, i);
  ++used_;
}

bool evicted_ids::has_room_for(std::uint64_t keys) const noexcept {
  return (used_ + keys) * k_bits_per_key <= most_blocks_ * sizeof(block) * k_bits_per_byte;
}

}  // namespace ratchet
