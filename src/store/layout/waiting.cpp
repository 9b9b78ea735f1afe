// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/layout/waiting.hpp"

#include "store/layout/io.hpp"

namespace ratchet::layout {

namespace {

constexpr std::uint64_t k_sign = std::uint64_t{1} << 63U;
/// So that times before 1970 come first.
std::uint64_t ordered(timestamp t) {
  return static_cast<std::uint64_t>(t.time_since_epoch().count()) ^ k_sign;
}
timestamp time_of(std::uint64_t bits) {
  return timestamp{std::chrono::milliseconds{static_cast<std::int64_t>(bits ^ k_sign)}};
}

void put_head(byte_writer& out, waiting_kind kind, stream_id stream) {
  out.u8(static_cast<unsigned>(kind));
  out.u32(static_cast<std::uint32_t>(stream));
}

/// The stream of a key of this kind.
stream_id read_head(byte_reader& in, waiting_kind kind) {
  in.expect(in.u8() == static_cast<unsigned>(kind));
  return stream_id{in.u32()};
}

void put_sequence(byte_writer& out, sequence s) {
  out.u64(s.epoch);
  out.u64(s.number);
}

void put_id(byte_writer& out, const event_id& id) {
  out.u64(id.high);
  out.u64(id.low);
}

sequence read_sequence(byte_reader& in) {
  const std::uint64_t epoch = in.u64();
  return {epoch, in.u64()};
}

// Flags of an event.
constexpr unsigned k_id = 1, k_since = 2, k_tombstone = 4, k_time = 8, k_last_attempt = 16, k_due = 32;
constexpr unsigned k_record_time = 64, k_key = 128, k_value = 256, k_own_payload = 512;
constexpr unsigned k_id_time = 1024, k_begins_at = 2048, k_index = 4096, k_event_flags = 8191;
// Flags of a backlog.
constexpr unsigned k_held = 1, k_ready = 2, k_wake = 4, k_gap = 8, k_adopted = 16;
constexpr unsigned k_accepted = 32, k_accepted_id = 64, k_reopened = 128;

unsigned flags_of(const backlog& b) {
  return (b.held ? k_held : 0U) | (b.ready ? k_ready : 0U) | (b.wake ? k_wake : 0U) |
         (b.gap_since ? k_gap : 0U) | (b.adopted ? k_adopted : 0U) | (b.accepted ? k_accepted : 0U) |
         (b.accepted && b.accepted->id ? k_accepted_id : 0U) | (b.reopened.empty() ? 0U : k_reopened);
}

unsigned flags_of(const waiting_event& e) {
  return (e.head.id ? k_id : 0U) | (e.head.since ? k_since : 0U) | (e.tombstone ? k_tombstone : 0U) |
         (e.time ? k_time : 0U) | (e.last_attempt ? k_last_attempt : 0U) | (e.due ? k_due : 0U) |
         (e.record.time ? k_record_time : 0U) | (e.record.key ? k_key : 0U) |
         (e.record.value ? k_value : 0U) | (e.own_payload ? k_own_payload : 0U) |
         (e.id_time ? k_id_time : 0U) | (e.head.begins_at ? k_begins_at : 0U) |
         (e.record.index != 0 ? k_index : 0U);
}

/// The head, and the flags of all members.
unsigned read_event_head(byte_reader& in, waiting_head& head) {
  const unsigned state = in.u8();
  in.expect(state <= static_cast<unsigned>(waiting_state::dead));
  head.state = static_cast<waiting_state>(state);
  const unsigned flags = in.u16();
  in.expect((flags & ~k_event_flags) == 0);
  head.payload_hash = in.hash();
  if ((flags & k_id) != 0) head.id = in.id();
  if ((flags & k_since) != 0) head.since = in.time();
  if ((flags & k_begins_at) != 0) head.begins_at = in.u64();
  return flags;
}

void read_record(byte_reader& in, unsigned flags, kept_record& record) {
  record.where.topic = in.bytes();
  record.where.partition = partition_id{in.i32()};
  record.offset = in.i64();
  if ((flags & k_record_time) != 0) record.time = in.time();
  if ((flags & k_key) != 0) record.key = std::string{in.bytes()};
  if ((flags & k_value) != 0) record.value = std::string{in.bytes()};
  record.headers = read_headers(in);
}

}  // namespace

std::string waiting_prefix(waiting_kind kind, stream_id stream) {
  std::string key;
  byte_writer out{key};
  put_head(out, kind, stream);
  return key;
}

std::string waiting_prefix(waiting_kind kind, stream_id stream, slot s) {
  std::string key = waiting_prefix(kind, stream);
  byte_writer{key}.u32(static_cast<std::uint32_t>(s));
  return key;
}

void append_waiting_events_prefix(std::string& out, stream_id stream, slot s, std::string_view aggregate) {
  byte_writer key{out};
  put_head(key, waiting_kind::event, stream);
  key.u32(static_cast<std::uint32_t>(s));
  key.text(aggregate);
}

void append_waiting_event_key(std::string& out, stream_id stream, slot s, std::string_view aggregate,
                              sequence number) {
  append_waiting_events_prefix(out, stream, s, aggregate);
  append_sequence(out, number);
}

void append_sequence(std::string& out, sequence s) {
  byte_writer key{out};
  put_sequence(key, s);
}

void append_backlog_key(std::string& out, stream_id stream, slot s, std::string_view aggregate) {
  byte_writer key{out};
  put_head(key, waiting_kind::backlog, stream);
  key.u32(static_cast<std::uint32_t>(s));
  key.raw(aggregate);
}

void append_due_key(std::string& out, waiting_kind kind, stream_id stream, timestamp time, slot s,
                    std::string_view aggregate) {
  byte_writer key{out};
  put_head(key, kind, stream);
  key.u64(ordered(time));
  key.u32(static_cast<std::uint32_t>(s));
  key.raw(aggregate);
}

std::string due_start(waiting_kind kind, stream_id stream, timestamp time) {
  std::string start = waiting_prefix(kind, stream);
  byte_writer{start}.u64(ordered(time));
  return start;
}

void append_waiting_id_key(std::string& out, stream_id stream, slot s, std::string_view aggregate,
                           const event_id& id) {
  byte_writer key{out};
  put_head(key, waiting_kind::id, stream);
  key.u32(static_cast<std::uint32_t>(s));
  key.text(aggregate);
  put_id(key, id);
}

result<parsed_waiting_event_key> parse_waiting_event_key(std::string_view key) {
  byte_reader in{key};
  parsed_waiting_event_key out;
  out.stream = read_head(in, waiting_kind::event);
  out.slot = slot{in.u32()};
  out.aggregate = in.text();
  out.sequence = read_sequence(in);
  if (!in.done()) return damaged();
  return out;
}

result<sequence> parse_sequence(std::string_view end_of_key) {
  byte_reader in{end_of_key};
  const sequence s = read_sequence(in);
  if (!in.done()) return damaged();
  return s;
}

result<parsed_aggregate_key> parse_backlog_key(std::string_view key) {
  byte_reader in{key};
  parsed_aggregate_key out;
  out.stream = read_head(in, waiting_kind::backlog);
  out.slot = slot{in.u32()};
  out.aggregate = in.rest();
  if (!in.done()) return damaged();
  return out;
}

result<parsed_due_key> parse_due_key(waiting_kind kind, std::string_view key) {
  byte_reader in{key};
  parsed_due_key out;
  out.stream = read_head(in, kind);
  out.time = time_of(in.u64());
  out.slot = slot{in.u32()};
  out.aggregate = in.rest();
  if (!in.done()) return damaged();
  return out;
}

result<parsed_waiting_id_key> parse_waiting_id_key(std::string_view key) {
  byte_reader in{key};
  parsed_waiting_id_key out;
  out.stream = read_head(in, waiting_kind::id);
  out.slot = slot{in.u32()};
  out.aggregate = in.text();
  out.id = in.id();
  if (!in.done()) return damaged();
  return out;
}

std::string encode_waiting_event(const waiting_event& e) {
  std::string value;
  value.reserve(256 + e.bytes());
  byte_writer out{value};
  out.u8(static_cast<unsigned>(k_format));
  out.u8(static_cast<unsigned>(e.head.state));
  out.u16(flags_of(e));
  out.hash(e.head.payload_hash);
  if (e.head.id) put_id(out, *e.head.id);
  if (e.head.since) out.time(*e.head.since);
  if (e.head.begins_at) out.u64(*e.head.begins_at);
  out.bytes(e.type);
  if (e.time) out.time(*e.time);
  out.time(e.first_seen);
  out.u32(e.attempts);
  if (e.last_attempt) out.time(*e.last_attempt);
  if (e.due) out.time(*e.due);
  out.bytes(e.error);
  const kept_record& record = e.record;
  out.bytes(record.where.topic);
  out.i32(static_cast<std::int32_t>(record.where.partition));
  out.i64(record.offset);
  if (record.time) out.time(*record.time);
  if (record.key) out.bytes(*record.key);
  if (record.value) out.bytes(*record.value);
  put_headers(out, record.headers);
  out.u64(e.payload_begin);
  out.u64(e.payload_size);
  if (e.own_payload) out.bytes(*e.own_payload);
  if (e.id_time) out.time(*e.id_time);
  if (e.record.index != 0) out.u32(e.record.index);
  return value;
}

result<waiting_head> decode_waiting_head(sequence s, std::string_view value) {
  byte_reader in = after_format(value);
  waiting_head head;
  head.sequence = s;
  read_event_head(in, head);
  if (in.bad()) return damaged();
  return head;
}

result<waiting_event> decode_waiting_event(sequence s, std::string_view value) {
  byte_reader in = after_format(value);
  waiting_event e;
  e.head.sequence = s;
  const unsigned flags = read_event_head(in, e.head);
  e.tombstone = (flags & k_tombstone) != 0;
  e.type = in.bytes();
  if ((flags & k_time) != 0) e.time = in.time();
  e.first_seen = in.time();
  e.attempts = in.u32();
  if ((flags & k_last_attempt) != 0) e.last_attempt = in.time();
  if ((flags & k_due) != 0) e.due = in.time();
  e.error = in.bytes();
  read_record(in, flags, e.record);
  e.payload_begin = in.u64();
  e.payload_size = in.u64();
  if ((flags & k_own_payload) != 0) {
    e.own_payload = std::string{in.bytes()};
  } else {
    // payload() takes these bytes without asking.
    const std::size_t size = e.record.value ? e.record.value->size() : 0;
    in.expect(e.payload_begin <= size && e.payload_size <= size - e.payload_begin);
  }
  if ((flags & k_id_time) != 0) e.id_time = in.time();
  if ((flags & k_index) != 0) {
    e.record.index = in.u32();
    in.expect(e.record.index != 0);
  }
  if (!in.done()) return damaged();
  return e;
}

std::string encode_backlog(const backlog& b) {
  std::string value;
  byte_writer out{value};
  out.u8(static_cast<unsigned>(b.too_old > 0 ? k_backlog_format_too_old : k_format));
  out.u8(flags_of(b));
  if (b.too_old > 0) out.u64(b.too_old);
  out.u64(b.parked);
  out.u64(b.retrying);
  out.u64(b.dead);
  put_sequence(out, b.highest);
  if (b.wake) out.time(*b.wake);
  if (b.gap_since) out.time(*b.gap_since);
  if (b.adopted) put_sequence(out, *b.adopted);
  out.u32(static_cast<std::uint32_t>(b.skipped.size()));
  for (const sequence_range& r : b.skipped) {
    put_sequence(out, r.first);
    put_sequence(out, r.last);
  }
  if (b.accepted) {
    put_sequence(out, b.accepted->sequence);
    if (b.accepted->id) put_id(out, *b.accepted->id);
    out.hash(b.accepted->payload_hash);
    out.u64(b.accepted->events);
  }
  if (!b.reopened.empty()) out.u32(static_cast<std::uint32_t>(b.reopened.size()));
  for (const reopened_id& r : b.reopened) {
    put_id(out, r.id);
    out.time(r.filed);
  }
  if (b.opened) out.time(*b.opened);  // all flags are taken: its place is the end
  return value;
}

result<backlog> decode_backlog(std::string_view value) {
  byte_reader in{value};
  const unsigned format = in.u8();
  const bool has_too_old = format == static_cast<unsigned>(k_backlog_format_too_old);
  in.expect(has_too_old || format == static_cast<unsigned>(k_format));
  backlog b;
  const unsigned flags = in.u8();
  if (has_too_old) b.too_old = in.u64();
  b.held = (flags & k_held) != 0;
  b.ready = (flags & k_ready) != 0;
  b.parked = in.u64();
  b.retrying = in.u64();
  b.dead = in.u64();
  in.expect(b.too_old <= b.dead && has_too_old == (b.too_old > 0));
  b.highest = read_sequence(in);
  if ((flags & k_wake) != 0) b.wake = in.time();
  if ((flags & k_gap) != 0) b.gap_since = in.time();
  if ((flags & k_adopted) != 0) b.adopted = read_sequence(in);
  for (std::uint32_t count = in.u32(); count > 0 && !in.bad(); --count) {
    const sequence first = read_sequence(in);
    b.skipped.push_back({first, read_sequence(in)});
  }
  in.expect((flags & k_accepted_id) == 0 || (flags & k_accepted) != 0);
  if ((flags & k_accepted) != 0) {
    accepted_position& accepted = b.accepted.emplace();
    accepted.sequence = read_sequence(in);
    if ((flags & k_accepted_id) != 0) accepted.id = in.id();
    accepted.payload_hash = in.hash();
    accepted.events = in.u64();
    in.expect(accepted.events > 0 && accepted.events <= b.events());
  }
  if ((flags & k_reopened) != 0) {
    for (std::uint32_t count = in.u32(); count > 0 && !in.bad(); --count) {
      const event_id id = in.id();
      b.reopened.push_back({id, in.time()});
    }
    in.expect(!b.reopened.empty());
  }
  if (!in.bad() && !in.done()) b.opened = in.time();
  if (!in.done()) return damaged();
  join_ranges(b.skipped);
  return b;
}

std::string encode_sequence(sequence s) {
  std::string value;
  byte_writer out{value};
  out.u8(static_cast<unsigned>(k_format));
  put_sequence(out, s);
  return value;
}

result<sequence> decode_sequence(std::string_view value) {
  byte_reader in = after_format(value);
  const sequence s = read_sequence(in);
  if (!in.done()) return damaged();
  return s;
}

}  // namespace ratchet::layout
