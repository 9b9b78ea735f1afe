// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace ratchet {

/// A step ends where its reducers were given and gave back so much of states: a producer can make a state
/// large, and then each small event of it is long work, up to which nobody is answered and no stop is heard.
inline constexpr std::size_t k_most_state_bytes = std::size_t{128} << 20U;

/// What reducers publish, put into tables and reply stays in memory until the step is written, and is there
/// once more in what is written, so that a byte of it counts as so many of a state.
inline constexpr std::size_t k_weight_of_results = 4;

/// And so much of stored snapshots is looked up for one step, but for the last of them, and so much of the
/// answers of transactions. What comes behind them, in the order in which the plan names its aggregates and
/// ids, is for the next one.
inline constexpr std::size_t k_most_looked_up_bytes = std::size_t{8} << 20U;

}  // namespace ratchet
