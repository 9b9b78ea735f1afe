// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rocksdb/write_batch.h>

#include <map>
#include <span>
#include <string>
#include <unordered_map>

#include "store/column_families.hpp"
#include "store/layout.hpp"

namespace ratchet {

/// Keeps the newest rejected rows of each stream, and tells in the same batch which ones go. Rows are keyed
/// by their position; this index knows their age. Thread-safety: one owner thread.
class rejected_index {
 public:
  /// Reads what is stored. Errors: state_damaged; of RocksDB.
  [[nodiscard]] result<void> load(const database&, std::span<const stream_id>);
  /// Adds the rows of one step to the batch, in their order, and removes the oldest beyond k_rejected_rows.
  void add(rocksdb::WriteBatch&, rocksdb::ColumnFamilyHandle*, stream_id, std::uint64_t step,
           std::span<const rejected_row>);
  /// Removes all rows of a stream.
  void clear(rocksdb::WriteBatch&, rocksdb::ColumnFamilyHandle*, stream_id);

 private:
  struct rows_of_stream {
    std::map<layout::rejected_place, std::string> by_age;
    std::unordered_map<std::string, layout::rejected_place> by_key;
  };
  std::map<stream_id, rows_of_stream> streams_;
};

}  // namespace ratchet
