// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "ratchet/config.hpp"

namespace ratchet {

/// `session.timeout.ms` of a member of a pair's group, where the config does not set it.
inline constexpr std::chrono::milliseconds k_pair_session{6'000};

/// How long the group keeps a killed member of it, where the config has set nothing else.
[[nodiscard]] std::chrono::milliseconds session_timeout(const kafka_config&,
                                                        std::chrono::milliseconds otherwise);
/// Of the members that this config makes.
[[nodiscard]] std::chrono::milliseconds session_timeout(const config&);
/// Behind such a session a killed member is gone within this.
[[nodiscard]] std::chrono::milliseconds longest_absence(std::chrono::milliseconds session);

}  // namespace ratchet
