// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// How whole numbers, durations and sizes are spelled. Pure.
namespace ratchet {

/// Plain decimal digits without sign, leading zeros or anything else.
[[nodiscard]] std::optional<std::uint64_t> parse_whole_number(std::string_view) noexcept;

/// A whole number and one of ms, s, m, h, d: "100ms", "5s", "2d". None also above 100 years.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(std::string_view) noexcept;
/// The same, in the largest unit that is exact.
[[nodiscard]] std::string format_duration(std::chrono::milliseconds);
/// The same in the largest unit that tells enough, without the rest: for people alone.
[[nodiscard]] std::string format_rounded(std::chrono::milliseconds);

/// A whole number and one of B, KiB, MiB, GiB, TiB; none above 2^63 bytes.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view) noexcept;
[[nodiscard]] std::string format_size(std::uint64_t bytes);

}  // namespace ratchet
