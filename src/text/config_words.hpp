// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "ratchet/config.hpp"

namespace ratchet {

/// The words of a config for these, in the order of the enums.
inline constexpr std::string_view k_reducer_words[] = {"replace", "merge_patch", "flaky", "own"};
inline constexpr std::string_view k_time_unit_words[] = {"ms", "s", "us", "ns"};
inline constexpr std::string_view k_key_words[] = {"auto", "text", "json", "i32", "i64", "uuid"};
[[nodiscard]] constexpr std::string_view word_of(reducer_config::kind_of kind) noexcept {
  return k_reducer_words[static_cast<std::size_t>(kind)];
}
[[nodiscard]] constexpr std::string_view word_of(time_unit unit) noexcept {
  return k_time_unit_words[static_cast<std::size_t>(unit)];
}
[[nodiscard]] constexpr std::string_view word_of(key_kind kind) noexcept {
  return k_key_words[static_cast<std::size_t>(kind)];
}
/// Empty: a record is one event.
[[nodiscard]] constexpr std::string_view word_of(const each_config& each) noexcept {
  if (each.kind == each_kind::none) return {};
  if (each.kind == each_kind::lines) return "lines";
  return each.pointer.empty() ? std::string_view{"array"} : std::string_view{each.pointer};
}

}  // namespace ratchet
