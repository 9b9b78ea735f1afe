// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/decoded_event.hpp"
#include "core/kept_rejected.hpp"
#include "core/step.hpp"
#include "core/stream_state.hpp"
#include "ratchet/config.hpp"

namespace ratchet {

/// What is kept of a record that was rejected, but for its step. `now` is by the clock.
[[nodiscard]] rejected_row make_rejected_row(const stream_rules&, const decoded_event&, decision,
                                             timestamp now);

/// What a stream's config says of them, at this time.
[[nodiscard]] rejected_limits limits_at(const rejected_config&, timestamp now);

}  // namespace ratchet
