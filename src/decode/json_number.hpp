// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ratchet::json {

/// Whether both are numbers as JSON spells them and have one value, as 1, 1.0 and 10e-1. Exact, whatever
/// their length.
[[nodiscard]] bool is_same_number(std::string_view a, std::string_view b);

/// Whether it is a number as JSON spells it, and zero.
[[nodiscard]] bool is_zero(std::string_view number);

}  // namespace ratchet::json
