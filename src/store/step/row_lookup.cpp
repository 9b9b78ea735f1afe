// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/step/row_lookup.hpp"

#include <algorithm>
#include <chrono>
#include <tuple>

#include "core/aggregate_hash.hpp"
#include "core/counted_sequence.hpp"
#include "core/state_bytes.hpp"
#include "store/engine/catalog.hpp"
#include "store/layout/answer.hpp"
#include "store/layout/layout.hpp"
#include "store/step/backlog_lookup.hpp"
#include "store/step/id_runs.hpp"

namespace ratchet {

namespace {

/// Puts aggregates in the order of their keys.
void sort_by_key(std::vector<std::uint32_t>& indexes, const std::vector<std::string_view>& aggregates) {
  std::sort(indexes.begin(), indexes.end(),
            [&](std::uint32_t a, std::uint32_t b) { return aggregates[a] < aggregates[b]; });
}

}  // namespace

std::optional<event_id> id_horizon(const stream_state& state) {
  constexpr std::chrono::hours k_ahead{1};
  constexpr unsigned k_bits_below_the_time = 16;  // UUIDv7: 48 bits of milliseconds come first
  std::optional<timestamp> highest;
  for (const auto& [where, p] : state.partitions) {
    if (p.highest_time && (!highest || *p.highest_time > *highest)) highest = p.highest_time;
  }
  if (!highest) return std::nullopt;
  const auto milliseconds = (*highest + k_ahead).time_since_epoch().count();
  return event_id{
      static_cast<std::uint64_t>(std::max<std::int64_t>(milliseconds, 0)) << k_bits_below_the_time, 0};
}

namespace {

/// Lifts the boundary over every id that the stream has on disk, but those ahead that can be kept apart. Only
/// the runs that may hold the highest ones are read.
result<void> start_ids_above_disk(const database& db, stream_slot in, id_cache& ids) {
  const std::string begin = layout::stream_prefix(in.stream, in.slot);
  const std::string end = layout::end_of_prefix(begin);
  const rocksdb::Slice upper{end};
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &upper;
  options.total_order_seek = true;
  const std::unique_ptr<rocksdb::Iterator> at{db.db().NewIterator(options, db.handle(family::dedup))};
  RATCHET_TRY(const stream_state state, read_stream_state(db, {}, in.stream));
  const std::optional<event_id> horizon = id_horizon(state);
  constexpr std::uint64_t k_widest = std::uint64_t{1} << layout::k_span_bits.back();
  for (at->SeekToLast(); at->Valid() && at->key().starts_with(begin); at->Prev()) {
    RATCHET_TRY(const auto key, layout::parse_id_run_key(at->key().ToStringView()));
    // No run that begins so early, and none before it, reaches up to the boundary.
    if (ids.boundary() && key.span.start + k_widest <= ids.boundary()->high >> 16U) break;
    RATCHET_TRY(const auto run, layout::decode_id_run(key.span, at->value().ToStringView()));
    run.each([&](const layout::filed_id& filed) {
      const bool is_apart = horizon && filed.id > *horizon &&
                            ids.keep_apart(filed.id, mark_of(filed.id, hash_of_aggregate(filed.aggregate)));
      if (!is_apart) ids.start_above(filed.id);
      return true;
    });
  }
  if (!at->status().ok()) return read_error(at->status());
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

result<bool> has_no_rows(const database& db, stream_slot in) {
  bool is_empty = true;
  RATCHET_TRY(db.for_each({}, family::sequences, layout::stream_prefix(in.stream, in.slot),
                          [&](std::string_view, std::string_view) -> result<bool> {
                            is_empty = false;
                            return false;
                          }));
  return is_empty;
}

}  // namespace

result<memory_by_slot> make_memory(const database& db, std::span<const stream_slot> slots,
                                   std::uint64_t bytes) {
  memory_by_slot out;
  for (const stream_slot in : slots) {
    const std::uint64_t of_slot = bytes / slots.size();
    const std::uint64_t of_ids = std::min(id_cache::taken_of(of_slot / 2), of_slot / 2);
    RATCHET_TRY(const bool is_empty, has_no_rows(db, in));
    stream_memory memory{id_cache{std::nullopt, of_ids}, row_cache{of_slot - of_ids, is_empty}};
    RATCHET_TRY(start_ids_above_disk(db, in, memory.ids));
    out.emplace(in, std::move(memory));
  }
  return out;
}

void row_lookup::prepare(std::size_t keys, std::size_t key_bytes) {
  key_bytes_.clear();
  key_bytes_.reserve(key_bytes);  // keys_ points into it: it must not move
  keys_.clear();
  keys_.reserve(keys);
}

void row_lookup::add_key(std::size_t begin) {
  keys_.emplace_back(key_bytes_.data() + begin, key_bytes_.size() - begin);
}

result<void> row_lookup::multi_get(family f, std::uint64_t soft_limit) {
  if (keys_.empty()) return BOOST_OUTCOME_V2_NAMESPACE::success();
  RATCHET_TRY(writes_->wait_for_write());
  // Made anew, never resized: a PinnableSlice that is moved while it pins a block leaves its own buffer
  // behind unset.
  if (values_.size() < keys_.size()) values_ = std::vector<rocksdb::PinnableSlice>(keys_.size());
  for (std::size_t i = 0; i < keys_.size(); ++i) values_[i].Reset();
  statuses_.assign(keys_.size(), rocksdb::Status{});
  rows_.multi_get(f, keys_.size(), keys_.data(), values_.data(), statuses_.data(), soft_limit);
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

result<void> row_lookup::run(stream_slot in, const step_plan& plan, step_rows& out) {
  last_.plan = nullptr;
  out.aggregates.assign(plan.aggregates.size(), std::nullopt);
  out.id_stored.assign(plan.ids.size(), 0);
  out.id_filed.assign(plan.opaque_ids ? plan.ids.size() : 0, timestamp{});
  out.answers.assign(plan.wants_answers ? plan.ids.size() : 0, std::nullopt);
  out.backlogs.clear();
  waits_.clear();
  RATCHET_TRY(get_aggregates(in, plan, &out));
  if (plan.needs_snapshots) {
    RATCHET_TRY(get_snapshots(in, plan, out));
  }
  RATCHET_TRY(get_ids(in, plan, out));
  if (!waits_.empty()) {
    RATCHET_TRY(writes_->wait_for_write());
    std::sort(waits_.begin(), waits_.end());  // those that were remembered came first
    RATCHET_TRY(find_backlogs(rows_, in, plan, waits_, out));
  }
  last_.plan = &plan;
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

result<void> row_lookup::find_external(stream_slot in, const step_plan& plan) {
  last_.plan = nullptr;
  RATCHET_TRY(get_aggregates(in, plan, nullptr));
  last_.plan = &plan;
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

result<void> row_lookup::complete(stream_slot in, std::string_view aggregate, aggregate_row& row) const {
  RATCHET_TRY(writes_->wait_for_write());
  std::string key;
  layout::append_aggregate_key(key, in.stream, in.slot, aggregate);
  RATCHET_TRY(const auto stored, rows_.get({}, family::sequences, key));
  if (!stored) {
    if (row.partial) return make_error_code(errc::state_damaged);  // what is remembered in part is there
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }
  RATCHET_TRY(const layout::aggregate_value value, layout::decode_aggregate(*stored));
  row.snapshot.assign(value.snapshot);
  if (row.partial) {
    row.id = value.id;
    row.payload_hash = value.payload_hash;
    row.partial = false;
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

result<void> row_lookup::get_aggregates(stream_slot in, const step_plan& plan, step_rows* out) {
  last_.aggregates = plan.aggregates.data();
  last_.count = plan.aggregates.size();
  last_.is_external.assign(plan.aggregates.size(), 0);
  row_cache& recent = memory_->at(in).rows;
  const auto hash_of = [&](std::size_t index) { return plan.hashes[index]; };
  asked_.clear();
  bool any_partial = false;
  for (std::uint32_t index = 0; index < plan.aggregates.size(); ++index) {
    recent.prefetch_ahead(index, plan.hashes.size(), hash_of);
    const std::optional<remembered_row> known = recent.find(plan.hashes[index]);
    if (!known && recent.has_all()) continue;
    // What is compared with an operator's event, or one that waits, is not in the plan.
    const bool may_be_partial = out == nullptr || (!plan.events.empty() && !(known && known->head.waits));
    if (known && !plan.needs_snapshots && (known->is_whole || may_be_partial)) {
      remember(index, known->head, out);
      if (out != nullptr) out->aggregates[index]->partial = !known->is_whole;
      any_partial = any_partial || !known->is_whole;
      continue;
    }
    asked_.push_back(index);
  }
  if (any_partial && out != nullptr) ask_for_equals(plan, *out);
  sort_by_key(asked_, plan.aggregates);
  std::size_t bytes = 0;
  for (const std::uint32_t index : asked_) bytes += layout::aggregate_key_size(plan.aggregates[index].size());
  prepare(asked_.size(), bytes);
  for (const std::uint32_t index : asked_) {
    const std::size_t begin = key_bytes_.size();
    layout::append_aggregate_key(key_bytes_, in.stream, in.slot, plan.aggregates[index]);
    add_key(begin);
  }
  RATCHET_TRY(multi_get(family::sequences));
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    if (statuses_[i].IsNotFound()) {
      // One that is remembered in part is there.
      if (out != nullptr && out->aggregates[asked_[i]]) return make_error_code(errc::state_damaged);
      continue;
    }
    if (!statuses_[i].ok()) return read_error(statuses_[i]);
    RATCHET_TRY(const layout::aggregate_value value, layout::decode_aggregate(values_[i].ToStringView()));
    const row_head head{value.last,
                        value.id,
                        value.payload_hash,
                        value.time,
                        value.deleted,
                        value.external,
                        value.has_last,
                        value.waits,
                        value.seen.has_value(),
                        value.seen.value_or(timestamp{})};
    remember(asked_[i], head, out);
    if (out && plan.needs_snapshots) out->aggregates[asked_[i]]->snapshot.assign(value.snapshot);
    if (!plan.needs_snapshots) recent.put(plan.hashes[asked_[i]], head);
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

/// An event of a row's own number is compared with its id and its payload. Where there are no numbers, none
/// is. Where an aggregate may begin again, its first numbers ask whether the last event was a delete.
void row_lookup::ask_for_equals(const step_plan& plan, step_rows& out) {
  if (plan.order == order::arrival) return;
  for (std::size_t i = 0; i < plan.events.size(); ++i) {
    const std::uint32_t index = plan.aggregate_of[i];
    if (index == k_no_index) continue;
    std::optional<aggregate_row>& row = out.aggregates[index];
    if (!row || !row->partial) continue;
    const sequence s = plan.events[i].sequence;
    const bool is_equal = s.number == row->last.number && (plan.restarts || s.epoch == row->last.epoch);
    if (!is_equal && !(plan.restarts && s.number <= k_highest_new_beginning)) continue;
    row->partial = false;  // as it will be read
    asked_.push_back(index);
  }
}

void row_lookup::remember(std::uint32_t aggregate, const row_head& head, step_rows* out) {
  last_.is_external[aggregate] = head.external ? 1 : 0;
  if (!out) return;
  aggregate_row& row = out->aggregates[aggregate].emplace();
  if (head.waits) waits_.push_back(aggregate);
  row.has_last = head.has_last;
  row.waits = head.waits;
  row.last = head.last;
  row.id = head.id;
  row.payload_hash = head.payload_hash;
  row.time = head.time;
  row.deleted = head.deleted;
  if (head.has_seen) row.seen = head.seen;
}

result<void> row_lookup::get_snapshots(stream_slot in, const step_plan& plan, step_rows& out) {
  std::vector<std::uint32_t> wanted;
  for (std::uint32_t index = 0; index < plan.aggregates.size(); ++index) {
    if (last_.is_external[index] != 0) wanted.push_back(index);
  }
  if (wanted.empty()) return BOOST_OUTCOME_V2_NAMESPACE::success();
  std::vector<std::uint32_t> sorted = wanted;
  sort_by_key(sorted, plan.aggregates);
  std::uint64_t left = k_most_looked_up_bytes;
  RATCHET_TRY(const bool all, take_snapshots(in, plan, sorted, left, out));
  if (all) return BOOST_OUTCOME_V2_NAMESPACE::success();
  // Too much for one step: as many as there is room for, in the order in which their events come.
  left = k_most_looked_up_bytes;
  for (const std::uint32_t index : wanted) {
    if (left == 0) {
      out.aggregates.resize(index);
      std::erase_if(waits_, [&](std::uint32_t i) { return i >= index; });
      break;
    }
    RATCHET_TRY(take_snapshots(in, plan, {&index, 1}, left, out));
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

/// Of these aggregates, in the order of their keys; takes what they have off `left`. False: there are more of
/// them than that, but for the first, and not all are there.
result<bool> row_lookup::take_snapshots(stream_slot in, const step_plan& plan,
                                        std::span<const std::uint32_t> of, std::uint64_t& left,
                                        step_rows& out) {
  std::size_t bytes = 0;
  for (const std::uint32_t index : of) bytes += layout::aggregate_key_size(plan.aggregates[index].size());
  prepare(of.size(), bytes);
  for (const std::uint32_t index : of) {
    const std::size_t begin = key_bytes_.size();
    layout::append_aggregate_key(key_bytes_, in.stream, in.slot, plan.aggregates[index]);
    add_key(begin);
  }
  RATCHET_TRY(multi_get(family::snapshots, left));
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (statuses_[i].IsNotFound())
      return make_error_code(errc::state_damaged);  // its row says that it is there
    if (statuses_[i].IsAborted()) {
      for (rocksdb::PinnableSlice& pinned : values_) pinned.Reset();
      return false;
    }
    if (!statuses_[i].ok()) return read_error(statuses_[i]);
    RATCHET_TRY(const std::string_view snapshot, layout::decode_snapshot(values_[i].ToStringView()));
    out.aggregates[of[i]]->snapshot.assign(snapshot);
    left -= std::min<std::uint64_t>(left, snapshot.size());
    values_[i].Reset();  // it may be large, and is not to be there twice
  }
  return true;
}

result<void> row_lookup::get_ids(stream_slot in, const step_plan& plan, step_rows& out) {
  if (plan.ids.empty()) return BOOST_OUTCOME_V2_NAMESPACE::success();
  if (plan.opaque_ids) return get_opaque_ids(in, plan, out);
  const id_cache& recent = memory_->at(in).ids;
  const auto mark = [&](const id_of_aggregate& id) { return mark_of(id.id, plan.hashes[id.aggregate]); };
  asked_.clear();
  for (std::uint32_t i = 0; i < plan.ids.size(); ++i) {
    recent.prefetch_ahead(i, plan.ids, mark);
    const id_cache::answer answer = recent.find(plan.ids[i].id, mark(plan.ids[i]));
    if (answer == id_cache::answer::stored) out.id_stored[i] = 1;
    if (answer == id_cache::answer::unknown) asked_.push_back(i);
  }
  if (asked_.empty()) return BOOST_OUTCOME_V2_NAMESPACE::success();
  RATCHET_TRY(writes_->wait_for_write());
  return find_in_runs(rows_, in, plan, asked_, out.id_stored);
}

/// Nothing in such an id tells how old it is, so that the database is asked for each; but of an aggregate
/// without a row none was ever filed.
result<void> row_lookup::get_opaque_ids(stream_slot in, const step_plan& plan, step_rows& out) {
  asked_.clear();
  for (std::uint32_t i = 0; i < plan.ids.size(); ++i) {
    const std::uint32_t aggregate = plan.ids[i].aggregate;
    if (aggregate < out.aggregates.size() && out.aggregates[aggregate]) asked_.push_back(i);
  }
  const std::vector<std::uint32_t> wanted = asked_;
  std::sort(asked_.begin(), asked_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple{plan.ids[a].id, plan.aggregates[plan.ids[a].aggregate]} <
           std::tuple{plan.ids[b].id, plan.aggregates[plan.ids[b].aggregate]};
  });
  std::uint64_t left = plan.wants_answers ? k_most_looked_up_bytes : k_no_limit;
  RATCHET_TRY(const bool all, take_ids(in, plan, asked_, left, out));
  if (all) return BOOST_OUTCOME_V2_NAMESPACE::success();
  // Too many answers for one step: as with snapshots.
  left = k_most_looked_up_bytes;
  for (const std::uint32_t index : wanted) {
    if (left == 0) {
      out.id_stored.resize(index);
      break;
    }
    RATCHET_TRY(take_ids(in, plan, {&index, 1}, left, out));
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

/// As take_snapshots(), of what is kept with these ids.
result<bool> row_lookup::take_ids(stream_slot in, const step_plan& plan, std::span<const std::uint32_t> of,
                                  std::uint64_t& left, step_rows& out) {
  std::size_t bytes = 0;
  for (const std::uint32_t index : of)
    bytes += layout::opaque_id_key_size(plan.aggregates[plan.ids[index].aggregate].size());
  prepare(of.size(), bytes);
  for (const std::uint32_t index : of) {
    const std::size_t begin = key_bytes_.size();
    const id_of_aggregate& id = plan.ids[index];
    layout::append_opaque_id_key(key_bytes_, in.stream, in.slot, id.id, plan.aggregates[id.aggregate]);
    add_key(begin);
  }
  RATCHET_TRY(multi_get(family::dedup, left));
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (statuses_[i].IsNotFound()) continue;
    if (statuses_[i].IsAborted()) {
      for (rocksdb::PinnableSlice& pinned : values_) pinned.Reset();
      return false;
    }
    if (!statuses_[i].ok()) return read_error(statuses_[i]);
    RATCHET_TRY(out.id_filed[of[i]], layout::filed_time_of(values_[i].ToStringView()));
    out.id_stored[of[i]] = 1;
    left -= std::min<std::uint64_t>(left, values_[i].size());
    if (!plan.wants_answers) continue;
    RATCHET_TRY(out.answers[of[i]], layout::decode_answer(values_[i].ToStringView()));
  }
  return true;
}

}  // namespace ratchet
