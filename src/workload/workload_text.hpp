// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ratchet/types.hpp"

namespace ratchet {

/// Appends the time as RFC 3339 in UTC with milliseconds.
void append_rfc3339(timestamp, std::string& out);

/// Reads RFC 3339 in UTC ("2026-01-31T12:00:00Z", with or without milliseconds). False: it is something else.
[[nodiscard]] bool parse_rfc3339(const std::string& text, timestamp& out);

/// Appends the id in its usual spelling of 36 characters.
void append_uuid(event_id, std::string& out);

}  // namespace ratchet
