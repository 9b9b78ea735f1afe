// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/backoff.hpp"

#include <algorithm>

#include "core/xxhash_inline.hpp"

namespace ratchet {

std::chrono::milliseconds longest_pause(const retry_config& retry, std::uint32_t attempts) {
  const auto doubled = [&retry](std::chrono::milliseconds pause) {
    return pause > retry.most / 2 ? retry.most : pause * 2;
  };
  std::chrono::milliseconds longest = doubled(std::min(retry.backoff, retry.most));
  for (std::uint32_t i = 1; i < attempts && longest < retry.most; ++i) longest = doubled(longest);
  return longest;
}

std::chrono::milliseconds backoff(const retry_config& retry, std::string_view aggregate, sequence s,
                                  std::uint32_t attempt) {
  const std::chrono::milliseconds low = std::min(retry.backoff, retry.most);
  const std::chrono::milliseconds longest = longest_pause(retry, attempt);
  const std::chrono::milliseconds shortest = std::max(low, longest / 2);
  const std::uint64_t seed = s.number + attempt * 0x9E3779B97F4A7C15U + s.epoch;
  const std::uint64_t drawn = XXH3_64bits_withSeed(aggregate.data(), aggregate.size(), seed);
  const auto spread = static_cast<std::uint64_t>((longest - shortest).count());
  return shortest + std::chrono::milliseconds{static_cast<std::int64_t>(drawn % (spread + 1))};
}

}  // namespace ratchet
