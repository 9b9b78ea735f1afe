// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "ratchet/config.hpp"
#include "ratchet/types.hpp"

namespace ratchet {

/// No pause before the next attempt is longer, behind so many failed ones.
[[nodiscard]] std::chrono::milliseconds longest_pause(const retry_config&, std::uint32_t attempts);

/// How long to wait behind the attempt of this number (the first is 1): between a half and the whole of
/// retry.backoff doubled with each attempt, never below retry.backoff nor above retry.most. Where in there, a
/// hash of its arguments decides: so a step that is played again comes to the same times, and events that
/// failed together are not tried together.
[[nodiscard]] std::chrono::milliseconds backoff(const retry_config&, std::string_view aggregate, sequence,
                                                std::uint32_t attempt);

}  // namespace ratchet
