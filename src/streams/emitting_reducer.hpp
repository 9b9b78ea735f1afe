// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "ratchet/config.hpp"
#include "ratchet/reducer.hpp"

namespace ratchet {

/// A reducer that publishes what the config's `emit` says of each event that the wrapped one has applied,
/// behind what that publishes itself. An event that lacks a field which an `emit` takes is given up on:
/// output_lacking, so that it waits for an operator and is not lost. Every pointer must be valid.
/// Of the wrapped one's name and version, as what is published is no part of the state. Thread-safety: one
/// thread at a time.
[[nodiscard]] reducer with_emits(reducer wrapped, const std::vector<emit_config>&);

}  // namespace ratchet
