// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "app/stream_runtime.hpp"
#include "cli/command.hpp"
#include "core/decoded_event.hpp"

namespace ratchet::cli {

/// One line that tells what became of a record, ending in a line feed: tab-separated position, aggregate,
/// sequence, verdict and reason, or the same as a JSON object.
[[nodiscard]] std::string explain_line(const stream_runtime&, const decoded_event&, decision, output_format);

}  // namespace ratchet::cli
