// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "store/engine/catalog.hpp"
#include "store/engine/column_families.hpp"
#include "store/engine/store_options.hpp"

namespace ratchet {

/// What of the directory the config would leave behind in silence: a stream that it does not name, and a
/// topic that it gives to another stream than the one that has read it. A stream that holds nothing (see
/// holdings) may go, and its topics with it. A refusal is state_foreign, with a diagnostic for each; else an
/// error of the reading: state_damaged; of RocksDB.
[[nodiscard]] std::optional<problem> find_left_behind(const store_options&, const database&, const catalog&);

}  // namespace ratchet
