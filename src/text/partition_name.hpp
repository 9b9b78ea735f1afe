// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/record.hpp"
#include "ratchet/types.hpp"

namespace ratchet {

/// "topic/3", as logs, messages and status spell it.
[[nodiscard]] std::string to_string(const topic_partition&);
/// "topic/3@17", and "topic/3@17.2" of a record that holds several events.
[[nodiscard]] std::string to_string(const topic_partition&, event_place);

}  // namespace ratchet
