// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ratchet::json_scan {

/// Walking over JSON that is known to be valid, without reading it: where its strings and values end. All of
/// it is pure.
inline constexpr std::string_view k_white_space = " \t\n\r";

/// From this many bytes on the ends of objects and arrays are worth looking up.
inline constexpr std::size_t k_long = 512;

[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

[[nodiscard]] inline bool is_object(std::string_view json) noexcept {
  return !json.empty() && json.front() == '{';
}

/// The position behind the string that starts at `at`.
[[nodiscard]] std::size_t end_of_string(std::string_view json, std::size_t at) noexcept;

/// The first position from `at` on that is no white space.
[[nodiscard]] std::size_t skip_space(std::string_view json, std::size_t at) noexcept;

/// Where the long objects and arrays of a text end, found in one pass. Looking for it anew on each level of
/// nesting would cost depth times size. Borrows the text.
class long_values {
 public:
  long_values() = default;
  explicit long_values(std::string_view json);
  /// The end of the object or array that begins here; nullptr where it is short.
  [[nodiscard]] const char* end_of(const char* begin) const noexcept;
  [[nodiscard]] std::size_t memory() const noexcept { return extents_.capacity() * sizeof(extent); }

 private:
  struct extent {
    const char* begin;
    const char* end;
  };
  std::vector<extent> extents_;  ///< by begin
};

/// The position behind the value that starts at `at`.
[[nodiscard]] std::size_t end_of_value(std::string_view json, std::size_t at,
                                       const long_values& known) noexcept;

/// What a string stands for. A lone surrogate is kept as the three bytes of its code point: not valid UTF-8,
/// but only compared with others made the same way.
[[nodiscard]] std::string unescaped(std::string_view spelt);

}  // namespace ratchet::json_scan
