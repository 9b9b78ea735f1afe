// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
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

/// The longest opaque id, in bytes; the shortest has one.
constexpr std::size_t k_most_id_bytes = 1024;

/// Any text is an opaque id, but for its size: XXH3-128 (xxHash 0.8) of it counts as the id from there on.
/// Persisted: never change it. None: it is empty, or longer than k_most_id_bytes.
[[nodiscard]] std::optional<event_id> hash_opaque_id(std::string_view text) noexcept;

/// A monotonic id is a number of up to 128 bits in decimal digits. What counts as the id is XXH3-128 (xxHash
/// 0.8) of the partition, the source and the number, as numbers repeat in other partitions. Persisted: never
/// change it.
[[nodiscard]] event_id id_of_number(const topic_partition&, std::string_view source, sequence) noexcept;

/// Whether an id of the kind has a time of its own, event_id::time().
[[nodiscard]] constexpr bool has_own_time(id_kind kind) noexcept {
  return kind == id_kind::uuidv7 || kind == id_kind::ulid;
}

/// Reads an id of the kind, which alone says what it is: not of `monotonic`, see id_of_number().
[[nodiscard]] std::optional<event_id> parse_event_id(id_kind, std::string_view text) noexcept;

/// The word of the config for a kind of ids; also part of a store's identity.
[[nodiscard]] const char* name_of(id_kind) noexcept;

/// The id of an event whose identity is source and id, as with CloudEvents: the id with its random bits XORed
/// with the same bits of XXH3-128 (xxHash 0.8) of the source: 74 bits of a UUIDv7, whose time, version and
/// variant stay, and 80 of a ULID. Two ids of one source never become one; two of different sources only
/// where they are of the same millisecond, and then with a chance of 2^-74. Of an opaque id it is XXH3-128 of
/// 32 bytes: the id's hash and the source's, big-endian. Persisted: never change it.
[[nodiscard]] event_id id_of_source(id_kind, event_id, std::string_view source) noexcept;

/// An id for what has none but a place of its own: of a kind with a time of its own, that time and bits of
/// XXH3-128 (xxHash 0.8) of the place. Persisted: never change it.
[[nodiscard]] event_id id_of_place(id_kind, timestamp, std::string_view place) noexcept;

/// The id as RFC 9562 spells it, in lower case.
[[nodiscard]] std::string to_text(event_id);
/// The id as its kind spells it: ULIDs in upper case; of opaque and monotonic ids, whose text is not kept,
/// `xxh3:` and the 32 hexadecimal digits of the hash; all others as above.
[[nodiscard]] std::string to_text(id_kind, event_id);
/// Reads what to_text() makes of an opaque id; none for anything else.
[[nodiscard]] std::optional<event_id> parse_hashed_id(std::string_view text) noexcept;

}  // namespace ratchet
