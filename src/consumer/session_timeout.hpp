// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "ratchet/config.hpp"

namespace ratchet {

/// `session.timeout.ms` of a member of a pair's group, where the config does not set it.
inline constexpr std::chrono::milliseconds k_pair_session{6'000};

/// Of the members that this config makes.
[[nodiscard]] std::chrono::milliseconds session_timeout(const config&);
/// So long the group keeps a member that was killed, at most.
[[nodiscard]] std::chrono::milliseconds longest_absence(const config&);
/// The same of a pair's instance with these settings.
[[nodiscard]] std::chrono::milliseconds longest_absence_in_pair(const kafka_config&);

}  // namespace ratchet
