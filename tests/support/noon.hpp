// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "ratchet/types.hpp"

namespace ratchet::testing {

inline constexpr timestamp k_noon{std::chrono::milliseconds{1767268800'000}};  // 2026-01-01T12:00:00Z

}  // namespace ratchet::testing
