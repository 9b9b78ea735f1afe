// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "ports/step_store.hpp"
#include "store/engine/column_families.hpp"

namespace ratchet {

/// Walks through the rows of a slot of a stream, some at a time, for those of aggregates that are forgotten.
/// Keeps its iterator for the next call, as a new one has the rows of the memtable put in order; and lets it
/// go after a while, as it keeps files and memtables alive. What was written since it does not see.
/// Thread-safety: one owner thread.
class expired_rows {
 public:
  explicit expired_rows(const database& db) : db_{&db} {}
  /// As store::find_forgotten(). The database must have all steps. Errors: state_damaged; of RocksDB.
  [[nodiscard]] result<forgotten_aggregates> next(stream_slot, const retention_state&,
                                                  const std::optional<std::string>& after, std::size_t rows);
  /// A step is written: nobody may be walking any more.
  void note_step() noexcept;

 private:
  const database* db_;
  std::unique_ptr<rocksdb::Iterator> at_;  ///< stands behind what was looked at
  stream_slot in_{stream_id{0}};
  std::optional<std::string> after_;
  std::size_t looked_at_{0};
  std::size_t unused_{0};  ///< steps since the last call
};

}  // namespace ratchet
