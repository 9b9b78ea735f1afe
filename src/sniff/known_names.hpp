// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <initializer_list>
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

}  // namespace ratchet::sniff
