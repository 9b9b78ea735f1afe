// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "store/layout/layout.hpp"

/// Keys and values of the column family `tables`. The bytes are written down in layout.hpp.
namespace ratchet::layout {

/// All keys of a stream's tables start so.
[[nodiscard]] std::string tables_prefix(stream_id);
/// All keys of one table start so; what follows is the row's key, as core/tables encodes it.
[[nodiscard]] std::string table_prefix(stream_id, slot, std::string_view table);
/// Appends to `out`, which many keys of a batch share.
void append_table_key(std::string& out, stream_id, slot, std::string_view table, std::string_view key);

struct parsed_table_key {
  stream_id stream{0};
  ratchet::slot slot{0};
  std::string table;
  std::string_view key;
};
// Errors of everything below: state_damaged.
[[nodiscard]] result<parsed_table_key> parse_table_key(std::string_view);
/// Borrowed from the stored value.
[[nodiscard]] result<std::string_view> decode_table_value(std::string_view);

}  // namespace ratchet::layout
