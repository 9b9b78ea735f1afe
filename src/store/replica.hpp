// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ports/replica.hpp"
#include "ports/store.hpp"

namespace ratchet {

/// The same store; null where store_options::replicated was not set.
[[nodiscard]] replica* replica_of(store&) noexcept;

}  // namespace ratchet
