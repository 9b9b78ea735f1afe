// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/reducer_call.hpp"

namespace ratchet {

/// What a reducer leaves behind may grow with each event, and nobody has to store and read it whatever its
/// size: above `most` bytes of the snapshot, or of a row that it put, the call has failed for good.
void limit_results(reducer_call&, std::uint64_t most, const state&, const effects&);

/// What the messages, rows and the reply of a call hold: everything of variable size, and something for the
/// rest of each.
[[nodiscard]] std::size_t size_of_results(const reducer_call&) noexcept;

}  // namespace ratchet
