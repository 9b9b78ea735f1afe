// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/layout/layout.hpp"

#include <algorithm>

#include "store/layout/io.hpp"

/// Keys. The values are in rows.cpp.
namespace ratchet::layout {

namespace {

std::uint32_t raw(stream_id stream) {
  return static_cast<std::uint32_t>(stream);
}

constexpr std::size_t k_opaque_id_head = 4 + 4 + 16;

byte_reader after_prefix(kind k, std::string_view key) {
  byte_reader in{key};
  in.expect(in.u8() == static_cast<unsigned>(k));
  return in;
}

void put_place(byte_writer& out, const topic_partition& where) {
  out.text(where.topic);
  out.i32(static_cast<std::int32_t>(where.partition));
}

topic_partition read_place(byte_reader& in) {
  topic_partition where;
  where.topic = in.text();
  where.partition = partition_id{in.i32()};
  return where;
}

}  // namespace

std::string step_key(bool in_default) {
  return in_default ? prefix_of(kind::step) : std::string(4, '\0');
}

std::string identity_key() {
  return prefix_of(kind::identity);
}

std::string copy_mark_key() {
  return prefix_of(kind::copy_mark);
}

std::string outbox_epoch_key() {
  return prefix_of(kind::outbox_epoch);
}

std::string stream_key(std::string_view name) {
  return prefix_of(kind::stream).append(name);
}

std::string stream_state_key(stream_id stream) {
  return prefix_of(kind::stream_state, stream);
}

std::string partition_key(stream_id stream, const topic_partition& where) {
  std::string key = prefix_of(kind::partition, stream);
  byte_writer out{key};
  put_place(out, where);
  return key;
}

std::string incarnation_key(const incarnation& i) {
  std::string key = prefix_of(kind::incarnation);
  byte_writer out{key};
  out.u64(i.counter);
  out.u64(i.random);
  return key;
}

std::string rejected_key(stream_id stream, const kept_rejected::position& at) {
  std::string key = prefix_of(kind::rejected, stream);
  byte_writer out{key};
  put_place(out, at.where);
  out.i64(at.offset);
  if (at.index != 0) out.u32(at.index);
  return key;
}

std::string audit_key(std::uint64_t step, std::uint32_t ordinal) {
  std::string key = prefix_of(kind::audit);
  byte_writer out{key};
  out.u64(step);
  out.u32(ordinal);
  return key;
}

std::string prefix_of(kind k) {
  return std::string(1, static_cast<char>(k));
}

std::string prefix_of(kind k, stream_id stream) {
  std::string key = prefix_of(k);
  byte_writer{key}.u32(raw(stream));
  return key;
}

std::string stream_prefix(stream_id stream, slot s) {
  std::string key;
  byte_writer out{key};
  out.u32(raw(stream));
  out.u32(static_cast<std::uint32_t>(s));
  return key;
}

std::string end_of_prefix(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xFF') prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return prefix;
}

void append_aggregate_key(std::string& out, stream_id stream, slot s, std::string_view aggregate) {
  char head[8];
  put_number<4>(put_number<4>(head, raw(stream)), static_cast<std::uint32_t>(s));
  out.append(head, sizeof head).append(aggregate);
}

void append_id_run_key(std::string& out, stream_id stream, slot s, id_span span, std::uint64_t step,
                       std::uint16_t part) {
  char bytes[k_span_prefix_bytes + 10];
  char* at = put_number<4>(put_number<4>(bytes, raw(stream)), static_cast<std::uint32_t>(s));
  at = put_number<1>(put_number<6>(at, span.start), span.bits);
  put_number<2>(put_number<8>(at, step), part);
  out.append(bytes, sizeof bytes);
}

void append_opaque_id_key(std::string& out, stream_id stream, slot s, const event_id& id,
                          std::string_view aggregate) {
  char head[k_opaque_id_head];
  char* at = put_number<4>(put_number<4>(head, raw(stream) + k_opaque_ids), static_cast<std::uint32_t>(s));
  put_number<8>(put_number<8>(at, id.high), id.low);
  out.append(head, sizeof head).append(aggregate);
}

std::string opaque_ids_prefix(stream_id stream, slot s) {
  std::string prefix;
  append_opaque_id_key(prefix, stream, s, {}, {});
  prefix.resize(4 + 4);
  return prefix;
}

bool is_opaque_id_key(std::string_view key) noexcept {
  constexpr unsigned k_first_bit = k_opaque_ids >> 24U;
  return !key.empty() && (static_cast<unsigned char>(key.front()) & k_first_bit) != 0;
}

std::string span_prefix(stream_id stream, slot s, id_span span) {
  std::string prefix;
  append_id_run_key(prefix, stream, s, span, 0, 0);
  prefix.resize(k_span_prefix_bytes);
  return prefix;
}

result<parsed_aggregate_key> parse_aggregate_key(std::string_view key) {
  byte_reader in{key};
  parsed_aggregate_key out;
  out.stream = stream_id{in.u32()};
  out.slot = slot{in.u32()};
  out.aggregate = in.rest();
  if (!in.done()) return damaged();
  return out;
}

result<parsed_id_run_key> parse_id_run_key(std::string_view key) {
  byte_reader in{key};
  parsed_id_run_key out;
  out.stream = stream_id{in.u32()};
  out.slot = slot{in.u32()};
  const std::uint64_t start_and_bits =
      std::uint64_t{in.u32()} << 24U | std::uint64_t{in.u16()} << 8U | in.u8();
  out.span = {start_and_bits >> 8U, static_cast<unsigned>(start_and_bits & 0xFFU)};
  out.step = in.u64();
  out.part = in.u16();
  const bool is_known = std::find(k_span_bits.begin(), k_span_bits.end(), out.span.bits) != k_span_bits.end();
  if (!in.done() || !is_known || out.span.start % (std::uint64_t{1} << out.span.bits) != 0) return damaged();
  return out;
}

result<parsed_opaque_id_key> parse_opaque_id_key(std::string_view key) {
  byte_reader in{key};
  parsed_opaque_id_key out;
  const std::uint32_t stream = in.u32();
  out.stream = stream_id{stream - k_opaque_ids};
  out.slot = slot{in.u32()};
  out.id.high = in.u64();
  out.id.low = in.u64();
  out.aggregate = in.rest();
  if (!in.done() || stream < k_opaque_ids || out.aggregate.empty()) return damaged();
  return out;
}

result<std::string> parse_stream_key(std::string_view key) {
  byte_reader in = after_prefix(kind::stream, key);
  std::string name{in.rest()};
  if (!in.done()) return damaged();
  return name;
}

result<stream_id> parse_stream_state_key(std::string_view key) {
  byte_reader in = after_prefix(kind::stream_state, key);
  const stream_id stream{in.u32()};
  if (!in.done()) return damaged();
  return stream;
}

result<parsed_partition_key> parse_partition_key(std::string_view key) {
  byte_reader in = after_prefix(kind::partition, key);
  parsed_partition_key out;
  out.stream = stream_id{in.u32()};
  out.where = read_place(in);
  if (!in.done()) return damaged();
  return out;
}

result<incarnation> parse_incarnation_key(std::string_view key) {
  byte_reader in = after_prefix(kind::incarnation, key);
  incarnation out;
  out.counter = in.u64();
  out.random = in.u64();
  if (!in.done()) return damaged();
  return out;
}

result<parsed_rejected_key> parse_rejected_key(std::string_view key) {
  byte_reader in = after_prefix(kind::rejected, key);
  parsed_rejected_key out;
  out.stream = stream_id{in.u32()};
  out.where = read_place(in);
  out.offset = in.i64();
  if (!in.done()) {
    out.index = in.u32();
    in.expect(out.index != 0);
  }
  if (!in.done()) return damaged();
  return out;
}

result<rejected_place> parse_audit_key(std::string_view key) {
  byte_reader in = after_prefix(kind::audit, key);
  rejected_place out;
  out.step = in.u64();
  out.ordinal = in.u32();
  if (!in.done()) return damaged();
  return out;
}

}  // namespace ratchet::layout
