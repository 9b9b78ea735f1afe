// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ratchet {

/// What bytes that are no JSON most likely are, for people.
struct likely_kind {
  std::string what;       ///< as in "gzip"; empty: nobody can tell
  std::string of_record;  ///< what to do where they are a record's value
  bool certain{false};    ///< by bytes that nothing else begins with
  std::string filter{};   ///< the command that makes lines of JSON of a file of them; may be empty
};

/// By the first bytes, and by what kind of characters there are.
[[nodiscard]] likely_kind kind_of_bytes(std::string_view begin);

/// The beginning of the bytes on one line, in quotes; what is not printable ASCII as \xNN. At most 64 bytes
/// are shown.
[[nodiscard]] std::string escaped_beginning(std::string_view bytes);

}  // namespace ratchet
