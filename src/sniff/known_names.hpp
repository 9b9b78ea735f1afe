// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace ratchet::sniff {

using words = std::initializer_list<std::string_view>;

/// Whether a field's name is one of those that are known to mean something.
[[nodiscard]] inline bool is_one_of(std::string_view name, words known) noexcept {
  return std::find(known.begin(), known.end(), name) != known.end();
}

/// Whether a field's name ends as one of them does.
[[nodiscard]] inline bool ends_as(std::string_view name, words known) noexcept {
  return std::any_of(known.begin(), known.end(), [&](std::string_view end) { return name.ends_with(end); });
}

[[nodiscard]] inline std::string in_lower_case(std::string_view text) {
  std::string out{text};
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

/// How many tokens a pointer has.
[[nodiscard]] inline std::size_t depth_of(std::string_view source) noexcept {
  return static_cast<std::size_t>(std::count(source.begin(), source.end(), '/'));
}

}  // namespace ratchet::sniff
