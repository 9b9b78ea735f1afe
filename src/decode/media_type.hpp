// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ratchet {

/// Whether two ASCII texts are the same but for case.
[[nodiscard]] bool equal_ignoring_case(std::string_view, std::string_view) noexcept;

/// Whether a media type (RFC 2045; parameters are passed over) means JSON: application/json, text/json, or
/// any type with the suffix +json (RFC 6839).
[[nodiscard]] bool is_json_media_type(std::string_view) noexcept;

}  // namespace ratchet
