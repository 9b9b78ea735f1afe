// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace ratchet {

/// A step ends where its reducers were given and gave back so much of states: a producer can make a state
/// large, and then each small event of it is long work, up to which nobody is answered and no stop is heard.
inline constexpr std::size_t k_most_state_bytes = std::size_t{128} << 20U;

}  // namespace ratchet
