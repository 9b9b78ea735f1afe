// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "ratchet/error.hpp"

namespace ratchet {

/// What stands against a start with so few file descriptors; none where they are enough. The store fits
/// itself into what there is (store/engine/open_files).
[[nodiscard]] std::optional<problem> refusal_of_descriptors(std::uint64_t limit);

}  // namespace ratchet
