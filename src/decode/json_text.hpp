// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace ratchet::json {

/// How an unescape() ended.
struct unescaped {
  std::size_t size{0};  ///< bytes written
  const char* lone_surrogate{
      nullptr};  ///< the backslash of a surrogate that stands alone; nothing else fails
};

/// Writes the text between a string's quotes, which must have passed the grammar, without escapes to `out`,
/// which has room for text.size() bytes (unescaping never lengthens). Stops at a lone surrogate.
[[nodiscard]] unescaped unescape(std::string_view text, char* out) noexcept;

}  // namespace ratchet::json
