// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

namespace ratchet {

/// Takes a piece of an answer; false: no more is wanted.
using byte_sink = std::function<bool(std::string_view)>;

}  // namespace ratchet
