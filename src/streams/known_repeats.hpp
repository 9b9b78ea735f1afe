// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "streams/stream_definition.hpp"

namespace ratchet {

/// What stands against reading all records of a stream once more, in their order, at other offsets: why some
/// that were handled would not be told for repeats, and would change the state or be published again. Empty:
/// nothing does, each is a duplicate, stale or too old. Completes "stream `x`: ...".
[[nodiscard]] std::string why_repeats_are_not_known(const stream_definition&);

}  // namespace ratchet
