// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ratchet::cli {

/// For CLI::Option::check() of a number of things: digits alone, and 1 at least. CLI11 itself takes -1 for
/// the largest number, and words its own bounds as fractions. Empty where nothing is wrong.
[[nodiscard]] std::string check_count(const std::string& text);

}  // namespace ratchet::cli
