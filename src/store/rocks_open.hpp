// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rocksdb/env.h>

#include "store/engine/column_families.hpp"
#include "store/rocks_store.hpp"

/// For tests and tools inside this folder's reach: what lies under a store.
namespace ratchet {

/// open_store() over a file system of the caller's, so that tests can let it fail. None: the default one.
[[nodiscard]] reported<std::unique_ptr<store>> open_store(const store_options&, rocksdb::Env*);

/// The database of a store that open_store() gave. Not to be written to.
[[nodiscard]] database& database_of(store&);

}  // namespace ratchet
