// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/layout/outbox.hpp"

#include "store/layout/io.hpp"

namespace ratchet::layout {

namespace {

constexpr unsigned k_output = 0x01;
constexpr unsigned k_sink_output = 0x02;
constexpr unsigned k_key = 1, k_value = 2, k_time = 4, k_flags = 7;

}  // namespace

std::string outbox_state_key(std::string_view lane) {
  return prefix_of(kind::outbox) += lane;
}

result<std::string> parse_outbox_state_key(std::string_view key) {
  const std::string prefix = prefix_of(kind::outbox);
  if (!key.starts_with(prefix) || key.find('\0') != std::string_view::npos) return damaged();
  return std::string{key.substr(prefix.size())};
}

std::string output_prefix(std::string_view lane) {
  if (lane.empty()) return std::string(1, static_cast<char>(k_output));
  std::string prefix(1, static_cast<char>(k_sink_output));
  prefix += lane;
  prefix += '\0';
  return prefix;
}

std::string output_key(std::uint64_t position, std::string_view lane) {
  std::string key = output_prefix(lane);
  byte_writer{key}.u64(position);
  return key;
}

result<output_place> parse_output_key(std::string_view key) {
  output_place out;
  const auto kind = key.empty() ? 0U : static_cast<unsigned char>(key.front());
  if (kind != k_output && kind != k_sink_output) return damaged();
  key.remove_prefix(1);
  if (kind == k_sink_output) {
    const std::size_t end = key.find('\0');
    if (end == 0 || end == std::string_view::npos) return damaged();
    out.lane = key.substr(0, end);
    key.remove_prefix(end + 1);
  }
  byte_reader in{key};
  out.position = in.u64();
  if (!in.done()) return damaged();
  return out;
}

std::string encode_outbox_state(const outbox_state& state) {
  std::string value = with_format();
  byte_writer out{value};
  out.u64(state.first);
  out.u64(state.next);
  out.u64(state.bytes);
  if (state.gone > 0) out.u64(state.gone);
  return value;
}

result<outbox_state> decode_outbox_state(std::string_view value) {
  byte_reader in = after_format(value);
  outbox_state out;
  out.first = in.u64();
  out.next = in.u64();
  out.bytes = in.u64();
  if (!in.done()) {
    out.gone = in.u64();
    in.expect(out.gone > 0);
  }
  in.expect(out.first <= out.next && out.gone <= out.next - out.first);
  if (!in.done()) return damaged();
  return out;
}

std::string encode_output(const output_row& row) {
  std::string value = with_format();
  constexpr std::size_t k_frames = 16;  // lengths of the headers' names and values
  value.reserve(row.bytes() + k_frames * row.headers.size());
  byte_writer out{value};
  out.u8(static_cast<unsigned>(row.kind));
  out.u8((row.key ? k_key : 0U) | (row.value ? k_value : 0U) | (row.time ? k_time : 0U));
  out.u32(static_cast<std::uint32_t>(row.stream));
  out.u64(row.id.high);
  out.u64(row.id.low);
  out.bytes(row.aggregate);
  out.bytes(row.topic);
  if (row.key) out.bytes(*row.key);
  if (row.value) out.bytes(*row.value);
  put_headers(out, row.headers);
  if (row.time) out.time(*row.time);
  if (row.kind != output_kind::published) return value;
  out.bytes(row.type);
  out.bytes(row.source);
  out.bytes(row.content_type);
  out.u64(row.sequence.epoch);
  out.u64(row.sequence.number);
  return value;
}

result<output_row> decode_output(std::uint64_t position, std::string_view value) {
  byte_reader in = after_format(value);
  output_row out;
  out.position = position;
  const unsigned kind = in.u8();
  in.expect(kind <= static_cast<unsigned>(output_kind::skipped));
  out.kind = static_cast<output_kind>(kind);
  const unsigned flags = in.u8();
  in.expect((flags & ~k_flags) == 0);
  out.stream = stream_id{in.u32()};
  out.id = in.id();
  out.aggregate = in.bytes();
  out.topic = in.bytes();
  if ((flags & k_key) != 0) out.key = std::string{in.bytes()};
  if ((flags & k_value) != 0) out.value = std::string{in.bytes()};
  out.headers = read_headers(in);
  if ((flags & k_time) != 0) out.time = in.time();
  if (out.kind == output_kind::published) {
    out.type = in.bytes();
    out.source = in.bytes();
    out.content_type = in.bytes();
    out.sequence.epoch = in.u64();
    out.sequence.number = in.u64();
  }
  if (!in.done()) return damaged();
  return out;
}

}  // namespace ratchet::layout
