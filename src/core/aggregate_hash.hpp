// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "ratchet/types.hpp"

namespace ratchet {

/// XXH3-128 with a seed that each process draws for itself: the same for equal bytes, and nobody outside can
/// make two names that collide. For memory only; it never goes to disk. Any thread.
[[nodiscard]] hash128 hash_of_aggregate(std::string_view) noexcept;

/// For unordered containers whose keys somebody outside chose. std::hash is not seeded: it takes milliseconds
/// to make a million texts that share one value of it, and each look-up then reads all of them.
struct seeded_hash {
  [[nodiscard]] std::size_t operator()(std::string_view) const noexcept;
};

}  // namespace ratchet
