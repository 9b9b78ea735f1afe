// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "ports/store.hpp"
#include "store/engine/catalog.hpp"
#include "store/engine/id_filter.hpp"
#include "store/open/adoption.hpp"
#include "store/open/opening.hpp"
#include "store/step/rejected_index.hpp"

/// What a start does around the opening of the database for writing. One thread.
namespace ratchet {

/// Of the streams that are known: where each has its rows.
[[nodiscard]] std::vector<stream_slot> slots_of(const catalog&);

/// Reads what a start reads, from the read-only database: damage that it meets must be met while it can still
/// be refused with no file changed. Returns the rejected rows, which are the same when it is open for
/// writing. Errors: state_damaged; of RocksDB.
[[nodiscard]] reported<rejected_index> rehearse_reads(const store_options&, const inspected&);

/// A power cut can leave a log whose first record cannot be read. Recovery passes over it and keeps it, and
/// no checkpoint could be made beside it until the start after next. It goes once a flush has left it behind
/// and RocksDB looks through the directory. Few starts meet one. Errors: of RocksDB.
[[nodiscard]] result<void> retire_spoilt_logs(const database&, const layout::identity&);

/// Floors that were recovered are durable once recovery has flushed. A stream that starts over has none more.
/// Errors: state_damaged; of RocksDB.
[[nodiscard]] result<void> publish_recovered_floors(const database&, const adoption& wanted, durable_floors&);

}  // namespace ratchet
