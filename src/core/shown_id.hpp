// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

/// Ids on their way to people and back. An id (of an aggregate, an event, a row of a table) may hold any
/// character, also those that shown_text() spells out. Text for people shows it in one spelling, and every
/// command that takes an id reads that spelling: given_id(shown_id(id)) is `id`.
namespace ratchet {

/// An id as text outputs show it. It is unchanged where it can be typed as it is. Else a backslash is `\\`, a
/// character that must not be shown is \xNN or \u{N}, and so is a space that could pass for the end of the
/// id: the first or last character, one behind another, and each space outside ASCII.
[[nodiscard]] std::string shown_id(std::string_view id);

/// The id that a person gives: `\\`, \xNN (a byte) and \u{N} (a character) are read, and every other
/// backslash is one.
[[nodiscard]] std::string given_id(std::string_view text);

/// An id as a word of a command that is typed into a shell. A first dash is \x2d, so that the id is no
/// option.
[[nodiscard]] std::string typed_id(std::string_view id);

/// The same of text that begins with an id as shown_id() has it.
[[nodiscard]] std::string typed_shown(std::string shown);

}  // namespace ratchet
