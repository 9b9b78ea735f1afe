// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "replicate/log_epoch.hpp"

#include <limits>

namespace ratchet::replicate {

log_epoch next_epoch(log_epoch highest, std::uint32_t generation) noexcept {
  if (generation > highest.generation) return {generation, 0};
  if (highest.attempt < std::numeric_limits<std::uint32_t>::max()) {
    return {highest.generation, highest.attempt + 1};
  }
  if (highest.generation >= k_generations_end) return {k_generations_end, highest.attempt};
  return {highest.generation + 1, 0};
}

}  // namespace ratchet::replicate
