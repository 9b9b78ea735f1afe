// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "core/decoded_event.hpp"
#include "decode/text_arena.hpp"
#include "ratchet/config.hpp"

namespace ratchet {

/// A record's key as a text, or why it is none.
struct key_text {
  std::string_view text;                            ///< in the key, or in the arena
  malformed_reason reason{malformed_reason::none};  ///< else key_binary, key_invalid or lone_surrogate
  std::uint64_t offset{0};                          ///< of the fault, in the key
};

/// Reads a key of the kind. Whether a text is UTF-8 is left to the caller, but for `automatic`, which refuses
/// what a binary serializer writes: a key with a control character in it, or one that is not UTF-8 and as
/// long as a number or a UUID.
[[nodiscard]] key_text read_key(key_kind, std::string_view key, text_arena& texts);

/// Whether a control character of ASCII is in the bytes: below a space, or 0x7F. Keys and headers of text
/// have none.
[[nodiscard]] bool has_control(std::string_view bytes) noexcept;
/// Whether they are ASCII without one: text, and UTF-8.
[[nodiscard]] bool is_ascii_text(std::string_view bytes) noexcept;

}  // namespace ratchet
