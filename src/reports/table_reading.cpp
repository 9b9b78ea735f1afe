// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "reports/table_reading.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/tables.hpp"

namespace ratchet {

result<std::vector<stored_table>> stored_tables(const store_view& view) {
  RATCHET_TRY(const auto streams, view.streams());
  std::vector<stored_table> out;
  for (const named_stream& s : streams) {
    for (table_config& t : tables_in(s.meaning)) out.push_back({s.id, s.name, std::move(t)});
  }
  return out;
}

result<stored_table> find_stored_table(const store_view& view, std::string_view name) {
  RATCHET_TRY(auto all, stored_tables(view));
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const stored_table& t) { return t.what.name == name; });
  if (at == all.end()) return make_error_code(errc::table_undeclared);
  return std::move(*at);
}

result<stored_bounds> bounds_of(const table_config& table, std::string_view prefix, std::string_view from) {
  const auto invalid = [] { return make_error_code(errc::table_key_invalid); };
  if (table.key != key_encoding::u64) {
    if (prefix.size() > k_most_table_key_bytes || from.size() > k_most_table_key_bytes) return invalid();
    return stored_bounds{std::string{prefix}, std::string{from}};
  }
  if (!prefix.empty()) return invalid();
  if (from.empty()) return stored_bounds{};
  auto stored = encode_table_key(table.key, from);
  if (!stored) return invalid();
  return stored_bounds{{}, std::move(*stored)};
}

result<std::string> read_table_row(const store_view& view, const table_key& at) {
  RATCHET_TRY(const stored_table table, find_stored_table(view, at.table));
  const auto stored = encode_table_key(table.what.key, at.key);
  if (!stored) return make_error_code(errc::table_key_invalid);
  return view.table_row(table.stream, table.what.name, *stored);
}

result<table_page> read_table_page(const store_view& view, const table_range& range) {
  RATCHET_TRY(const stored_table table, find_stored_table(view, range.table));
  RATCHET_TRY(const stored_bounds bounds, bounds_of(table.what, range.prefix, range.from));
  table_page page;
  std::size_t bytes = 0;
  bool readable = true;
  RATCHET_TRY(view.scan_table(table.stream, table.what.name, bounds.prefix, bounds.from,
                              [&](std::string_view stored, std::string_view value) {
                                auto key = decode_table_key(table.what.key, stored);
                                readable = key.has_value();
                                if (!readable) return false;
                                bytes += key->size() + value.size();
                                const bool full = page.rows.size() >= range.limit ||
                                                  (!page.rows.empty() && bytes > k_table_page_bytes);
                                if (full) {
                                  page.next = std::move(*key);
                                  return false;
                                }
                                page.rows.push_back({std::move(*key), std::string{value}});
                                return true;
                              }));
  if (!readable) return make_error_code(errc::state_damaged);
  return page;
}

}  // namespace ratchet
