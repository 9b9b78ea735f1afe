// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rocksdb/write_batch.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ports/step_batch.hpp"
#include "store/engine/column_families.hpp"
#include "store/layout/waiting.hpp"
#include "store/step/id_runs.hpp"
#include "store/step/rejected_index.hpp"
#include "store/step/row_lookup.hpp"
#include "store/step/row_sink.hpp"

namespace ratchet {

/// Puts the step's number into the batch, first. Nothing else may come before it.
void put_step(rocksdb::WriteBatch&, const database&, std::uint64_t step);

/// Turns a step into one RocksDB batch. Keeps its buffers.
/// Thread-safety: one owner thread.
class step_writer {
 public:
  explicit step_writer(const database& db) : db_{&db} {}
  /// The batch is valid until the second next call: one may be written while the next is built. `memory` and
  /// `rejected` move on with it, so a batch that was built must be written. `put_first`, if any, puts what
  /// the step's own rows come behind. Errors: state_damaged and of RocksDB, where rows must be looked up
  /// first.
  using put_first = std::function<result<void>(rocksdb::WriteBatch&)>;
  [[nodiscard]] result<rocksdb::WriteBatch*> build(const step_batch&, row_lookup&, memory_by_slot& memory,
                                                   rejected_index& rejected, const outbox_lanes& after,
                                                   const put_first& first = {});
  /// The same rows, but for the store's own step number, behind those that `to` has: what a replicated log is
  /// given. step_batch::step is the step's number in that log. `memory` and `rejected` move on with it.
  /// Errors: as build().
  [[nodiscard]] result<void> build_rows(const step_batch&, row_lookup&, memory_by_slot& memory,
                                        rejected_index& rejected, const outbox_lanes& after,
                                        replicate::row_buffer& to);

 private:
  result<void> put_all(const step_batch&, row_lookup&, memory_by_slot&, rejected_index&,
                       const outbox_lanes& after);
  void put_stream(const step_part&);
  result<void> put_rows(const step_part&, row_lookup&, row_cache&);
  /// The row alone: what lies in `snapshots` stays.
  void put_head(stream_slot, std::string_view aggregate, const aggregate_row&, bool external);
  void put_row(stream_slot, std::string_view aggregate, const aggregate_row&, bool was_external);
  void erase_row(stream_slot, std::string_view aggregate, bool was_external);
  void put_backlogs(const step_part&, due_bounds&);
  void put_waiting_events(const step_part&, const backlog_change&);
  void put_due(stream_slot, layout::waiting_kind, std::string_view aggregate, std::optional<timestamp> before,
               std::optional<timestamp> after);
  void put_tables(const step_part&);
  void put_outbox(const outbox_change&, const outbox_lanes& lanes);
  void delete_outputs(std::string_view lane, output_range);
  void put_ids(const step_part&, std::uint64_t step, id_cache&);
  void put_opaque_ids(const step_part&);

  const database* db_;
  rocksdb::WriteBatch batches_[2];
  rocksdb::WriteBatch* batch_{batches_};  ///< the one that is built
  std::optional<row_sink> sink_;          ///< where the rows of the step go
  id_run_writer runs_;
  std::string key_;
};

}  // namespace ratchet
