// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "core/record.hpp"

namespace ratchet {

/// Whether two ASCII texts are the same but for case.
[[nodiscard]] bool equal_ignoring_case(std::string_view, std::string_view) noexcept;

/// Whether a media type (RFC 2045; parameters are passed over) means JSON: application/json, text/json, or
/// any type with the suffix +json (RFC 6839).
[[nodiscard]] bool is_json_media_type(std::string_view) noexcept;

/// Whether a header is `content-type`, in either case.
[[nodiscard]] bool is_content_type(const header&) noexcept;

/// Which of the media types of CloudEvents a content type names.
enum class cloudevents_type : std::uint8_t {
  none,
  json,   ///< one event in JSON: application/cloudevents+json, or without a suffix
  batch,  ///< events in JSON: application/cloudevents-batch+json
  other,  ///< another event format
};
[[nodiscard]] cloudevents_type cloudevents_type_of(std::string_view) noexcept;

}  // namespace ratchet
