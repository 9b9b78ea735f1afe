// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/reducer_call.hpp"

namespace ratchet {

/// What a reducer leaves behind may grow with each event, and nobody has to store and read it whatever its
/// size: above `most` bytes of the snapshot, or of a row that it put, the call has failed for good.
void limit_results(reducer_call&, std::uint64_t most, const state&, const effects&);

}  // namespace ratchet
