// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "cli/command.hpp"
#include "core/decoded_event.hpp"
#include "core/step.hpp"
#include "streams/stream_definition.hpp"

namespace ratchet::cli {

/// One line that tells what the gate said of a record, ending in a line feed: tab-separated position,
/// aggregate, sequence, verdict and reason, or the same as a JSON object. The event_wait is null of one that
/// does not wait.
[[nodiscard]] std::string explain_line(const stream_definition&, const decoded_event&, decision,
                                       const event_wait*, output_format);

/// The same of an event that waited, and what came of it: its position is that of its own record.
[[nodiscard]] std::string explain_line(const stream_definition&, std::string_view aggregate,
                                       const waiting_fate&, output_format);

}  // namespace ratchet::cli
