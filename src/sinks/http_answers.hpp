// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "ports/publisher.hpp"

/// What an HTTP server's answer means, and how a message is written for it. Pure.
namespace ratchet {

/// 2xx: done. 408, 425, 429 and 5xx: again. All others, redirects too: refused.
[[nodiscard]] delivery::how meaning_of_status(unsigned status) noexcept;

/// Retry-After (RFC 9110, section 10.2.3): seconds, or an IMF-fixdate. None for anything else, and for what
/// is over.
[[nodiscard]] std::optional<std::chrono::milliseconds> read_retry_after(
    std::string_view, std::chrono::system_clock::time_point now);

/// The value of a `ce-` header: what is not printable ASCII, and space, quote and percent, as %XX of its
/// bytes (CloudEvents HTTP protocol binding 1.0.2, section 3.1.3.2).
[[nodiscard]] std::string to_header_text(std::string_view);

/// The first 200 bytes, for a log: what is not printable ASCII as a dot.
[[nodiscard]] std::string to_excerpt(std::string_view);

}  // namespace ratchet
