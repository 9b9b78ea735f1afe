// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/open/rocks_view.hpp"

#include <algorithm>
#include <limits>

#include "core/retention.hpp"
#include "store/engine/catalog.hpp"
#include "store/layout/answer.hpp"
#include "store/layout/slot_row.hpp"
#include "store/layout/tables.hpp"
#include "store/layout/waiting.hpp"
#include "store/step/id_runs.hpp"

namespace ratchet {

result<std::unique_ptr<rocks_view>> rocks_view::open(const database& db, bool with_snapshot,
                                                     std::shared_ptr<const catalog> start) {
  std::unique_ptr<rocks_view> view{new rocks_view{db}};
  view->start_ = std::move(start);
  if (with_snapshot) view->options_.snapshot = view->snapshot_ = db.db().GetSnapshot();
  RATCHET_TRY(view->step_, read_step(db, view->options_, family::standard));
  // Whoever follows a log numbers its own writes as well, and people know the log's steps.
  RATCHET_TRY(const auto slot, db.get(view->options_, family::standard, layout::slot_key(k_instance_slot)));
  if (slot) {
    RATCHET_TRY(const auto position, layout::decode_slot(*slot));
    view->step_ = position.step;
  }
  return view;
}

rocks_view::~rocks_view() {
  if (snapshot_) db_->db().ReleaseSnapshot(snapshot_);
}

result<std::vector<named_stream>> rocks_view::streams() const {
  RATCHET_TRY(catalog known, read_catalog(*db_, options_));
  if (start_) known.streams.insert(start_->streams.begin(), start_->streams.end());
  std::vector<named_stream> out;
  for (const auto& [name, record] : known.streams) out.push_back({name, record.id, record.lines});
  return out;
}

result<store_identity> rocks_view::identity() const {
  RATCHET_TRY(catalog known, read_catalog(*db_, options_));
  if (!known.identity && start_) known.identity = start_->identity;
  if (!known.identity) return make_error_code(errc::state_damaged);
  return store_identity{known.identity->uuid, known.identity->group, known.identity->cluster_id,
                        known.outbox_epoch, known.copy};
}

result<outbox_lanes> rocks_view::outboxes() const {
  return read_outbox(*db_, options_);
}

result<stream_state> rocks_view::load(stream_slot in) const {
  return read_stream_state(*db_, options_, in.stream);
}

result<aggregate_row> rocks_view::row_of(std::string_view key, std::string_view value) const {
  RATCHET_TRY(const layout::aggregate_value decoded, layout::decode_aggregate(value));
  aggregate_row row;
  row.has_last = decoded.has_last;
  row.waits = decoded.waits;
  row.last = decoded.last;
  row.id = decoded.id;
  row.payload_hash = decoded.payload_hash;
  row.time = decoded.time;
  row.deleted = decoded.deleted;
  row.seen = decoded.seen;
  row.snapshot.assign(decoded.snapshot);
  if (decoded.external) {
    RATCHET_TRY(const auto stored, db_->get(options_, family::snapshots, key));
    if (!stored) return make_error_code(errc::state_damaged);
    RATCHET_TRY(const std::string_view snapshot, layout::decode_snapshot(*stored));
    row.snapshot.assign(snapshot);
  }
  return row;
}

result<bool> rocks_view::is_gone(stream_slot in, std::string_view aggregate, const aggregate_row& row) const {
  const auto [known, is_new] = retention_.try_emplace(in);
  if (is_new) {
    RATCHET_TRY(const auto value, db_->get(options_, family::standard, layout::stream_state_key(in.stream)));
    if (value) {
      RATCHET_TRY(const stream_state state, layout::decode_stream_state(*value));
      known->second = state.retention;
    }
  }
  if (!is_forgotten(known->second, row.seen)) return false;
  if (!row.waits) return true;
  RATCHET_TRY(const auto waiting, backlog_of(in, aggregate));
  return !waiting || waiting->events() == 0;
}

result<aggregate_row> rocks_view::get(stream_slot in, std::string_view aggregate) const {
  std::string key;
  layout::append_aggregate_key(key, in.stream, in.slot, aggregate);
  RATCHET_TRY(const auto value, db_->get(options_, family::sequences, key));
  if (!value) return make_error_code(errc::not_found);
  RATCHET_TRY(aggregate_row row, row_of(key, *value));
  if (!row.has_last) return make_error_code(errc::not_found);
  RATCHET_TRY(const bool gone, is_gone(in, aggregate, row));
  if (gone) return make_error_code(errc::not_found);
  return row;
}

result<void> rocks_view::scan(stream_slot in, const std::function<bool(const scanned_row&)>& visit) const {
  return db_->for_each(options_, family::sequences, layout::stream_prefix(in.stream, in.slot),
                       [&](std::string_view key, std::string_view value) -> result<bool> {
                         RATCHET_TRY(const auto parsed, layout::parse_aggregate_key(key));
                         RATCHET_TRY(const aggregate_row row, row_of(key, value));
                         if (!row.has_last) return true;
                         RATCHET_TRY(const bool gone, is_gone(in, parsed.aggregate, row));
                         return gone || visit({parsed.aggregate, row});
                       });
}

result<void> rocks_view::scan_ids(stream_slot in, const id_visit& visit) const {
  RATCHET_TRY(db_->for_each(options_, family::dedup, layout::opaque_ids_prefix(in.stream, in.slot),
                            [&](std::string_view key, std::string_view value) -> result<bool> {
                              RATCHET_TRY(const auto parsed, layout::parse_opaque_id_key(key));
                              RATCHET_TRY(const timestamp filed, layout::filed_time_of(value));
                              return visit(parsed.aggregate, parsed.id, filed);
                            }));
  // A stream has ids of one kind.
  return db_->for_each(
      options_, family::dedup, layout::stream_prefix(in.stream, in.slot),
      [&](std::string_view key, std::string_view value) -> result<bool> {
        RATCHET_TRY(const auto parsed, layout::parse_id_run_key(key));
        RATCHET_TRY(const auto run, layout::decode_id_run(parsed.span, value));
        return run.each([&](const layout::filed_id& f) { return visit(f.aggregate, f.id, f.id.time()); });
      });
}

result<std::vector<filed_id_of>> rocks_view::aggregates_with(stream_slot in, event_id id,
                                                             std::size_t limit) const {
  std::vector<filed_id_of> out;
  if (!db_->handle(family::dedup)) return out;
  std::string prefix;
  layout::append_opaque_id_key(prefix, in.stream, in.slot, id, {});
  RATCHET_TRY(db_->for_each(options_, family::dedup, prefix,
                            [&](std::string_view key, std::string_view value) -> result<bool> {
                              if (out.size() == limit) return false;
                              RATCHET_TRY(const auto parsed, layout::parse_opaque_id_key(key));
                              RATCHET_TRY(const timestamp filed, layout::filed_time_of(value));
                              out.push_back({std::string{parsed.aggregate}, filed});
                              return true;
                            }));
  if (!out.empty()) return out;  // a stream has ids of one kind
  RATCHET_TRY(const auto in_runs, aggregates_in_runs(*db_, options_, in, id, limit));
  for (const std::string& aggregate : in_runs) out.push_back({aggregate, id.time()});
  return out;
}

result<void> rocks_view::newest_rejected(stream_id stream, std::size_t limit,
                                         const std::function<bool(const rejected_row*)>& visit) const {
  // They lie in the order of position. A row may be large, so that of all but one at a time the place and the
  // key are all that is kept.
  std::vector<std::pair<rejected_place, std::string>> all;
  bool wanted = true;
  RATCHET_TRY(db_->for_each(options_, family::standard, layout::prefix_of(layout::kind::rejected, stream),
                            [&](std::string_view key, std::string_view value) -> result<bool> {
                              RATCHET_TRY(const auto parsed, layout::parse_rejected_key(key));
                              RATCHET_TRY(const auto decoded, layout::decode_rejected(parsed, value));
                              all.emplace_back(decoded.first, key);
                              return wanted = visit(nullptr);
                            }));
  if (!wanted) return BOOST_OUTCOME_V2_NAMESPACE::success();
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(limit, all.size()));
  std::partial_sort(all.begin(), end, all.end(),
                    [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto at = all.begin(); at != end; ++at) {
    RATCHET_TRY(const auto value, db_->get(options_, family::standard, at->second));
    if (!value) return make_error_code(errc::state_damaged);
    RATCHET_TRY(const auto parsed, layout::parse_rejected_key(at->second));
    RATCHET_TRY(const auto decoded, layout::decode_rejected(parsed, *value));
    if (!visit(&decoded.second)) break;
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

result<void> rocks_view::each_rejected(stream_id stream, const std::optional<kept_rejected::position>& after,
                                       const std::function<bool(const rejected_row&)>& visit) const {
  std::string from;
  if (after) {
    from = layout::rejected_key(stream, *after);
    from.push_back('\0');  // what comes behind it
  }
  return db_->for_each(
      options_, family::standard, layout::prefix_of(layout::kind::rejected, stream),
      [&](std::string_view key, std::string_view value) -> result<bool> {
        RATCHET_TRY(const auto parsed, layout::parse_rejected_key(key));
        RATCHET_TRY(const auto decoded, layout::decode_rejected(parsed, value));
        return visit(decoded.second);
      },
      from);
}

result<void> rocks_view::each_audit(std::uint64_t after,
                                    const std::function<bool(const audit_row&)>& visit) const {
  if (after == std::numeric_limits<std::uint64_t>::max()) return BOOST_OUTCOME_V2_NAMESPACE::success();
  return db_->for_each(
      options_, family::standard, layout::prefix_of(layout::kind::audit),
      [&](std::string_view key, std::string_view value) -> result<bool> {
        RATCHET_TRY(const auto place, layout::parse_audit_key(key));
        RATCHET_TRY(const audit_row row, layout::decode_audit(place, value));
        return visit(row);
      },
      layout::audit_key(after + 1, 0));
}

result<void> rocks_view::waiting(
    stream_slot in, const std::optional<waiting_place>& after,
    const std::function<bool(std::string_view aggregate, const waiting_event&)>& visit) const {
  std::string from;
  if (after) {
    layout::append_waiting_event_key(from, in.stream, in.slot, after->aggregate, after->sequence);
    from.push_back('\0');  // the first key behind it
  }
  return db_->for_each(
      options_, family::waiting, layout::waiting_prefix(layout::waiting_kind::event, in.stream, in.slot),
      [&](std::string_view key, std::string_view value) -> result<bool> {
        RATCHET_TRY(const auto parsed, layout::parse_waiting_event_key(key));
        RATCHET_TRY(const waiting_event event, layout::decode_waiting_event(parsed.sequence, value));
        return visit(parsed.aggregate, event);
      },
      from);
}

result<std::optional<backlog>> rocks_view::backlog_of(stream_slot in, std::string_view aggregate) const {
  std::string key;
  layout::append_backlog_key(key, in.stream, in.slot, aggregate);
  RATCHET_TRY(const auto value, db_->get(options_, family::waiting, key));
  if (!value) return std::optional<backlog>{};
  RATCHET_TRY(backlog found, layout::decode_backlog(*value));
  return std::optional{std::move(found)};
}

result<void> rocks_view::backlogs(
    stream_slot in, const std::function<bool(std::string_view aggregate, const backlog&)>& visit) const {
  return db_->for_each(options_, family::waiting,
                       layout::waiting_prefix(layout::waiting_kind::backlog, in.stream, in.slot),
                       [&](std::string_view key, std::string_view value) -> result<bool> {
                         RATCHET_TRY(const auto parsed, layout::parse_backlog_key(key));
                         RATCHET_TRY(const backlog found, layout::decode_backlog(value));
                         return visit(parsed.aggregate, found);
                       });
}

result<std::optional<std::string>> rocks_view::oldest_gap(stream_slot in) const {
  constexpr layout::waiting_kind k_gap = layout::waiting_kind::gap;
  std::optional<std::string> oldest;
  RATCHET_TRY(db_->for_each(options_, family::waiting, layout::waiting_prefix(k_gap, in.stream),
                            [&](std::string_view key, std::string_view) -> result<bool> {
                              RATCHET_TRY(const auto parsed, layout::parse_due_key(k_gap, key));
                              if (parsed.slot != in.slot) return true;
                              oldest = parsed.aggregate;
                              return false;
                            }));
  return oldest;
}

result<std::string> rocks_view::table_row(stream_slot in, std::string_view table,
                                          std::string_view key) const {
  std::string at;
  layout::append_table_key(at, in.stream, in.slot, table, key);
  RATCHET_TRY(const auto value, db_->get(options_, family::tables, at));
  if (!value) return make_error_code(errc::not_found);
  RATCHET_TRY(const std::string_view bytes, layout::decode_table_value(*value));
  return std::string{bytes};
}

result<void> rocks_view::scan_table(
    stream_slot in, std::string_view table, std::string_view prefix, std::string_view from,
    const std::function<bool(std::string_view key, std::string_view value)>& visit) const {
  const std::string all = layout::table_prefix(in.stream, in.slot, table);
  const std::string within = all + std::string{prefix};
  // From a key below all that have the prefix on, that is from the first of these.
  const std::string first = std::max(within, all + std::string{from});
  return db_->for_each(
      options_, family::tables, within,
      [&](std::string_view key, std::string_view value) -> result<bool> {
        RATCHET_TRY(const std::string_view bytes, layout::decode_table_value(value));
        return visit(key.substr(all.size()), bytes);
      },
      first);
}

}  // namespace ratchet
