// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "cli/count_option.hpp"

#include <charconv>
#include <cstdint>

namespace ratchet::cli {

std::string check_count(const std::string& text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  constexpr std::uint64_t k_most = std::uint64_t{1} << 62U;  // nobody means more
  const bool fits = error == std::errc{} && at == end && number >= 1 && number <= k_most;
  return fits ? std::string{} : "it wants a whole number, 1 at least";
}

}  // namespace ratchet::cli
