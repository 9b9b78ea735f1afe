// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "ports/step_store.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

/// Writes a step that no record begins, before anything else is done with the store: audit rows, and what
/// changes of the store as a whole. Its number is the next one, also in its audit rows. Durable when this
/// returns. `state` is where the store lies, for the text. Errors: of store::write() and sync().
[[nodiscard]] std::optional<problem> write_at_start(step_store&, const std::filesystem::path& state,
                                                    step_batch);

}  // namespace ratchet
