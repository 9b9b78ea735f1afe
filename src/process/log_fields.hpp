// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "process/log.hpp"
#include "ratchet/log.hpp"

namespace ratchet {

/// What a line speaks of, by name, in the order in which JSON lines and a program's logger have it. Borrows
/// from the facts.
[[nodiscard]] std::vector<log_field> fields_of(const log_facts&);

}  // namespace ratchet
