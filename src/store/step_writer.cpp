// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/step_writer.hpp"

#include <algorithm>
#include <array>

#include "store/layout.hpp"

namespace ratchet {

namespace {

// Statuses of batch edits: they fail only past a size limit, and none is set.
void put(rocksdb::WriteBatch& batch, rocksdb::ColumnFamilyHandle* family, std::string_view key,
         std::string_view value) {
  batch.Put(family, key, value).PermitUncheckedError();
}

/// A value in two pieces, copied once.
void put(rocksdb::WriteBatch& batch, rocksdb::ColumnFamilyHandle* family, std::string_view key,
         std::string_view head, std::string_view tail) {
  const rocksdb::Slice key_slice{key};
  const std::array<rocksdb::Slice, 2> value{rocksdb::Slice{head}, rocksdb::Slice{tail}};
  batch.Put(family, rocksdb::SliceParts{&key_slice, 1}, rocksdb::SliceParts{value.data(), 2})
      .PermitUncheckedError();
}

}  // namespace

void put_step(rocksdb::WriteBatch& batch, const database& db, std::uint64_t step) {
  const std::string value = layout::encode_step(step);
  for (const family f : k_step_families)
    put(batch, db.handle(f), layout::step_key(f == family::standard), value);
}

result<rocksdb::WriteBatch*> step_writer::build(const step_batch& step, row_lookup& lookup,
                                                memory_by_stream& memory, rejected_index& rejected) {
  batch_ = batch_ == batches_ ? batches_ + 1 : batches_;
  batch_->Clear();
  put_step(*batch_, *db_, step.step);
  for (const step_part& part : step.parts) {
    if (part.change) {
      put_stream(part);
      stream_memory& remembered = memory.at(part.stream);
      RATCHET_TRY(put_rows(part, lookup, remembered.rows));
      put_ids(part, step.step, remembered.ids);
    }
    rejected.add(*batch_, db_->handle(family::standard), part.stream, step.step, part.rejected);
  }
  for (std::uint32_t i = 0; i < step.audits.size(); ++i) {
    put(*batch_, db_->handle(family::standard), layout::audit_key(step.step, i),
        layout::encode_audit(step.audits[i]));
  }
  return batch_;
}

void step_writer::put_stream(const step_part& part) {
  rocksdb::ColumnFamilyHandle* family = db_->handle(family::standard);
  const stream_state& after = part.change->after;
  put(*batch_, family, layout::stream_state_key(part.stream),
      layout::encode_stream_state(after.floor, after.counters));
  for (const topic_partition& where : part.change->touched) {
    const auto at = after.partitions.find(where);
    if (at == after.partitions.end()) continue;
    put(*batch_, family, layout::partition_key(part.stream, where), layout::encode_partition(at->second));
  }
}

result<void> step_writer::put_rows(const step_part& part, row_lookup& lookup, recent_rows& recent) {
  const std::vector<aggregate_change>& rows = part.change->rows;
  if (rows.empty()) return BOOST_OUTCOME_V2_NAMESPACE::success();
  const step_plan& plan = *part.plan;
  // A snapshot that shrinks or goes must leave `snapshots`; whether it is there, the look-up has seen.
  if (!lookup.last().is_of(plan)) {
    RATCHET_TRY(lookup.find_external(part.stream, plan));
  }
  const looked_up& known = lookup.last();
  for (const auto& [aggregate, row] : rows) {
    recent.put(plan.hashes[aggregate],
               {row.last, row.id, row.payload_hash, row.time, row.deleted, layout::is_external(row)});
    put_row(part.stream, plan.aggregates[aggregate], row, known.is_external[aggregate] != 0);
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

void step_writer::put_row(stream_id stream, std::string_view aggregate, const aggregate_row& row,
                          bool was_external) {
  key_.clear();
  layout::append_aggregate_key(key_, stream, k_instance_slot, aggregate);
  const layout::aggregate_head head = layout::encode_aggregate_head(row);
  const bool external = layout::is_external(row);
  const std::string_view inlined =
      external || row.deleted ? std::string_view{} : std::string_view{row.snapshot};
  put(*batch_, db_->handle(family::sequences), key_, head.view(), inlined);
  if (external) {
    put(*batch_, db_->handle(family::snapshots), key_, std::string_view{&layout::k_format, 1}, row.snapshot);
  } else if (was_external) {
    batch_->Delete(db_->handle(family::snapshots), key_).PermitUncheckedError();
  }
}

void step_writer::put_ids(const step_part& part, std::uint64_t step, recent_ids& recent) {
  const std::vector<id_of_aggregate>& ids = part.change->ids;
  runs_.put(*batch_, db_->handle(family::dedup), part.stream, step, *part.plan, ids);
  const std::optional<event_id> horizon = id_horizon(part.change->after);
  for (const id_of_aggregate& id : ids) {
    recent.add(id.id, mark_of(id.id, part.plan->hashes[id.aggregate]), horizon);
  }
}

}  // namespace ratchet
