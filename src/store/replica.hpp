// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "ports/replica.hpp"
#include "ports/store.hpp"

namespace ratchet {

/// The same store; null where store_options::replicated was not set.
[[nodiscard]] replica* replica_of(store&) noexcept;

/// What a start with the same config would be refused for by now, though it was not when this replica was
/// opened: the log may have brought rows of a stream that the config has dropped. Wanted behind reload(), or
/// while the log's rows are only followed; on the store's owner thread. What cannot be read refuses nothing:
/// whoever goes on meets it.
[[nodiscard]] std::optional<problem> refusal_of_config(const store&);

}  // namespace ratchet
