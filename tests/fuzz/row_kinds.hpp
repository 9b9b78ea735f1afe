// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <set>

#include "core/sequence_range.hpp"
#include "fuzz/fuzz_input.hpp"
#include "store/layout/answer.hpp"
#include "store/layout/outbox.hpp"
#include "store/layout/waiting.hpp"

/// The kinds of rows that the store keeps: how one is made of an input, written and read.
namespace ratchet::fuzz {

inline std::string owned(std::string_view text) {
  return std::string{text};
}
inline timestamp read_time(fuzz_input& in) {
  return timestamp{std::chrono::milliseconds{in.i64()}};
}
inline hash128 read_hash(fuzz_input& in) {
  const std::uint64_t high = in.u64();
  return {high, in.u64()};
}
inline sequence read_sequence(fuzz_input& in) {
  const std::uint64_t epoch = in.u64();
  return {epoch, in.u64()};
}
inline event_id read_id(fuzz_input& in) {
  const std::uint64_t high = in.u64();
  return {high, in.u64()};
}
template <class T>
void maybe(fuzz_input& in, std::optional<T>& to, T (*read)(fuzz_input&)) {
  if (in.flag()) to = read(in);
}

/// One kind of row: how it is made, written and read. `open_ended`: the last member is whatever is left, or
/// nothing.
template <class Row>
struct row_kind {
  Row (*make)(fuzz_input&);
  std::string (*encode)(const Row&);
  result<Row> (*decode)(std::string_view);
  bool open_ended{false};
};

inline const row_kind<std::uint64_t> k_step{
    [](fuzz_input& in) { return in.u64(); },
    [](const std::uint64_t& step) { return layout::encode_step(step); }, layout::decode_step};

inline const row_kind<layout::identity> k_identity{[](fuzz_input& in) {
                                                     layout::identity i;
                                                     i.uuid = in.text();
                                                     i.group = in.text();
                                                     i.cluster_id = in.text();
                                                     return i;
                                                   },
                                                   layout::encode_identity, layout::decode_identity};

inline const row_kind<copy_mark> k_copy_mark{[](fuzz_input& in) {
                                               copy_mark mark;
                                               mark.step = in.u64();
                                               mark.taken_at = read_time(in);
                                               mark.opened = in.flag();
                                               return mark;
                                             },
                                             layout::encode_copy_mark, layout::decode_copy_mark};

inline const row_kind<layout::stream_record> k_stream{[](fuzz_input& in) {
                                                        layout::stream_record s;
                                                        s.id = stream_id{in.u32()};
                                                        s.hash = in.text();
                                                        for (unsigned n = in.u8() % 4U; n > 0; --n) {
                                                          std::string key = owned(in.text());
                                                          s.lines.emplace_back(std::move(key),
                                                                               owned(in.text()));
                                                        }
                                                        return s;
                                                      },
                                                      layout::encode_stream, layout::decode_stream};

inline const row_kind<stream_state> k_stream_state{
    [](fuzz_input& in) {
      stream_state s;
      maybe(in, s.floor, read_time);
      counters& c = s.counters;
      for (std::uint64_t* counter :
           {&c.applied, &c.superseded, &c.duplicate, &c.stale, &c.ignored, &c.skipped, &c.discarded,
            &c.rejected_malformed, &c.rejected_conflict, &c.rejected_too_old, &c.rejected_late,
            &c.rejected_id_reused, &c.waiting_parked, &c.waiting_retrying, &c.waiting_dead, &c.consumed,
            &c.ids_ahead, &c.waiting_bytes}) {
        *counter = in.u64();
      }
      c.times_passed_over = in.u64();
      c.forgotten = in.u8();
      c.times_behind = in.u8();
      maybe(in, s.retention.before, read_time);
      maybe(in, s.retention.since, read_time);
      return s;
    },
    [](const stream_state& s) { return layout::encode_stream_state(s.floor, s.counters, s.retention); },
    layout::decode_stream_state};

inline const row_kind<partition_state> k_partition{[](fuzz_input& in) {
                                                     partition_state p;
                                                     p.next_offset = in.i64();
                                                     maybe(in, p.highest_time, read_time);
                                                     p.idle = in.flag();
                                                     p.malformed_run = in.u32();
                                                     std::optional<hash128> hash;
                                                     maybe(in, hash, read_hash);
                                                     // Far below it, or right below it.
                                                     const std::int64_t before = in.flag() ? in.u8() : 0;
                                                     if (hash && p.next_offset > before)
                                                       p.last_record = {p.next_offset - 1 - before, *hash};
                                                     timestamp last{};
                                                     const unsigned many = in.flag() ? 254U : 0U;
                                                     for (unsigned n = in.u8() % 4U + many; n > 0; --n) {
                                                       last = std::max(last, read_time(in));
                                                       p.leaps.push_back({last, in.i64()});
                                                     }
                                                     return p;
                                                   },
                                                   layout::encode_partition, layout::decode_partition};

inline const layout::parsed_rejected_key k_where{stream_id{1}, {"topic", partition_id{2}}, 3};

inline const row_kind<rejected_row> k_rejected{
    [](fuzz_input& in) {
      rejected_row row;
      row.where = k_where.where;
      row.offset = k_where.offset;
      row.step = in.u64();
      row.at = read_time(in);
      row.reason =
          static_cast<reject_reason>(in.u8() % (static_cast<unsigned>(reject_reason::sequence_mixed) + 1U));
      row.detail = in.text();
      row.pointer = in.text();
      row.byte_offset = in.u64();
      maybe(in, row.record_time, read_time);
      maybe(in, row.sequence, read_sequence);
      maybe(in, row.id, read_id);
      maybe(in, row.time, read_time);
      if (in.flag()) row.key = owned(in.text());
      if (in.flag()) row.value = owned(in.text());
      row.truncated = in.flag();
      return row;
    },
    [](const rejected_row& row) {
      return layout::encode_rejected(row, {row.step, 9});
    },
    [](std::string_view value) -> result<rejected_row> {
      RATCHET_TRY(auto read, layout::decode_rejected(k_where, value));
      RATCHET_FUZZ_CHECK(read.first.step == read.second.step);
      return std::move(read.second);
    }};

inline const row_kind<audit_row> k_audit{
    [](fuzz_input& in) {
      audit_row row;
      row.step = 4;
      row.time = read_time(in);
      row.kind = in.text();
      row.stream = in.text();
      row.text = in.text();
      if (in.flag()) row.where = topic_partition{owned(in.text()), partition_id{in.i32()}};
      if (in.flag()) row.not_handled = offset_range{in.i64(), in.i64()};
      return row;
    },
    layout::encode_audit,
    [](std::string_view value) {
      return layout::decode_audit({4, 0}, value);
    }};

/// An aggregate's row with its snapshot, inline or not, as the writer puts them on disk.
struct whole_aggregate {
  aggregate_row row;
  bool external{false};
  friend bool operator==(const whole_aggregate&, const whole_aggregate&) = default;
};

inline const row_kind<whole_aggregate> k_aggregate{
    [](fuzz_input& in) {
      whole_aggregate a;
      const unsigned flags = in.u8();
      a.row.has_last = (flags & 1U) != 0;
      a.row.waits = (flags & 2U) != 0;
      if (a.row.has_last) a.row.last = {in.u64(), in.u64()};
      maybe(
          in, a.row.id, +[](fuzz_input& i) {
            const hash128 h = read_hash(i);
            return event_id{h.high, h.low};
          });
      a.row.payload_hash = read_hash(in);
      maybe(in, a.row.time, read_time);
      maybe(in, a.row.seen, read_time);
      a.row.deleted = in.flag();
      if (a.row.has_last && !a.row.deleted)
        a.row.snapshot = owned(in.rest()).substr(0, layout::k_inline_snapshot_bytes);
      return a;
    },
    [](const whole_aggregate& a) {
      aggregate_row row = a.row;
      if (a.external) row.snapshot = std::string(layout::k_inline_snapshot_bytes + 1, 'x');
      std::string value{layout::encode_aggregate_head(row).view()};
      return a.external ? value : value + row.snapshot.str();
    },
    [](std::string_view value) -> result<whole_aggregate> {
      RATCHET_TRY(const auto read, layout::decode_aggregate(value));
      whole_aggregate a;
      a.row = {read.has_last,     read.waits, read.last,    read.id,
               read.payload_hash, read.time,  read.deleted, owned(read.snapshot)};
      a.row.seen = read.seen;
      a.external = read.external;
      return a;
    },
    true};

/// A run of ids in a span of its own; what the input says of an id's time is moved into the span.
inline constexpr layout::id_span k_span{0x018bcfe54000, layout::k_span_bits.back()};
using owned_id = std::pair<event_id, std::string>;

inline const row_kind<std::vector<owned_id>> k_id_run{
    [](fuzz_input& in) {
      std::set<owned_id> ids;
      for (unsigned n = 1 + in.u8() % 8U; n > 0; --n) {
        const std::uint64_t time = k_span.start + in.u32() % (k_span.end() - k_span.start);
        const std::uint64_t low = in.u64();
        ids.insert({{time << 16U | in.u8(), low}, owned(in.text())});
      }
      return std::vector<owned_id>{ids.begin(), ids.end()};
    },
    [](const std::vector<owned_id>& ids) {
      std::vector<layout::filed_id> views;
      for (const auto& [id, aggregate] : ids) views.push_back({id, aggregate});
      std::string value;
      layout::encode_id_run(value, views);
      return value;
    },
    [](std::string_view value) -> result<std::vector<owned_id>> {
      RATCHET_TRY(const auto run, layout::decode_id_run(k_span, value));
      std::vector<owned_id> out;
      run.each([&](const layout::filed_id& f) {
        RATCHET_FUZZ_CHECK(run.id(out.size()) == f.id && run.aggregate(out.size()) == f.aggregate);
        RATCHET_FUZZ_CHECK(run.holds(f) && run.lower_bound(f.id) <= out.size());
        out.emplace_back(f.id, owned(f.aggregate));
        return true;
      });
      RATCHET_FUZZ_CHECK(out.size() == run.size() && std::is_sorted(out.begin(), out.end()));
      return out;
    }};

inline const row_kind<timestamp> k_filed_time{
    read_time, [](const timestamp& t) { return layout::encode_filed_time(t); }, layout::decode_filed_time};

using answered_id = std::pair<timestamp, kept_answer>;

inline const row_kind<answered_id> k_answered_id{
    [](fuzz_input& in) {
      answered_id out{read_time(in), {}};
      out.second.sequence = {in.u64(), in.u64()};
      if (in.flag()) out.second.fingerprint = hash128{in.u64(), in.u64()};
      if (in.flag()) out.second.reply = owned(in.text());
      return out;
    },
    [](const answered_id& id) { return layout::encode_answered_id(id.first, id.second); },
    [](std::string_view value) -> result<answered_id> {
      RATCHET_TRY(const timestamp filed, layout::filed_time_of(value));
      RATCHET_TRY(const auto answer, layout::decode_answer(value));
      if (!answer) return make_error_code(errc::state_damaged);  // an event's
      return answered_id{filed, *answer};
    }};

inline std::string read_text(fuzz_input& in) {
  return owned(in.text());
}

inline const sequence k_number{3, 4};

inline const row_kind<waiting_event> k_waiting{
    [](fuzz_input& in) {
      waiting_event e;
      e.head.sequence = k_number;
      e.head.state = static_cast<waiting_state>(in.u8() % 3U);
      maybe(in, e.head.id, read_id);
      e.head.payload_hash = read_hash(in);
      maybe(in, e.head.since, read_time);
      e.tombstone = in.flag();
      e.type = read_text(in);
      maybe(in, e.time, read_time);
      e.first_seen = read_time(in);
      e.attempts = in.u32();
      maybe(in, e.last_attempt, read_time);
      maybe(in, e.due, read_time);
      e.error = read_text(in);
      e.record.where.topic = read_text(in);
      e.record.where.partition = partition_id{in.i32()};
      e.record.offset = in.i64();
      maybe(in, e.record.time, read_time);
      maybe(in, e.record.key, read_text);
      maybe(in, e.record.value, read_text);
      for (unsigned n = in.u8() % 4U; n > 0; --n) {
        std::string name = read_text(in);
        e.record.headers.emplace_back(std::move(name), std::nullopt);
        maybe(in, e.record.headers.back().second, read_text);
      }
      maybe(in, e.own_payload, read_text);
      const std::uint64_t most = e.record.value ? e.record.value->size() : 0;
      e.payload_begin = in.u64() % (most + 1);
      e.payload_size = in.u64() % (most - e.payload_begin + 1);
      maybe(in, e.id_time, read_time);
      return e;
    },
    layout::encode_waiting_event,
    [](std::string_view value) -> result<waiting_event> {
      auto read = layout::decode_waiting_event(k_number, value);
      if (!read) return read;
      // Whoever wants no more gets the same, and the payload can be looked at.
      const auto head = layout::decode_waiting_head(k_number, value);
      RATCHET_FUZZ_CHECK(head && head.value() == read.value().head);
      RATCHET_FUZZ_CHECK(read.value().payload().size() <= read.value().bytes());
      return read;
    }};

inline const row_kind<backlog> k_backlog{[](fuzz_input& in) {
                                           backlog b;
                                           b.parked = in.u64();
                                           b.retrying = in.u64();
                                           b.dead = in.u64();
                                           if (in.flag() && b.dead > 0) b.too_old = 1 + in.u64() % b.dead;
                                           b.highest = read_sequence(in);
                                           b.held = in.flag();
                                           b.ready = in.flag();
                                           maybe(in, b.wake, read_time);
                                           maybe(in, b.gap_since, read_time);
                                           maybe(in, b.adopted, read_sequence);
                                           for (unsigned n = in.u8() % 4U; n > 0; --n) {
                                             const sequence first = read_sequence(in);
                                             b.skipped.push_back({first, read_sequence(in)});
                                           }
                                           // Earlier versions wrote some twice; reading joins them.
                                           join_ranges(b.skipped);
                                           if (in.flag() && b.events() > 0) {
                                             accepted_position& accepted = b.accepted.emplace();
                                             accepted.sequence = read_sequence(in);
                                             maybe(in, accepted.id, read_id);
                                             accepted.payload_hash = read_hash(in);
                                             accepted.events = 1 + in.u64() % b.events();
                                           }
                                           for (unsigned n = in.u8() % 4U; n > 0; --n) {
                                             const event_id id = read_id(in);
                                             b.reopened.push_back({id, read_time(in)});
                                           }
                                           maybe(in, b.opened, read_time);
                                           return b;
                                         },
                                         layout::encode_backlog, layout::decode_backlog, true};

inline const row_kind<sequence> k_sequence{
    read_sequence, [](const sequence& s) { return layout::encode_sequence(s); }, layout::decode_sequence};

inline constexpr std::uint64_t k_position = 5;

inline const row_kind<output_row> k_output{
    [](fuzz_input& in) {
      output_row row;
      row.position = k_position;
      row.kind = static_cast<output_kind>(in.u8() % 3U);
      row.stream = stream_id{in.u32()};
      row.id = read_id(in);
      row.aggregate = read_text(in);
      row.topic = read_text(in);
      maybe(in, row.key, read_text);
      maybe(in, row.value, read_text);
      for (unsigned n = in.u8() % 4U; n > 0; --n) {
        std::string name = read_text(in);
        row.headers.emplace_back(std::move(name), std::nullopt);
        maybe(in, row.headers.back().second, read_text);
      }
      maybe(in, row.time, read_time);
      if (row.kind == output_kind::published) {
        row.type = read_text(in);
        row.source = read_text(in);
        row.content_type = read_text(in);
        row.sequence = read_sequence(in);
      }
      return row;
    },
    layout::encode_output, [](std::string_view value) { return layout::decode_output(k_position, value); }};

inline const row_kind<outbox_state> k_outbox{[](fuzz_input& in) {
                                               outbox_state state;
                                               state.first = in.u64() / 2;
                                               state.next = state.first + in.u64() / 2;
                                               state.bytes = in.u64();
                                               return state;
                                             },
                                             layout::encode_outbox_state, layout::decode_outbox_state};

}  // namespace ratchet::fuzz
