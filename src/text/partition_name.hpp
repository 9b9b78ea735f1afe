// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ratchet/types.hpp"

namespace ratchet {

/// "topic/3", as logs, messages and status spell it.
[[nodiscard]] std::string to_string(const topic_partition&);

}  // namespace ratchet
