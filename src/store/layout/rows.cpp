// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "store/layout/io.hpp"
#include "store/layout/layout.hpp"

/// Values. The keys are in layout.cpp.
namespace ratchet::layout {

namespace {

/// The counters that every row has, in the order of their bytes; one list for both directions. What came
/// later, from `times_passed_over` to `times_behind`, stands behind them where it is not 0.
template <class Counters>
auto members(Counters& c) {
  return std::array{&c.applied,           &c.superseded,       &c.duplicate,     &c.stale,
                    &c.ignored,           &c.skipped,          &c.discarded,     &c.rejected_malformed,
                    &c.rejected_conflict, &c.rejected_too_old, &c.rejected_late, &c.rejected_id_reused,
                    &c.waiting_parked,    &c.waiting_retrying, &c.waiting_dead,  &c.consumed,
                    &c.ids_ahead,         &c.waiting_bytes};
}
static_assert(sizeof(counters) == 23 * sizeof(std::uint64_t), "a counter was added: give it a place on disk");

constexpr unsigned k_floor = 1, k_times_passed_over = 2, k_below_first = 4, k_forgotten = 8,
                   k_forgotten_before = 16, k_untimed_since = 32, k_times_behind = 64, k_sequence_mixed = 128;
constexpr unsigned k_copy_opened = 1;
constexpr unsigned k_audit_partition = 1, k_audit_range = 2;
constexpr unsigned k_partition_time = 1, k_partition_idle = 2, k_partition_hash = 4, k_partition_ids = 8,
                   k_partition_hash_offset = 16, k_partition_leaps = 32, k_partition_index = 64;
/// In the byte of their number: it stands behind, as it has no room there.
constexpr std::size_t k_many_leaps = 255;
constexpr unsigned k_rejected_time = 1, k_rejected_key = 2, k_rejected_value = 4, k_rejected_truncated = 8,
                   k_rejected_sequence = 16, k_rejected_id = 32, k_rejected_event_time = 64;
constexpr unsigned k_row_id = 1, k_row_time = 2, k_row_deleted = 4, k_row_external = 8;
constexpr unsigned k_row_no_last = 16, k_row_waits = 32, k_row_seen = 64;

}  // namespace

std::string encode_step(std::uint64_t step) {
  std::string value = with_format();
  byte_writer{value}.u64(step);
  return value;
}

result<std::uint64_t> decode_step(std::string_view value) {
  byte_reader in = after_format(value);
  const std::uint64_t step = in.u64();
  if (!in.done()) return damaged();
  return step;
}

std::string encode_identity(const identity& i) {
  std::string value = with_format();
  byte_writer out{value};
  out.u32(i.schema_version);
  out.bytes(i.uuid);
  out.bytes(i.group);
  out.bytes(i.cluster_id);
  return value;
}

result<identity> decode_identity(std::string_view value) {
  byte_reader in{value};
  const unsigned format = in.u8();
  identity out;
  out.schema_version = in.u32();
  if (!in.bad() && out.schema_version != k_schema_version) return out;
  in.expect(format == static_cast<unsigned>(k_format));
  out.uuid = in.bytes();
  out.group = in.bytes();
  out.cluster_id = in.bytes();
  if (!in.done()) return damaged();
  return out;
}

std::string encode_copy_mark(const copy_mark& mark) {
  std::string value = with_format();
  byte_writer out{value};
  out.u8(mark.opened ? k_copy_opened : 0U);
  out.u64(mark.step);
  out.time(mark.taken_at);
  return value;
}

result<copy_mark> decode_copy_mark(std::string_view value) {
  byte_reader in = after_format(value);
  copy_mark out;
  const unsigned flags = in.u8();
  in.expect((flags & ~k_copy_opened) == 0);
  out.opened = (flags & k_copy_opened) != 0;
  out.step = in.u64();
  out.taken_at = in.time();
  if (!in.done()) return damaged();
  return out;
}

std::string encode_outbox_epoch(std::uint64_t epoch) {
  return encode_step(epoch);  // the same bytes
}

result<std::uint64_t> decode_outbox_epoch(std::string_view value) {
  return decode_step(value);
}

std::string encode_lines(std::span<const std::pair<std::string, std::string>> lines) {
  std::string value;
  byte_writer out{value};
  for (const auto& [key, text] : lines) {
    out.bytes(key);
    out.bytes(text);
  }
  return value;
}

std::string encode_stream(const stream_record& s) {
  std::string value = with_format();
  byte_writer out{value};
  out.u32(static_cast<std::uint32_t>(s.id));
  out.bytes(s.hash);
  out.u32(static_cast<std::uint32_t>(s.lines.size()));
  out.raw(encode_lines(s.lines));
  return value;
}

result<stream_record> decode_stream(std::string_view value) {
  byte_reader in = after_format(value);
  stream_record out;
  out.id = stream_id{in.u32()};
  out.hash = in.bytes();
  for (std::uint32_t count = in.u32(); count > 0 && !in.bad(); --count) {
    std::string key{in.bytes()};
    out.lines.emplace_back(std::move(key), std::string{in.bytes()});
  }
  if (!in.done()) return damaged();
  return out;
}

std::string encode_stream_state(std::optional<timestamp> floor, const counters& c,
                                const retention_state& retention) {
  std::string value = with_format();
  byte_writer out{value};
  out.u8((floor ? k_floor : 0U) | (c.times_passed_over != 0 ? k_times_passed_over : 0U) |
         (c.rejected_below_first != 0 ? k_below_first : 0U) | (c.forgotten != 0 ? k_forgotten : 0U) |
         (retention.before ? k_forgotten_before : 0U) | (retention.since ? k_untimed_since : 0U) |
         (c.times_behind != 0 ? k_times_behind : 0U) |
         (c.rejected_sequence_mixed != 0 ? k_sequence_mixed : 0U));
  if (floor) out.time(*floor);
  for (const std::uint64_t* counter : members(c)) out.u64(*counter);
  if (c.times_passed_over != 0) out.u64(c.times_passed_over);
  if (c.rejected_below_first != 0) out.u64(c.rejected_below_first);
  if (c.forgotten != 0) out.u64(c.forgotten);
  if (retention.before) out.time(*retention.before);
  if (retention.since) out.time(*retention.since);
  if (c.times_behind != 0) out.u64(c.times_behind);
  if (c.rejected_sequence_mixed != 0) out.u64(c.rejected_sequence_mixed);
  return value;
}

result<stream_state> decode_stream_state(std::string_view value) {
  byte_reader in = after_format(value);
  stream_state out;
  const unsigned flags = in.u8();
  if ((flags & k_floor) != 0) out.floor = in.time();
  for (std::uint64_t* counter : members(out.counters)) *counter = in.u64();
  if ((flags & k_times_passed_over) != 0) {
    out.counters.times_passed_over = in.u64();
    in.expect(out.counters.times_passed_over != 0);
  }
  if ((flags & k_below_first) != 0) {
    out.counters.rejected_below_first = in.u64();
    in.expect(out.counters.rejected_below_first != 0);
  }
  if ((flags & k_forgotten) != 0) {
    out.counters.forgotten = in.u64();
    in.expect(out.counters.forgotten != 0);
  }
  if ((flags & k_forgotten_before) != 0) out.retention.before = in.time();
  if ((flags & k_untimed_since) != 0) out.retention.since = in.time();
  if ((flags & k_times_behind) != 0) {
    out.counters.times_behind = in.u64();
    in.expect(out.counters.times_behind != 0);
  }
  if ((flags & k_sequence_mixed) != 0) {
    out.counters.rejected_sequence_mixed = in.u64();
    in.expect(out.counters.rejected_sequence_mixed != 0);
  }
  if (!in.done()) return damaged();
  return out;
}

std::string encode_partition(const partition_state& p) {
  std::string value = with_format();
  byte_writer out{value};
  const bool is_right_below = p.last_record && p.last_record->offset == p.next_offset - 1;
  out.u8((p.highest_time ? k_partition_time : 0U) | (p.idle ? k_partition_idle : 0U) |
         (p.last_record ? k_partition_hash : 0U) | (p.last_ids.empty() ? 0U : k_partition_ids) |
         (p.last_record && !is_right_below ? k_partition_hash_offset : 0U) |
         (p.leaps.empty() ? 0U : k_partition_leaps) | (p.next_index != 0 ? k_partition_index : 0U));
  out.i64(p.next_offset);
  if (p.highest_time) out.time(*p.highest_time);
  out.u32(p.malformed_run);
  if (p.last_record) out.hash(p.last_record->hash);
  if (p.last_record && !is_right_below) out.i64(p.last_record->offset);
  if (!p.leaps.empty()) out.u8(static_cast<unsigned>(std::min(p.leaps.size(), k_many_leaps)));
  if (p.leaps.size() >= k_many_leaps) out.u32(static_cast<std::uint32_t>(p.leaps.size()));
  for (const time_leap& leap : p.leaps) {
    out.time(leap.time);
    out.i64(leap.offset);
  }
  if (p.next_index != 0) out.u32(p.next_index);
  if (p.last_ids.empty()) return value;
  out.u32(static_cast<std::uint32_t>(p.last_ids.size()));
  for (const auto& [source, number] : p.last_ids) {
    out.bytes(source);
    out.u64(number.epoch);
    out.u64(number.number);
  }
  return value;
}

result<partition_state> decode_partition(std::string_view value) {
  byte_reader in = after_format(value);
  partition_state out;
  const unsigned flags = in.u8();
  constexpr unsigned k_known = k_partition_time | k_partition_idle | k_partition_hash | k_partition_ids |
                               k_partition_hash_offset | k_partition_leaps | k_partition_index;
  in.expect((flags & ~k_known) == 0);
  out.next_offset = in.i64();
  if ((flags & k_partition_time) != 0) out.highest_time = in.time();
  out.idle = (flags & k_partition_idle) != 0;
  out.malformed_run = in.u32();
  if ((flags & k_partition_hash) != 0) out.last_record = {out.next_offset - 1, in.hash()};
  if ((flags & k_partition_hash_offset) != 0) {
    const std::int64_t offset = in.i64();
    const bool is_next = offset == out.next_offset && (flags & k_partition_index) != 0;
    in.expect(out.last_record && (is_next || offset < out.next_offset - 1));
    if (out.last_record) out.last_record->offset = offset;
  }
  std::size_t leaps = (flags & k_partition_leaps) != 0 ? in.u8() : 0;
  if (leaps == k_many_leaps) {
    leaps = in.u32();
    in.expect(leaps >= k_many_leaps);
  }
  in.expect((flags & k_partition_leaps) == 0 || leaps > 0);
  for (; leaps > 0 && !in.bad(); --leaps) {
    const timestamp time = in.time();
    in.expect(out.leaps.empty() || out.leaps.back().time <= time);
    out.leaps.push_back({time, in.i64()});
  }
  if ((flags & k_partition_index) != 0) {
    out.next_index = in.u32();
    in.expect(out.next_index != 0);
  }
  std::uint32_t sources = (flags & k_partition_ids) != 0 ? in.u32() : 0;
  in.expect((flags & k_partition_ids) == 0 || sources > 0);
  for (; sources > 0 && !in.bad(); --sources) {
    std::string source{in.bytes()};
    const std::uint64_t epoch = in.u64();
    in.expect(out.last_ids.empty() || out.last_ids.rbegin()->first < source);
    out.last_ids.emplace_hint(out.last_ids.end(), std::move(source), sequence{epoch, in.u64()});
  }
  if (!in.done()) return damaged();
  return out;
}

std::string_view encode_presence() {
  return {&k_format, 1};
}

result<void> decode_presence(std::string_view value) {
  if (value != encode_presence()) return damaged();
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

std::string encode_filed_time(timestamp filed) {
  std::string value = with_format();
  byte_writer{value}.i64(filed.time_since_epoch().count());
  return value;
}

result<timestamp> decode_filed_time(std::string_view value) {
  byte_reader in{value};
  in.expect(in.u8() == static_cast<unsigned>(k_format));
  const timestamp filed{std::chrono::milliseconds{in.i64()}};
  if (!in.done()) return damaged();
  return filed;
}

std::string encode_rejected(const rejected_row& row, rejected_place place) {
  const std::string_view kept =
      row.value ? std::string_view{*row.value}.substr(0, k_rejected_value_bytes) : std::string_view{};
  const bool truncated = row.truncated || (row.value && kept.size() < row.value->size());
  std::string value = with_format();
  byte_writer out{value};
  out.u8((row.record_time ? k_rejected_time : 0U) | (row.key ? k_rejected_key : 0U) |
         (row.value ? k_rejected_value : 0U) | (truncated ? k_rejected_truncated : 0U) |
         (row.sequence ? k_rejected_sequence : 0U) | (row.id ? k_rejected_id : 0U) |
         (row.time ? k_rejected_event_time : 0U));
  out.u64(place.step);
  out.u32(place.ordinal);
  out.time(row.at);
  out.u8(static_cast<unsigned>(row.reason));
  out.u64(row.byte_offset);
  if (row.record_time) out.time(*row.record_time);
  if (row.sequence) {
    out.u64(row.sequence->epoch);
    out.u64(row.sequence->number);
  }
  if (row.id) {
    out.u64(row.id->high);
    out.u64(row.id->low);
  }
  if (row.time) out.time(*row.time);
  out.bytes(row.detail);
  out.bytes(row.pointer);
  if (row.key) out.bytes(*row.key);
  if (row.value) out.bytes(kept);
  return value;
}

result<std::pair<rejected_place, rejected_row>> decode_rejected(const parsed_rejected_key& key,
                                                                std::string_view value) {
  byte_reader in = after_format(value);
  rejected_place place;
  rejected_row row;
  row.where = key.where;
  row.offset = key.offset;
  row.index = key.index;
  const unsigned flags = in.u8();
  in.expect((flags & ~(k_rejected_time | k_rejected_key | k_rejected_value | k_rejected_truncated |
                       k_rejected_sequence | k_rejected_id | k_rejected_event_time)) == 0);
  place.step = row.step = in.u64();
  place.ordinal = in.u32();
  row.at = in.time();
  const unsigned reason = in.u8();
  in.expect(reason <= static_cast<unsigned>(reject_reason::sequence_mixed));
  row.reason = static_cast<reject_reason>(reason);
  row.byte_offset = in.u64();
  if ((flags & k_rejected_time) != 0) row.record_time = in.time();
  if ((flags & k_rejected_sequence) != 0) {
    const std::uint64_t epoch = in.u64();
    row.sequence = sequence{epoch, in.u64()};
  }
  if ((flags & k_rejected_id) != 0) row.id = in.id();
  if ((flags & k_rejected_event_time) != 0) row.time = in.time();
  row.detail = in.bytes();
  row.pointer = in.bytes();
  if ((flags & k_rejected_key) != 0) row.key = std::string{in.bytes()};
  if ((flags & k_rejected_value) != 0) row.value = std::string{in.bytes()};
  row.truncated = (flags & k_rejected_truncated) != 0;
  if (!in.done()) return damaged();
  return std::pair{place, std::move(row)};
}

std::string encode_audit(const audit_row& row) {
  const unsigned flags = (row.where ? k_audit_partition : 0U) | (row.not_handled ? k_audit_range : 0U);
  std::string value(1, flags != 0 ? k_audit_format_with_place : k_format);
  byte_writer out{value};
  if (flags != 0) out.u8(flags);
  out.time(row.time);
  out.bytes(row.kind);
  out.bytes(row.stream);
  out.bytes(row.text);
  if (row.where) {
    out.bytes(row.where->topic);
    out.i32(static_cast<std::int32_t>(row.where->partition));
  }
  if (row.not_handled) {
    out.i64(row.not_handled->from);
    out.i64(row.not_handled->to);
  }
  return value;
}

result<audit_row> decode_audit(rejected_place key, std::string_view value) {
  byte_reader in{value};
  const unsigned format = in.u8();
  const bool with_place = format == static_cast<unsigned>(k_audit_format_with_place);
  in.expect(with_place || format == static_cast<unsigned>(k_format));
  const unsigned flags = with_place ? in.u8() : 0U;
  in.expect((flags & ~(k_audit_partition | k_audit_range)) == 0);
  audit_row row;
  row.step = key.step;
  row.time = in.time();
  row.kind = in.bytes();
  row.stream = in.bytes();
  row.text = in.bytes();
  if ((flags & k_audit_partition) != 0) {
    std::string topic{in.bytes()};
    row.where = topic_partition{std::move(topic), partition_id{in.i32()}};
  }
  if ((flags & k_audit_range) != 0) {
    const std::int64_t from = in.i64();
    row.not_handled = offset_range{from, in.i64()};
  }
  if (!in.done()) return damaged();
  return row;
}

aggregate_head encode_aggregate_head(const aggregate_row& row, bool external) {
  aggregate_head head;
  char* at = head.bytes.data();
  *at++ = k_format;
  *at++ = static_cast<char>((row.id ? k_row_id : 0U) | (row.time ? k_row_time : 0U) |
                            (row.deleted ? k_row_deleted : 0U) | (external ? k_row_external : 0U) |
                            (row.has_last ? 0U : k_row_no_last) | (row.waits ? k_row_waits : 0U) |
                            (row.seen ? k_row_seen : 0U));
  const sequence last = row.has_last ? row.last : sequence{};
  at = put_number<8>(put_number<8>(at, last.epoch), last.number);
  at = put_number<8>(put_number<8>(at, row.payload_hash.high), row.payload_hash.low);
  if (row.id) at = put_number<8>(put_number<8>(at, row.id->high), row.id->low);
  if (row.time) {
    at = put_number<8>(at, static_cast<std::uint64_t>(row.time->time_since_epoch().count()));
  }
  if (row.seen) {
    at = put_number<8>(at, static_cast<std::uint64_t>(row.seen->time_since_epoch().count()));
  }
  head.size = static_cast<std::size_t>(at - head.bytes.data());
  return head;
}

result<aggregate_value> decode_aggregate(std::string_view value) {
  byte_reader in = after_format(value);
  aggregate_value out;
  const unsigned flags = in.u8();
  in.expect((flags & ~(k_row_id | k_row_time | k_row_deleted | k_row_external | k_row_no_last | k_row_waits |
                       k_row_seen)) == 0);
  out.has_last = (flags & k_row_no_last) == 0;
  out.waits = (flags & k_row_waits) != 0;
  out.last.epoch = in.u64();
  out.last.number = in.u64();
  out.payload_hash = in.hash();
  if ((flags & k_row_id) != 0) out.id = in.id();
  if ((flags & k_row_time) != 0) out.time = in.time();
  if ((flags & k_row_seen) != 0) out.seen = in.time();
  out.deleted = (flags & k_row_deleted) != 0;
  out.external = (flags & k_row_external) != 0;
  out.snapshot = in.rest();
  in.expect(!(out.deleted && out.external));
  in.expect(out.snapshot.empty() || !(out.deleted || out.external));
  in.expect(out.snapshot.size() <= k_inline_snapshot_bytes);
  if (!out.has_last) in.expect(out.last == sequence{} && !out.external && out.snapshot.empty());
  if (!in.done()) return damaged();
  return out;
}

result<std::string_view> decode_snapshot(std::string_view value) {
  byte_reader in = after_format(value);
  const std::string_view snapshot = in.rest();
  if (!in.done()) return damaged();
  return snapshot;
}

}  // namespace ratchet::layout
