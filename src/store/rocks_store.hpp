// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "ports/store.hpp"
#include "ratchet/error.hpp"
#include "store/engine/store_options.hpp"

/// The store on RocksDB. No header of RocksDB is needed to use it.
namespace ratchet {

/// Opens a state directory for writing, and makes it where there is none.
/// Before any file is changed it is inspected read-only: identity, schema, the meaning of each stream, and
/// whether recovery would give an exact prefix of the steps in every column family, not below SYNCED. A
/// stream of which nothing would be lost (see holdings) takes a changed meaning and starts over: its
/// counters, floor, offsets and rejected rows go, see restarted_streams(). A stream takes more tables at any
/// time: see added_tables(). When this returns, everything recovered is durable. Closing (the destructor)
/// neither flushes nor syncs: what no sync covered is promised to nobody. Errors: state_missing (nothing
/// there, and not create); state_busy; state_foreign (not ours, another group, or a meaning that changed;
/// every changed line is a diagnostic); state_newer_schema; state_damaged; of RocksDB and the system.
[[nodiscard]] reported<std::unique_ptr<store>> open_store(const store_options&);

}  // namespace ratchet
