// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ports/step_batch.hpp"
#include "store/engine/catalog.hpp"
#include "store/step/row_sink.hpp"

namespace ratchet {

/// What a store knows of itself once `change` is written.
[[nodiscard]] catalog known_after(const catalog& known, const store_change& change);

/// Puts what `change` makes of what a store knows of itself: `after` is known_after().
void put_store_change(row_sink&, const catalog& known, const catalog& after, const store_change& change);

}  // namespace ratchet
