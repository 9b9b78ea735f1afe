// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ports/store.hpp"
#include "store/engine/column_families.hpp"

namespace ratchet {

/// What RocksDB says of its memory and files, all column families together. Any thread.
[[nodiscard]] store_statistics statistics_of(const database&);

}  // namespace ratchet
