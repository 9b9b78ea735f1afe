// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/engine/catalog.hpp"

#include "store/layout/outbox.hpp"
#include "store/layout/slot_row.hpp"

namespace ratchet {

result<catalog> read_catalog(const database& db, const rocksdb::ReadOptions& options) {
  catalog out;
  RATCHET_TRY(const auto identity, db.get(options, family::standard, layout::identity_key()));
  if (!identity) return out;
  RATCHET_TRY(out.identity, layout::decode_identity(*identity));
  if (out.identity->schema_version != layout::k_schema_version) return out;
  RATCHET_TRY(db.for_each(options, family::standard, layout::prefix_of(layout::kind::stream),
                          [&](std::string_view key, std::string_view value) -> result<bool> {
                            RATCHET_TRY(std::string name, layout::parse_stream_key(key));
                            RATCHET_TRY(layout::stream_record record, layout::decode_stream(value));
                            out.streams.emplace(std::move(name), std::move(record));
                            return true;
                          }));
  RATCHET_TRY(db.for_each(options, family::standard, layout::prefix_of(layout::kind::incarnation),
                          [&](std::string_view key, std::string_view value) -> result<bool> {
                            RATCHET_TRY(const incarnation i, layout::parse_incarnation_key(key));
                            RATCHET_TRY(layout::decode_presence(value));
                            out.incarnations.push_back(i);
                            return true;
                          }));
  RATCHET_TRY(const auto mark, db.get(options, family::standard, layout::copy_mark_key()));
  if (mark) {
    RATCHET_TRY(out.copy, layout::decode_copy_mark(*mark));
  }
  RATCHET_TRY(const auto epoch, db.get(options, family::standard, layout::outbox_epoch_key()));
  if (epoch) {
    RATCHET_TRY(out.outbox_epoch, layout::decode_outbox_epoch(*epoch));
  }
  RATCHET_TRY(out.outbox, read_outbox(db, options));
  RATCHET_TRY(db.for_each(options, family::standard, layout::prefix_of(layout::kind::slot),
                          [&](std::string_view key, std::string_view value) -> result<bool> {
                            RATCHET_TRY(const slot s, layout::parse_slot_key(key));
                            // A store has one slot.
                            if (s != k_instance_slot) return make_error_code(errc::state_damaged);
                            RATCHET_TRY(out.position, layout::decode_slot(value));
                            return true;
                          }));
  RATCHET_TRY(const auto restore, db.get(options, family::standard, layout::restore_key()));
  if (restore) {
    RATCHET_TRY(layout::decode_presence(*restore));
    out.is_restoring = true;
  }
  RATCHET_TRY(const auto owner, db.get(options, family::standard, layout::owner_key()));
  if (owner) {
    RATCHET_TRY(out.owner, layout::decode_owner(*owner));
  }
  return out;
}

result<outbox_lanes> read_outbox(const database& db, const rocksdb::ReadOptions& options) {
  outbox_lanes lanes;
  RATCHET_TRY(db.for_each(options, family::standard, layout::prefix_of(layout::kind::outbox),
                          [&](std::string_view key, std::string_view value) -> result<bool> {
                            RATCHET_TRY(std::string lane, layout::parse_outbox_state_key(key));
                            RATCHET_TRY(const outbox_state state, layout::decode_outbox_state(value));
                            lanes.by_name.emplace(std::move(lane), state);
                            return true;
                          }));
  return lanes;
}

result<stream_state> read_stream_state(const row_reader& rows, const rocksdb::ReadOptions& options,
                                       stream_id stream) {
  stream_state out;
  RATCHET_TRY(const auto row, rows.get(options, family::standard, layout::stream_state_key(stream)));
  if (row) {
    RATCHET_TRY(out, layout::decode_stream_state(*row));
  }
  RATCHET_TRY(rows.for_each(options, family::standard, layout::prefix_of(layout::kind::partition, stream),
                            [&](std::string_view key, std::string_view value) -> result<bool> {
                              RATCHET_TRY(auto parsed, layout::parse_partition_key(key));
                              RATCHET_TRY(auto partition, layout::decode_partition(value));
                              out.partitions.emplace(std::move(parsed.where), partition);
                              return true;
                            }));
  return out;
}

result<std::vector<output_row>> read_outputs(const row_reader& rows, const rocksdb::ReadOptions& options,
                                             std::string_view lane, std::uint64_t from, std::uint64_t until,
                                             std::size_t limit, std::uint64_t bytes) {
  std::vector<output_row> out;
  std::uint64_t sum = 0;
  if (from == until) return out;
  const auto visit = [&](std::string_view key, std::string_view value) -> result<bool> {
    if (out.size() == limit) return false;
    RATCHET_TRY(const layout::output_place at, layout::parse_output_key(key));
    if (at.position >= until) return false;
    RATCHET_TRY(output_row row, layout::decode_output(at.position, value));
    if (row.lane() != lane) return make_error_code(errc::state_damaged);
    sum += row.bytes();
    if (!out.empty() && sum > bytes) return false;
    out.push_back(std::move(row));
    return at.position + 1 < until;
  };
  RATCHET_TRY(rows.for_each(options, family::outbox, layout::output_prefix(lane), visit,
                            layout::output_key(from, lane)));
  return out;
}

result<std::uint64_t> read_step(const database& db, const rocksdb::ReadOptions& options, family f) {
  RATCHET_TRY(const auto row, db.get(options, f, layout::step_key(f == family::standard)));
  if (!row) return std::uint64_t{0};
  return layout::decode_step(*row);
}

}  // namespace ratchet
