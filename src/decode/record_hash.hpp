// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "ratchet/types.hpp"

namespace ratchet {

/// XXH3-128 (xxHash 0.8) of a reducer's input. Persisted: never change the algorithm.
[[nodiscard]] hash128 payload_hash(std::string_view payload) noexcept;

/// XXH3-128 of a record: for the key, then the value, a byte that tells null (0) from present (1), its length
/// as 8 bytes big-endian (0 for null), and its bytes. Persisted: never change it.
[[nodiscard]] hash128 record_hash(std::optional<std::string_view> key,
                                  std::optional<std::string_view> value) noexcept;

}  // namespace ratchet
