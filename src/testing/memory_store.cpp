// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "testing/memory_store.hpp"

#include <algorithm>

#include "core/assert.hpp"

namespace ratchet {

namespace {

using contents = memory_store::contents;
using stream_contents = memory_store::stream_contents;

[[nodiscard]] const stream_contents& stream_of(const contents& all, stream_slot in) {
  RATCHET_ASSERT(in.slot == k_instance_slot);
  return all.streams.at(static_cast<std::size_t>(in.stream));
}

/// A copy of the contents, so that the owner may go on writing.
class memory_view final : public store_view {
 public:
  memory_view(contents all, std::vector<std::string> names, std::string uuid)
      : all_{std::move(all)}, names_{std::move(names)}, uuid_{std::move(uuid)} {}

  [[nodiscard]] std::uint64_t step() const override { return all_.step; }

  [[nodiscard]] result<store_identity> identity() const override {
    return store_identity{uuid_, {}, all_.cluster_id, all_.outbox_epoch, all_.copy};
  }

  [[nodiscard]] result<std::vector<named_stream>> streams() const override {
    std::vector<named_stream> out;
    for (const std::string& name : names_) {
      out.push_back({name, static_cast<stream_id>(static_cast<std::uint32_t>(out.size()))});
    }
    return out;
  }

  [[nodiscard]] result<stream_state> load(stream_slot id) const override { return stream_of(all_, id).state; }

  [[nodiscard]] result<aggregate_row> get(stream_slot id, std::string_view aggregate) const override {
    const auto& rows = stream_of(all_, id).rows;
    const auto at = rows.find(aggregate);
    if (at == rows.end() || !at->second.has_last) return make_error_code(errc::not_found);
    if (stream_of(all_, id).is_gone(at->first, at->second)) return make_error_code(errc::not_found);
    return at->second;
  }

  [[nodiscard]] result<void> scan(stream_slot id,
                                  const std::function<bool(const scanned_row&)>& visit) const override {
    const stream_contents& stream = stream_of(all_, id);
    for (const auto& [aggregate, row] : stream.rows) {
      if (!row.has_last || stream.is_gone(aggregate, row)) continue;
      if (!visit({aggregate, row})) break;
    }
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  [[nodiscard]] result<void> scan_ids(stream_slot id, const id_visit& visit) const override {
    for (const auto& [key, filed] : stream_of(all_, id).ids) {
      if (!visit(key.second, key.first, filed)) break;
    }
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  [[nodiscard]] result<std::vector<filed_id_of>> aggregates_with(stream_slot id, event_id event,
                                                                 std::size_t limit) const override {
    std::vector<filed_id_of> out;
    const auto& ids = stream_of(all_, id).ids;
    for (auto at = ids.lower_bound({event, {}}); at != ids.end() && at->first.first == event; ++at) {
      if (out.size() < limit) out.push_back({at->first.second, at->second});
    }
    return out;
  }

  [[nodiscard]] result<void> newest_rejected(
      stream_id id, std::size_t limit, const std::function<bool(const rejected_row*)>& visit) const override {
    const auto& stream = stream_of(all_, id);
    for (const auto& position : stream.kept.newest(limit)) {
      if (!visit(&stream.rejected.at(position))) break;
    }
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  [[nodiscard]] result<void> each_rejected(
      stream_id id, const std::optional<kept_rejected::position>& after,
      const std::function<bool(const rejected_row&)>& visit) const override {
    const auto& all = stream_of(all_, id).rejected;
    for (auto at = after ? all.upper_bound(*after) : all.begin(); at != all.end(); ++at) {
      if (!visit(at->second)) break;
    }
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  [[nodiscard]] result<void> each_audit(std::uint64_t after,
                                        const std::function<bool(const audit_row&)>& visit) const override {
    for (const audit_row& row : all_.audits) {
      if (row.step > after && !visit(row)) break;
    }
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  [[nodiscard]] result<void> waiting(
      stream_slot id, const std::optional<waiting_place>& after,
      const std::function<bool(std::string_view, const waiting_event&)>& visit) const override {
    const auto& all = stream_of(all_, id).waiting;
    auto at = after ? all.upper_bound({after->aggregate, after->sequence}) : all.begin();
    for (; at != all.end(); ++at) {
      if (!visit(at->first.first, at->second)) break;
    }
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  [[nodiscard]] result<std::optional<backlog>> backlog_of(stream_slot id,
                                                          std::string_view aggregate) const override {
    const auto& all = stream_of(all_, id).backlogs;
    const auto at = all.find(aggregate);
    return at == all.end() ? std::nullopt : std::optional{at->second};
  }

  [[nodiscard]] result<void> backlogs(
      stream_slot id, const std::function<bool(std::string_view, const backlog&)>& visit) const override {
    for (const auto& [aggregate, b] : stream_of(all_, id).backlogs) {
      if (!visit(aggregate, b)) break;
    }
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  [[nodiscard]] result<std::optional<std::string>> oldest_gap(stream_slot id) const override {
    std::optional<std::string> oldest;
    std::optional<timestamp> since;
    for (const auto& [aggregate, b] : stream_of(all_, id).backlogs) {
      if (!b.gap_since || (since && *since <= *b.gap_since)) continue;
      since = b.gap_since;
      oldest = aggregate;
    }
    return oldest;
  }

  [[nodiscard]] result<outbox_lanes> outboxes() const override { return all_.outbox.lanes; }

  [[nodiscard]] result<std::string> table_row(stream_slot id, std::string_view table,
                                              std::string_view key) const override {
    const auto& rows = stream_of(all_, id).tables;
    const auto at = rows.find({std::string{table}, std::string{key}});
    if (at == rows.end()) return make_error_code(errc::not_found);
    return at->second;
  }

  [[nodiscard]] result<void> scan_table(
      stream_slot id, std::string_view table, std::string_view prefix, std::string_view from,
      const std::function<bool(std::string_view, std::string_view)>& visit) const override {
    stream_of(all_, id).scan_table(table, prefix, from, visit);
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

 private:
  contents all_;
  std::vector<std::string> names_;
  std::string uuid_;
};

}  // namespace

void memory_store::stream_contents::enter(const step_part& part, std::uint64_t step) {
  if (part.change != nullptr) {
    state = part.change->after;
    RATCHET_ASSERT(part.plan != nullptr || (part.change->rows.empty() && part.change->ids.empty()));
    for (const aggregate_change& changed : part.change->rows) {
      const std::string name{part.plan->aggregates.at(changed.aggregate)};
      const auto old = rows.find(name);
      aggregate_row row = changed.row;
      if (changed.keeps_snapshot && old != rows.end()) {
        row.snapshot = old->second.snapshot;
        row.deleted = old->second.deleted;
      }
      if (row.has_last || row.waits) {
        rows.insert_or_assign(name, std::move(row));
      } else {
        rows.erase(name);
      }
    }
    for (const backlog_change& changed : part.change->backlogs) {
      const std::string name{part.plan->aggregates.at(changed.aggregate)};
      for (const waiting_head& gone : changed.removals) waiting.erase({name, gone.sequence});
      for (const waiting_event& e : changed.puts) waiting.insert_or_assign({name, e.head.sequence}, e);
      if (changed.after) {
        backlogs.insert_or_assign(name, *changed.after);
      } else {
        backlogs.erase(name);
      }
    }
    for (std::size_t i = 0; i < part.change->ids.size(); ++i) {
      const id_of_aggregate& id = part.change->ids[i];
      const timestamp filed = part.change->opaque_ids ? id.filed : id.id.time();
      const auto key = std::pair{id.id, std::string{part.plan->aggregates.at(id.aggregate)}};
      ids.insert_or_assign(key, filed);
      if (part.change->answers.empty()) {
        answers.erase(key);
      } else {
        answers.insert_or_assign(key, part.change->answers[i]);
      }
    }
    for (const table_change& c : part.change->tables) {
      if (c.value) {
        tables.insert_or_assign({c.table, c.key}, *c.value);
      } else {
        tables.erase({c.table, c.key});
      }
    }
  }
  if (part.rejected.empty() && !part.keep_rejected.before) return;
  std::uint32_t ordinal = 0;
  for (const rejected_row& row : part.rejected) {
    const auto where = kept_rejected::position::of(row);
    rejected.insert_or_assign(where, row);
    kept.add(where, {step, ordinal++}, row.at);
  }
  for (const auto& where : kept.trim(part.keep_rejected)) rejected.erase(where);
}

void memory_store::stream_contents::scan_table(
    std::string_view table, std::string_view prefix, std::string_view from,
    const std::function<bool(std::string_view, std::string_view)>& visit) const {
  auto at = tables.lower_bound({std::string{table}, std::string{std::max(prefix, from)}});
  for (; at != tables.end() && at->first.first == table && at->first.second.starts_with(prefix); ++at) {
    if (!visit(at->first.second, at->second)) break;
  }
}

void memory_store::outbox_contents::enter(const outbox_change& change) {
  const std::uint64_t first = lanes.of(change.trimmed_lane).first;
  const auto erase = [this, &change](output_range range) {
    auto& of_lane = rows[change.trimmed_lane];
    of_lane.erase(of_lane.lower_bound(range.first), of_lane.lower_bound(range.next));
  };
  if (change.trimmed_rows > 0) erase({first, first + change.trimmed_rows});
  for (const output_range& range : change.trimmed_behind) erase(range);
  change.apply_to(lanes);
  const auto put = [this](const output_row& row) {
    rows[std::string{row.lane()}].insert_or_assign(row.position, row);
  };
  for (const output_row& row : change.puts) put(row);
  if (change.skipped) put(change.skipped->row);
}

result<std::vector<output_row>> memory_store::outbox_contents::read(std::string_view lane, std::uint64_t from,
                                                                    std::uint64_t until, std::size_t limit,
                                                                    std::uint64_t bytes) const {
  std::vector<output_row> out;
  std::uint64_t sum = 0;
  const auto of_lane = rows.find(lane);
  if (of_lane == rows.end()) return out;
  for (auto at = of_lane->second.lower_bound(from); at != of_lane->second.end(); ++at) {
    if (at->first >= until || out.size() == limit) break;
    sum += at->second.bytes();
    if (!out.empty() && sum > bytes) break;
    out.push_back(at->second);
  }
  return out;
}

memory_store::memory_store(std::vector<std::string> streams, std::string uuid)
    : uuid_{std::move(uuid)}, names_{std::move(streams)} {
  written_.streams.resize(names_.size());
  durable_ = written_;
}

void memory_store::lose_unsynced() {
  const std::lock_guard lock{mutex_};
  written_ = durable_;
}

stream_id memory_store::id_of(std::string_view stream) const {
  const auto at = std::find(names_.begin(), names_.end(), stream);
  RATCHET_ASSERT(at != names_.end());
  return static_cast<stream_id>(static_cast<std::uint32_t>(at - names_.begin()));
}

result<stream_state> memory_store::load(stream_slot id) const {
  return stream_of(written_, id).state;
}

result<void> memory_store::lookup(stream_slot id, const step_plan& plan, step_rows& out) {
  stream_of(written_, id).look_up(plan, out, queue_events_);
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

result<due_aggregates> memory_store::due(stream_slot id, timestamp now, std::optional<timestamp> gaps,
                                         std::size_t limit) {
  return stream_of(written_, id).due(now, gaps, limit);
}

result<std::vector<std::string>> memory_store::due_behind(stream_slot id, timestamp until,
                                                          std::size_t limit) {
  return stream_of(written_, id).due_behind(until, limit);
}

result<forgotten_aggregates> memory_store::find_forgotten(stream_slot id, const retention_state& of,
                                                          const std::optional<std::string>& after,
                                                          std::size_t rows) {
  return stream_of(written_, id).find_forgotten(of, after, rows);
}

outbox_lanes memory_store::outboxes() const {
  const std::lock_guard lock{mutex_};
  return written_.outbox.lanes;
}

std::uint64_t memory_store::outbox_epoch() const {
  const std::lock_guard lock{mutex_};
  return written_.outbox_epoch;
}

result<std::vector<output_row>> memory_store::outputs(std::string_view lane, std::uint64_t from,
                                                      std::uint64_t until, std::size_t limit,
                                                      std::uint64_t bytes) const {
  const std::lock_guard lock{mutex_};
  return written_.outbox.read(lane, from, until, limit, bytes);
}

std::optional<timestamp> memory_store::oldest_rejected(stream_id id) const {
  return stream_of(written_, id).kept.oldest();
}

result<void> memory_store::write(const step_batch& batch) {
  const std::lock_guard lock{mutex_};
  if (batch.step != written_.step + 1) return make_error_code(errc::internal);
  for (const step_part& part : batch.parts) {
    written_.streams.at(static_cast<std::size_t>(part.stream)).enter(part, batch.step);
  }
  written_.audits.insert(written_.audits.end(), batch.audits.begin(), batch.audits.end());
  const store_change& change = batch.change;
  if (change.outbox_epoch) {
    written_.outbox_epoch = std::max(*change.outbox_epoch, written_.outbox_epoch + 1);
  }
  if (written_.copy) written_.copy->opened |= change.note_copy_opened;
  if (change.lift_copy_mark) written_.copy.reset();
  if (change.cluster_id) written_.cluster_id = *change.cluster_id;
  written_.incarnations.insert(written_.incarnations.end(), change.taken_over.begin(),
                               change.taken_over.end());
  std::stable_sort(written_.incarnations.begin(), written_.incarnations.end(),
                   [](const incarnation& a, const incarnation& b) { return a.counter < b.counter; });
  written_.outbox.enter(batch.outbox);
  written_.step = batch.step;
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

std::uint64_t memory_store::last_step() const noexcept {
  const std::lock_guard lock{mutex_};
  return written_.step;
}

std::uint64_t memory_store::durable_step() const noexcept {
  const std::lock_guard lock{mutex_};
  return durable_.step;
}

void memory_store::request_sync() {
  const std::lock_guard lock{mutex_};
  durable_ = written_;
}

result<void> memory_store::sync() {
  request_sync();
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

std::string memory_store::cluster_id() const {
  return written_.cluster_id;
}

result<void> memory_store::set_cluster_id(std::string_view id) {
  const std::lock_guard lock{mutex_};
  written_.cluster_id = id;
  durable_.cluster_id = id;
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

result<incarnation> memory_store::draw_incarnation(std::uint64_t past_counter, std::uint64_t random) {
  const std::lock_guard lock{mutex_};
  std::uint64_t highest = std::max(past_counter, written_.outbox_epoch);
  for (const incarnation& known : written_.incarnations) highest = std::max(highest, known.counter);
  const incarnation drawn{highest + 1, random};
  written_.incarnations.push_back(drawn);
  durable_ = written_;
  return drawn;
}

std::vector<incarnation> memory_store::incarnations() const {
  return written_.incarnations;
}

std::optional<copy_mark> memory_store::copy() const {
  const std::lock_guard lock{mutex_};
  return written_.copy;
}

result<std::uint64_t> memory_store::checkpoint(const std::filesystem::path&) {
  return std::make_error_code(std::errc::operation_not_supported);
}

void memory_store::become_copy(const copy_mark& mark) {
  const std::lock_guard lock{mutex_};
  written_.copy = mark;
  durable_ = written_;
}

result<std::unique_ptr<store_view>> memory_store::view() const {
  const std::lock_guard lock{mutex_};
  return std::unique_ptr<store_view>{std::make_unique<memory_view>(written_, names_, uuid_)};
}

}  // namespace ratchet
