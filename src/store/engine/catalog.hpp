// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/output.hpp"
#include "ports/replica.hpp"
#include "replicate/log_reader.hpp"
#include "store/engine/row_reader.hpp"
#include "store/layout/layout.hpp"

namespace ratchet {

/// What a store knows of itself.
struct catalog {
  std::optional<layout::identity> identity;
  std::map<std::string, layout::stream_record, std::less<>> streams;
  std::vector<incarnation> incarnations;  ///< by counter
  std::optional<copy_mark> copy;
  std::uint64_t outbox_epoch{0};
  outbox_lanes outbox;
  std::optional<replicate::log_position> position;  ///< in a replicated log; none: it is no replica
  std::optional<slot_owner> owner;                  ///< of that log, as a replica noted it
  bool is_restoring{false};                         ///< a copy is being read into it: see replica
};

/// Errors: state_damaged; of RocksDB. A newer schema version is no error here: then only the identity is
/// read.
[[nodiscard]] result<catalog> read_catalog(const database&, const rocksdb::ReadOptions&);

/// Floor, counters and partitions; a stream without a row is empty. Errors: state_damaged; of RocksDB.
[[nodiscard]] result<stream_state> read_stream_state(const row_reader&, const rocksdb::ReadOptions&,
                                                     stream_id);

/// What the outbox holds. Errors: state_damaged; of RocksDB.
[[nodiscard]] result<outbox_lanes> read_outbox(const database&, const rocksdb::ReadOptions&);

/// As store::outputs(). Errors: state_damaged; of RocksDB.
[[nodiscard]] result<std::vector<output_row>> read_outputs(const row_reader&, const rocksdb::ReadOptions&,
                                                           std::string_view lane, std::uint64_t from,
                                                           std::uint64_t until, std::size_t limit,
                                                           std::uint64_t bytes);

/// The step row of a column family; 0 where there is none. Errors: state_damaged; of RocksDB.
[[nodiscard]] result<std::uint64_t> read_step(const database&, const rocksdb::ReadOptions&, family);

}  // namespace ratchet
