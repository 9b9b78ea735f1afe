// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "core/step.hpp"
#include "process/log.hpp"

namespace ratchet {

/// Says in the log which record's time is not believed.
void tell_of_passed_over(const log_ptr&, std::string_view stream, const passed_over_time&);

}  // namespace ratchet
