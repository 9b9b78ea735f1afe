// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "cli/count_option.hpp"

#include <cstdint>

#include "decode/sequence_text.hpp"

namespace ratchet::cli {

std::string check_count(const std::string& text) {
  constexpr std::uint64_t k_most = std::uint64_t{1} << 62U;  // nobody means more
  const auto number = parse_u64(text);
  const bool fits = number && *number >= 1 && *number <= k_most;
  return fits ? std::string{} : "it must be a whole number, 1 at least";
}

}  // namespace ratchet::cli
