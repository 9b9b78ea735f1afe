// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "ratchet/types.hpp"

namespace ratchet::replicate {

/// The chain hash of a step names all of the history up to it: equal hashes, equal histories. This is that of
/// step 0, before anything was written: another one in each lineage and slot.
[[nodiscard]] hash128 founding_chain(const hash128& lineage, std::uint32_t slot) noexcept;

/// The hash of a step with these rows behind a step with the hash `before`: XXH3-128 of both.
[[nodiscard]] hash128 next_chain(const hash128& before, std::string_view rows) noexcept;

}  // namespace ratchet::replicate
