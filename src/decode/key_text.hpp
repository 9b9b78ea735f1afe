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

/// Reads a key of the kind. Whether a text is UTF-8 is left to the caller. `automatic` refuses what a binary
/// serializer writes for a number: a byte 0 anywhere, or one of control at the beginning.
[[nodiscard]] key_text read_key(key_kind, std::string_view key, text_arena& texts);

}  // namespace ratchet
