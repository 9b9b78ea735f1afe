// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/step/step_writer.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "store/layout/answer.hpp"
#include "store/layout/layout.hpp"
#include "store/layout/outbox.hpp"
#include "store/layout/tables.hpp"

namespace ratchet {

namespace {

constexpr std::size_t k_ahead = 8;

/// Name and snapshot of a row are mostly a record's, which another processor decoded a while ago. What
/// follows the first lines the processor asks for by itself.
void prefetch_bytes(const step_plan& plan, const aggregate_change& change) noexcept {
  constexpr std::size_t k_line = 64;
  __builtin_prefetch(plan.aggregates[change.aggregate].data());
  const std::string_view snapshot = change.row.snapshot;
  __builtin_prefetch(snapshot.data());
  if (snapshot.size() > k_line) __builtin_prefetch(snapshot.data() + k_line);
}

}  // namespace

void put_step(rocksdb::WriteBatch& batch, const database& db, std::uint64_t step) {
  const std::string value = layout::encode_step(step);
  row_sink to{db, batch};
  for (const family f : k_step_families) to.put(f, layout::step_key(f == family::standard), value);
}

result<rocksdb::WriteBatch*> step_writer::build(const step_batch& step, row_lookup& lookup,
                                                memory_by_slot& memory, rejected_index& rejected,
                                                const outbox_lanes& after, const put_first& first) {
  batch_ = batch_ == batches_ ? batches_ + 1 : batches_;
  batch_->Clear();
  put_step(*batch_, *db_, step.step);
  if (first) {
    RATCHET_TRY(first(*batch_));
  }
  sink_ = row_sink{*db_, *batch_};
  RATCHET_TRY(put_all(step, lookup, memory, rejected, after));
  return batch_;
}

result<void> step_writer::build_rows(const step_batch& step, row_lookup& lookup, memory_by_slot& memory,
                                     rejected_index& rejected, const outbox_lanes& after,
                                     replicate::row_buffer& to) {
  sink_ = row_sink{to};
  return put_all(step, lookup, memory, rejected, after);
}

result<void> step_writer::put_all(const step_batch& step, row_lookup& lookup, memory_by_slot& memory,
                                  rejected_index& rejected, const outbox_lanes& after) {
  for (const step_part& part : step.parts) {
    if (part.change) {
      put_stream(part);
      stream_memory& remembered = memory.at(part.place());
      RATCHET_TRY(put_rows(part, lookup, remembered.rows));
      put_ids(part, step.step, remembered.ids);
      put_backlogs(part, remembered.due);
      put_tables(part);
    }
    rejected.add(*sink_, part.stream, step.step, part.rejected, part.keep_rejected);
  }
  for (std::uint32_t i = 0; i < step.audits.size(); ++i) {
    sink_->put(family::standard, layout::audit_key(step.step, i), layout::encode_audit(step.audits[i]));
  }
  put_outbox(step.outbox, after);
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

/// Whoever reads a memtable sorts all of its range deletions first, so that there must be few of them: one
/// deletes so many rows that a memtable has no room for the rows of many.
void step_writer::delete_outputs(std::string_view lane, output_range range) {
  constexpr std::uint64_t k_one_by_one = 4096;
  if (range.next - range.first > k_one_by_one) {
    sink_->erase_range(family::outbox, layout::output_key(range.first, lane),
                       layout::output_key(range.next, lane));
    return;
  }
  for (std::uint64_t position = range.first; position < range.next; ++position)
    sink_->erase(family::outbox, layout::output_key(position, lane));
}

void step_writer::put_outbox(const outbox_change& change, const outbox_lanes& lanes) {
  if (change.empty()) return;
  std::set<std::string_view> changed;
  if (change.trims()) {
    const std::string_view lane = *changed.insert(change.trimmed_lane).first;
    const std::uint64_t first = lanes.of(lane).first;
    if (change.trimmed_rows > 0) delete_outputs(lane, {first - change.trimmed_rows, first});
    for (const output_range& range : change.trimmed_behind) delete_outputs(lane, range);
  }
  const auto put_row = [&](const output_row& row) {
    changed.insert(row.lane());
    sink_->put(family::outbox, layout::output_key(row.position, row.lane()), layout::encode_output(row));
  };
  for (const output_row& row : change.puts) put_row(row);
  if (change.skipped) put_row(change.skipped->row);
  for (const std::string_view lane : changed) {
    sink_->put(family::standard, layout::outbox_state_key(lane), layout::encode_outbox_state(lanes.of(lane)));
  }
}

/// In the order of the events: of a row that changes twice the later change stays.
void step_writer::put_tables(const step_part& part) {
  for (const table_change& change : part.change->tables) {
    key_.clear();
    layout::append_table_key(key_, part.stream, part.slot, change.table, change.key);
    if (!change.value) {
      sink_->erase(family::tables, key_);
      continue;
    }
    sink_->put(family::tables, key_, std::string_view{&layout::k_format, 1}, *change.value);
  }
}

void step_writer::put_stream(const step_part& part) {
  const stream_state& after = part.change->after;
  sink_->put(family::standard, layout::stream_state_key(part.stream),
             layout::encode_stream_state(after.floor, after.counters, after.retention));
  for (const topic_partition& where : part.change->touched) {
    const auto at = after.partitions.find(where);
    if (at == after.partitions.end()) continue;
    sink_->put(family::standard, layout::partition_key(part.stream, where),
               layout::encode_partition(at->second));
  }
}

result<void> step_writer::put_rows(const step_part& part, row_lookup& lookup, row_cache& recent) {
  const std::vector<aggregate_change>& rows = part.change->rows;
  if (rows.empty()) return BOOST_OUTCOME_V2_NAMESPACE::success();
  const step_plan& plan = *part.plan;
  // A snapshot that shrinks or goes must leave `snapshots`; whether it is there, the look-up has seen.
  if (!lookup.last().is_of(plan)) {
    RATCHET_TRY(lookup.find_external(part.place(), plan));
  }
  const looked_up& known = lookup.last();
  const auto hash_of = [&](std::size_t i) { return plan.hashes[rows[i].aggregate]; };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    recent.prefetch_ahead(i, rows.size(), hash_of);
    if (i + k_ahead < rows.size()) prefetch_bytes(plan, rows[i + k_ahead]);
    const auto& [aggregate, change, keeps_snapshot] = rows[i];
    if (!change.has_last && !change.waits) {
      recent.erase(plan.hashes[aggregate]);
      erase_row(part.place(), plan.aggregates[aggregate], known.is_external[aggregate] != 0);
      continue;
    }
    const bool was_external = known.is_external[aggregate] != 0;
    const bool external = keeps_snapshot ? was_external : layout::is_external(change);
    std::optional<aggregate_row> completed;  // of few
    if (change.partial || (keeps_snapshot && !external)) {
      completed = change;
      RATCHET_TRY(lookup.complete(part.place(), plan.aggregates[aggregate], *completed));
    }
    const aggregate_row& row = completed ? *completed : change;
    recent.put(plan.hashes[aggregate],
               {row.last, row.id, row.payload_hash, row.time, row.deleted, external, row.has_last, row.waits,
                row.seen.has_value(), row.seen.value_or(timestamp{})});
    if (keeps_snapshot) {
      put_head(part.place(), plan.aggregates[aggregate], row, external);
    } else {
      put_row(part.place(), plan.aggregates[aggregate], row, was_external);
    }
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

void step_writer::put_row(stream_slot in, std::string_view aggregate, const aggregate_row& row,
                          bool was_external) {
  key_.clear();
  layout::append_aggregate_key(key_, in.stream, in.slot, aggregate);
  const layout::aggregate_head head = layout::encode_aggregate_head(row);
  const bool external = layout::is_external(row);
  const std::string_view inlined =
      external || row.deleted || !row.has_last ? std::string_view{} : std::string_view{row.snapshot};
  sink_->put(family::sequences, key_, head.view(), inlined);
  if (external) {
    sink_->put(family::snapshots, key_, std::string_view{&layout::k_format, 1}, row.snapshot);
  } else if (was_external) {
    sink_->erase(family::snapshots, key_);
  }
}

void step_writer::put_head(stream_slot in, std::string_view aggregate, const aggregate_row& row,
                           bool external) {
  key_.clear();
  layout::append_aggregate_key(key_, in.stream, in.slot, aggregate);
  sink_->put(family::sequences, key_, layout::encode_aggregate_head(row, external).view(),
             external ? std::string_view{} : std::string_view{row.snapshot});
}

/// Nothing was applied, or that is forgotten; and nothing waits any more.
void step_writer::erase_row(stream_slot in, std::string_view aggregate, bool was_external) {
  key_.clear();
  layout::append_aggregate_key(key_, in.stream, in.slot, aggregate);
  sink_->erase(family::sequences, key_);
  if (was_external) sink_->erase(family::snapshots, key_);
}

void step_writer::put_backlogs(const step_part& part, due_bounds& due) {
  for (const backlog_change& change : part.change->backlogs) {
    const std::string_view aggregate = part.plan->aggregates[change.aggregate];
    put_waiting_events(part, change);
    key_.clear();
    layout::append_backlog_key(key_, part.stream, part.slot, aggregate);
    if (change.after) {
      sink_->put(family::waiting, key_, layout::encode_backlog(*change.after));
      due.note(*change.after);
    } else {
      sink_->erase(family::waiting, key_);
    }
    const backlog before = change.before.value_or(backlog{});
    const backlog after = change.after.value_or(backlog{});
    put_due(part.place(), layout::waiting_kind::wake, aggregate, before.wake, after.wake);
    put_due(part.place(), layout::waiting_kind::gap, aggregate, before.gap_since, after.gap_since);
  }
}

void step_writer::put_waiting_events(const step_part& part, const backlog_change& change) {
  const std::string_view aggregate = part.plan->aggregates[change.aggregate];
  const bool has_ids = part.plan->order == order::arrival;
  const auto event_key = [&](sequence s) -> const std::string& {
    key_.clear();
    layout::append_waiting_event_key(key_, part.stream, part.slot, aggregate, s);
    return key_;
  };
  const auto id_key = [&](const event_id& id) -> const std::string& {
    key_.clear();
    layout::append_waiting_id_key(key_, part.stream, part.slot, aggregate, id);
    return key_;
  };
  const auto has_id_key = [has_ids](const waiting_head& head, const std::optional<backlog>& of) {
    return has_ids && head.id && !(of && of->is_accepted(head.sequence));
  };
  // Removals first: what is put under the same key stays.
  for (const waiting_head& gone : change.removals) {
    sink_->erase(family::waiting, event_key(gone.sequence));
    if (has_id_key(gone, change.before)) sink_->erase(family::waiting, id_key(*gone.id));
  }
  for (const waiting_head& head : change.accepted) {
    if (has_id_key(head, change.before)) sink_->erase(family::waiting, id_key(*head.id));
  }
  for (const waiting_event& event : change.puts) {
    sink_->put(family::waiting, event_key(event.head.sequence), layout::encode_waiting_event(event));
    if (has_id_key(event.head, change.after))
      sink_->put(family::waiting, id_key(*event.head.id), layout::encode_sequence(event.head.sequence));
  }
}

/// Keeps one of the indexes in step.
void step_writer::put_due(stream_slot in, layout::waiting_kind kind, std::string_view aggregate,
                          std::optional<timestamp> before, std::optional<timestamp> after) {
  if (before == after) return;
  const auto key_at = [&](timestamp time) -> const std::string& {
    key_.clear();
    layout::append_due_key(key_, kind, in.stream, time, in.slot, aggregate);
    return key_;
  };
  if (before) sink_->erase(family::waiting, key_at(*before));
  if (after) sink_->put(family::waiting, key_at(*after), layout::encode_presence());
}

void step_writer::put_ids(const step_part& part, std::uint64_t step, id_cache& recent) {
  const std::vector<id_of_aggregate>& ids = part.change->ids;
  if (part.change->opaque_ids) return put_opaque_ids(part);
  runs_.put(*sink_, part.place(), step, *part.plan, ids);
  const std::optional<event_id> horizon = id_horizon(part.change->after);
  const auto mark = [&](const id_of_aggregate& id) {
    return mark_of(id.id, part.plan->hashes[id.aggregate]);
  };
  for (std::size_t i = 0; i < ids.size(); ++i) {
    recent.prefetch_ahead(i, ids, mark);
    recent.add(ids[i].id, mark(ids[i]), horizon);
  }
}

/// In the order in which they were filed: of an id that comes twice the later time stays.
void step_writer::put_opaque_ids(const step_part& part) {
  const stream_change& change = *part.change;
  for (std::size_t i = 0; i < change.ids.size(); ++i) {
    const id_of_aggregate& id = change.ids[i];
    key_.clear();
    layout::append_opaque_id_key(key_, part.stream, part.slot, id.id, part.plan->aggregates[id.aggregate]);
    sink_->put(family::dedup, key_,
               change.answers.empty() ? layout::encode_filed_time(id.filed)
                                      : layout::encode_answered_id(id.filed, change.answers[i]));
  }
}

}  // namespace ratchet
