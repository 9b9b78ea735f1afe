// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "ports/publisher.hpp"
#include "ratchet/sinks.hpp"

namespace ratchet {

/// Calls the program's own function, on a thread of its own, for one message at a time in the order in which
/// they were sent. Rows come with the headers of a published message. Its end waits for a call that is under
/// way, and drops what was not begun.
[[nodiscard]] std::unique_ptr<publisher> make_callback_publisher(std::string sink, callback_sink);

}  // namespace ratchet
