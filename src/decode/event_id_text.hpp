// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ratchet/types.hpp"

namespace ratchet {

/// Reads a UUIDv7 (RFC 9562): 36 characters with dashes, hexadecimal in either case. None for anything else:
/// braces, `urn:uuid:`, missing dashes, text around it, other versions and variants, nil and max.
[[nodiscard]] std::optional<event_id> parse_uuidv7(std::string_view text) noexcept;

/// The id as RFC 9562 spells it, in lower case.
[[nodiscard]] std::string to_text(event_id);

}  // namespace ratchet
