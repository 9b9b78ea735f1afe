// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Words that several requests on the control socket have in common.
namespace ratchet {

/// A word that says one of two things.
struct either_word {
  std::string_view yes;
  std::string_view no;

  [[nodiscard]] std::string of(bool said) const { return std::string{said ? yes : no}; }
  /// None where it is another word.
  [[nodiscard]] std::optional<bool> read(std::string_view word) const noexcept {
    if (word != yes && word != no) return std::nullopt;
    return word == yes;
  }
};

inline constexpr either_word k_json_or_text{"json", "text"};  ///< how to answer
inline constexpr either_word k_act_or_tell{"act", "tell"};    ///< do it, or only say what it would be

}  // namespace ratchet
