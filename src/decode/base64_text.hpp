// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace ratchet {

/// Decodes base64 (RFC 4648, section 4: the standard alphabet, padded, nothing else in it) to `out`, which
/// has room for text.size() bytes. The number of bytes written, or none where the text is no base64; bits of
/// the last character that would be lost must be 0.
[[nodiscard]] std::optional<std::size_t> decode_base64(std::string_view text, char* out) noexcept;

}  // namespace ratchet
