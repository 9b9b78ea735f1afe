// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/layout/tables.hpp"

#include "store/layout/io.hpp"

namespace ratchet::layout {

namespace {

constexpr unsigned k_row = 0x01;

}  // namespace

std::string tables_prefix(stream_id stream) {
  std::string prefix(1, static_cast<char>(k_row));
  byte_writer{prefix}.u32(static_cast<std::uint32_t>(stream));
  return prefix;
}

std::string table_prefix(stream_id stream, slot s, std::string_view table) {
  std::string prefix;
  append_table_key(prefix, stream, s, table, {});
  return prefix;
}

void append_table_key(std::string& out, stream_id stream, slot s, std::string_view table,
                      std::string_view key) {
  byte_writer to{out};
  to.u8(k_row);
  to.u32(static_cast<std::uint32_t>(stream));
  to.u32(static_cast<std::uint32_t>(s));
  to.text(table);
  to.raw(key);
}

result<parsed_table_key> parse_table_key(std::string_view key) {
  byte_reader in{key};
  in.expect(in.u8() == k_row);
  parsed_table_key out;
  out.stream = stream_id{in.u32()};
  out.slot = slot{in.u32()};
  out.table = in.text();
  out.key = in.rest();
  if (!in.done() || out.table.empty() || out.key.empty()) return damaged();
  return out;
}

result<std::string_view> decode_table_value(std::string_view value) {
  byte_reader in = after_format(value);
  const std::string_view bytes = in.rest();
  if (!in.done()) return damaged();
  return bytes;
}

}  // namespace ratchet::layout
