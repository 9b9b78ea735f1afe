// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace ratchet {

/// A header's name and its value may be so long each. Boost.Beast throws above 65,533 bytes of a value, and
/// few servers take as much.
constexpr std::size_t k_longest_http_field = 64'000;

}  // namespace ratchet
