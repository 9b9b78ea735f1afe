// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/backoff.hpp"

#include <algorithm>

#include "core/xxhash_inline.hpp"

namespace ratchet {

std::chrono::milliseconds backoff(const retry_config& retry, std::string_view aggregate, sequence s,
                                  std::uint32_t attempt) {
  std::chrono::milliseconds full = std::min(retry.backoff, retry.most);
  for (std::uint32_t doubled = 1; doubled < attempt && full < retry.most; ++doubled) {
    full = full > retry.most / 2 ? retry.most : full * 2;
  }
  const std::uint64_t seed = s.number + attempt * 0x9E3779B97F4A7C15U + s.epoch;
  const std::uint64_t drawn = XXH3_64bits_withSeed(aggregate.data(), aggregate.size(), seed);
  const auto half = static_cast<std::uint64_t>(full.count() / 2);
  return full - std::chrono::milliseconds{half == 0 ? 0 : static_cast<std::int64_t>(drawn % (half + 1))};
}

}  // namespace ratchet
