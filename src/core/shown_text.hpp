// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Foreign text (ids, types, sources, what reducers and servers say) on its way to people. Whoever sends an
/// event chooses it; none of it may steer a terminal, begin a line of its own, or read in another order than
/// it stands. So every line that is printed, logged or served goes through here as the last step of all, and
/// nobody needs to know which part of it is foreign.
namespace ratchet {

/// The bytes of the character at `at` that must not be shown as it is: a control character (C0, DEL, C1),
/// U+2028, U+2029, one that changes the direction of text, or one that is invisible, so that two texts look
/// alike. 0: there is none. The text there is UTF-8.
[[nodiscard]] std::size_t harmful_length(std::string_view text, std::size_t at) noexcept;

/// The code point of the character that `text` begins with, which is UTF-8.
[[nodiscard]] char32_t code_point(std::string_view text) noexcept;

/// Appends one character spelled out: \xNN for one byte, \u{N} for the UTF-8 of more.
void append_spelled(std::string& out, std::string_view character);

/// One line, without a line feed: what must not be shown is \xNN (C0, DEL, bytes that are no UTF-8) or
/// \u{N} (the others). What went through once comes through again as it is.
[[nodiscard]] std::string shown_text(std::string_view line);

/// Appends the line as shown_text() has it, and a line feed.
void append_line(std::string& out, std::string_view line);

}  // namespace ratchet
