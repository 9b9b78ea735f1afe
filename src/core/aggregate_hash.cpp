// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/aggregate_hash.hpp"

#include <random>

#include "core/xxhash_inline.hpp"

namespace ratchet {

namespace {

std::uint64_t draw_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32U | device();
}

const std::uint64_t k_seed = draw_seed();

}  // namespace

hash128 hash_of_aggregate(std::string_view aggregate) noexcept {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(aggregate.data(), aggregate.size(), k_seed);
  return {hash.high64, hash.low64};
}

std::size_t seeded_hash::operator()(std::string_view text) const noexcept {
  return XXH3_64bits_withSeed(text.data(), text.size(), k_seed);
}

}  // namespace ratchet
