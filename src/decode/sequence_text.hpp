// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ratchet/types.hpp"

namespace ratchet {

/// Reads decimal digits up to 2^64 - 1. Leading zeros are allowed; a sign, a fraction and an exponent are
/// not.
[[nodiscard]] std::optional<std::uint64_t> parse_u64(std::string_view digits) noexcept;

/// Reads decimal digits up to 2^128 - 1 as {high, low}.
[[nodiscard]] std::optional<sequence> parse_u128(std::string_view digits) noexcept;

/// The pair as one number of 128 bits, {high, low}, in decimal digits: what parse_u128() reads.
[[nodiscard]] std::string to_decimal(sequence);

/// Reads hexadecimal digits in either case up to 2^128 - 1 as {high, low}. Leading zeros are allowed; a sign
/// and a prefix such as 0x are not.
[[nodiscard]] std::optional<sequence> parse_hex_u128(std::string_view digits) noexcept;

}  // namespace ratchet
