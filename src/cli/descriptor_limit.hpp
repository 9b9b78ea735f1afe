// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ratchet::cli {

/// Lifts the soft limit of open files to what the hard one allows and a large state can use. Only the command
/// does so: to a program that embeds the library its limits are its own.
void lift_descriptor_limit() noexcept;

}  // namespace ratchet::cli
