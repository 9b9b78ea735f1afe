// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/logger.h>

#include <memory>

namespace ratchet {

/// Where the library writes its log. The embedding program gives one; by default nothing is written.
using log_ptr = std::shared_ptr<spdlog::logger>;

/// A logger that drops everything.
[[nodiscard]] log_ptr silent_log();

}  // namespace ratchet
