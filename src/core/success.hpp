// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ratchet/error.hpp"

namespace ratchet {

/// What a result without a value is where nothing went wrong.
[[nodiscard]] inline auto success() noexcept {
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

}  // namespace ratchet
