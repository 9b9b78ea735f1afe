// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

#include "core/waiting.hpp"
#include "support/noon.hpp"

/// What tests of waiting events share.
namespace ratchet::testing {

inline constexpr std::uint64_t k_max = std::numeric_limits<std::uint64_t>::max();

inline waiting_head head(sequence s, waiting_state state = waiting_state::parked) {
  waiting_head h;
  h.sequence = s;
  h.state = state;
  return h;
}

}  // namespace ratchet::testing
