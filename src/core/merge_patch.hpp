// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ratchet {

/// Applies a JSON Merge Patch (RFC 7396) to a JSON text. Works on the text: members that the patch does not
/// name stay byte for byte, numbers keep their spelling, and the order of members is that of `target`, new
/// ones behind. Names are compared unescaped; of members with one name the last counts, as in most parsers.
/// Both texts must be valid JSON of at most 1000 levels, which the decoder has checked. An empty `target` is
/// nothing.
[[nodiscard]] std::string merge_patch(std::string_view target, std::string_view patch);

}  // namespace ratchet
