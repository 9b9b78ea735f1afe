// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ratchet/config.hpp"
#include "ratchet/types.hpp"

namespace ratchet {

/// Reads an RFC 3339 date-time of the years 0000 to 9999 in UTC: any offset, T and Z in either case, digits
/// behind the third of a second's fraction cut off, and a date that the calendar has. A leap second (23:59:60
/// in UTC) is the next second's .000, as a timestamp cannot hold it; other 60s are refused.
[[nodiscard]] std::optional<timestamp> parse_rfc3339(std::string_view text) noexcept;

/// Reads what people write for RFC 3339, which is tried first: a space for the T, a comma before the
/// fraction, no seconds, offsets as +hhmm, +hh, " UTC", " GMT" and " +0000 UTC", a zone's name in brackets
/// behind the offset, the basic form 20260131T120000Z, a date alone (its first moment), and Wed, 01 May 2024
/// 10:00:00 GMT. What has no offset is UTC.
[[nodiscard]] std::optional<timestamp> parse_time_spelling(std::string_view text);

/// Reads decimal milliseconds since 1970, as JSON writes an integer: an optional '-', digits without leading
/// zeros. None outside of the years 0000 to 9999, which RFC 3339 could not print.
[[nodiscard]] std::optional<timestamp> parse_milliseconds(std::string_view text) noexcept;

/// The same in another unit. What is finer than a millisecond is cut off; seconds may have a fraction.
[[nodiscard]] std::optional<timestamp> parse_time_number(std::string_view text, time_unit) noexcept;

/// RFC 3339 in UTC with milliseconds, as in 2026-01-01T00:00:00.000Z. Total: a year that needs more than four
/// digits, or a sign, has it, as in +10889-08-02T05:31:50.655Z (ISO 8601's expanded form).
[[nodiscard]] std::string to_rfc3339(timestamp);

}  // namespace ratchet
