// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <system_error>

#include "consumer/turn_result.hpp"
#include "ports/durable_steps.hpp"
#include "ratchet/config.hpp"

namespace ratchet {

/// A write to the store failed: the session ends, and the store is opened again.
[[nodiscard]] session_result store_failure(const durable_steps&, const config&, std::error_code);

}  // namespace ratchet
