// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "process/log.hpp"
#include "ratchet/log.hpp"

namespace ratchet {

/// A log that goes to a program's own logger; one that drops everything where there is none.
[[nodiscard]] log_ptr make_program_log(const logger&);

/// From here on nothing calls the program's function: threads of a client that hangs may have its log still.
void end_program_log(const log_ptr&);

}  // namespace ratchet
