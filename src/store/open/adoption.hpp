// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rocksdb/write_batch.h>

#include <vector>

#include "ports/store.hpp"
#include "store/engine/catalog.hpp"
#include "store/engine/store_options.hpp"
#include "store/open/opening.hpp"
#include "store/step/rejected_index.hpp"

namespace ratchet {

/// What a start changes in the catalog, before the first step or with it.
struct adoption {
  catalog known;
  std::vector<restarted_stream> restarted;
  std::vector<added_table> added_tables;  ///< to streams that hold something
  bool changed{false};
};

/// Compares the config with what is stored and says what must be written. Tables may be added to a stream.
/// Errors: state_foreign, which lists every changed line, and names a table that another stream has, and
/// streams and topics that would be left behind;
/// state_damaged; of RocksDB.
[[nodiscard]] reported<adoption> adopt(const store_options&, const inspected&);

/// Where a log begins that goes on from a directory. Its history has the directory's uuid: to the consumer
/// group it is the same store.
[[nodiscard]] replicate::log_position place_before_log(const layout::identity&, std::uint64_t step);

/// Puts everything that a start changes into the batch. Errors: state_damaged; of RocksDB.
[[nodiscard]] result<void> put_adoption(rocksdb::WriteBatch&, const database&, const adoption&,
                                        rejected_index&);
/// Writes it, in one synced batch. Errors: as above.
[[nodiscard]] result<void> write_adoption(const database&, const adoption&, rejected_index&);

}  // namespace ratchet
