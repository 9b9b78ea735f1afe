// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "ports/replica.hpp"
#include "store/engine/column_families.hpp"

namespace ratchet {

/// replica_copy over a snapshot of RocksDB. Blocks that it reads do not push others out of the cache. No ids
/// are dropped while it lives.
/// Errors: not_found, where the database has no position in a log; state_damaged; of RocksDB.
[[nodiscard]] result<std::unique_ptr<replica_copy>> copy_of(const database&, std::shared_ptr<durable_floors>,
                                                            const row_place& from);

}  // namespace ratchet
