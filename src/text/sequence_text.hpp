// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "decode/sequence_kinds.hpp"
#include "text/json_writer.hpp"

namespace ratchet {

/// A sequence as it came: a number where it is one, [epoch, number] where it is two, else text.
json_writer& write_sequence(json_writer&, const sequence_spelling&, sequence);

/// A sequence for people, in one word where its kind has none: "7", or "3:7" of an epoch other than 0.
[[nodiscard]] std::string sequence_word(const sequence_spelling&, sequence);

}  // namespace ratchet
