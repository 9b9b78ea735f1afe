// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What a JSON text has in place of a member that it lacks. Pure.
namespace ratchet {

/// An object of a JSON text.
struct json_members {
  std::string pointer;             ///< of the object; empty: the whole
  std::vector<std::string> names;  ///< as the text spells them, with its escapes; the first ones
  bool has_more{false};
};

/// The object nearest to what this pointer names, from the outside: that of its parent, or of the parent's.
/// The text may be cut off. None: there is no object, or no pointer.
[[nodiscard]] std::optional<json_members> members_near(std::string_view json, std::string_view pointer);

/// "`/payload` has `a`, `b` and others"; empty: as above.
[[nodiscard]] std::string text_of_members_near(std::string_view json, std::string_view pointer);

}  // namespace ratchet
