// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <system_error>

#include "ratchet/error.hpp"

namespace ratchet {

/// What a user is told where a thread could not be started. None: the exception is not for want of one.
/// Errors as a value: io.
[[nodiscard]] std::optional<problem> refusal_of_thread(const std::system_error&);

}  // namespace ratchet
