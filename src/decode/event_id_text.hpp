// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ratchet/config.hpp"
#include "ratchet/types.hpp"

namespace ratchet {

/// Reads a UUIDv7 (RFC 9562): 36 characters with dashes, hexadecimal in either case. None for anything else:
/// braces, `urn:uuid:`, missing dashes, text around it, other versions and variants, nil and max.
[[nodiscard]] std::optional<event_id> parse_uuidv7(std::string_view text) noexcept;

/// Reads a ULID: 26 characters of Crockford's base 32 in either case, of which the first is at most 7. None
/// for anything else, also for I, L, O and U. Its upper 48 bits are its own time.
[[nodiscard]] std::optional<event_id> parse_ulid(std::string_view text) noexcept;

/// Reads an id of the kind.
[[nodiscard]] std::optional<event_id> parse_event_id(id_kind, std::string_view text) noexcept;

/// The word of the config for a kind of ids; also part of a store's identity.
[[nodiscard]] const char* name_of(id_kind) noexcept;

/// The id of an event whose identity is source and id, as with CloudEvents: the id with its random bits XORed
/// with the same bits of XXH3-128 (xxHash 0.8) of the source: 74 bits of a UUIDv7, whose time, version and
/// variant stay, and 80 of a ULID. Two ids of one source never become one; two of different sources only
/// where they are of the same millisecond, and then with a chance of 2^-74. Persisted: never change it.
[[nodiscard]] event_id id_of_source(id_kind, event_id, std::string_view source) noexcept;

/// The id as RFC 9562 spells it, in lower case.
[[nodiscard]] std::string to_text(event_id);
/// The id as its kind spells it: ULIDs in upper case, all others as above.
[[nodiscard]] std::string to_text(id_kind, event_id);

}  // namespace ratchet
