// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "ratchet/types.hpp"

namespace ratchet {

/// Text as a sequence: of two texts the one that is greater byte by byte has the greater sequence, and no two
/// have the same. 128 bits have room for these, which may be mixed:
/// - any text of 1 to 16 bytes;
/// - digits, up to 37;
/// - digits and - . / : T Z, up to 30, as times and log positions are written;
/// - digits, : and a to f, up to 30: hexadecimal numbers, and log positions;
/// - digits and letters, up to 24: lower-case ones and -, or upper-case ones alone;
/// - ULIDs in upper case that begin with 0, as all do until the year 3084;
/// - UUIDv7 in lower case.
/// None for anything else: it is too long, has a zero byte, or none at all. What comes of a text is stored,
/// and never changes. All are above {0, 2^64 - 1}, where whole numbers have their place.
[[nodiscard]] std::optional<sequence> sequence_of_text(std::string_view) noexcept;

/// The text that became this sequence. Of another one: some text that was none.
[[nodiscard]] std::string text_of_sequence(sequence);

/// How many digits the text is that became this sequence; 0: it was something else.
[[nodiscard]] std::size_t digits_in_text(sequence) noexcept;

}  // namespace ratchet
