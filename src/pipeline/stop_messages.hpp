// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/step.hpp"

namespace ratchet {

/// What happened to a stopped partition, and where, and behind a line feed what to do: for logs and status.
[[nodiscard]] std::string describe(const partition_stop&);

}  // namespace ratchet
