// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ports/store_view.hpp"
#include "ratchet/table.hpp"

/// Reads of read-model tables by name, whatever stream they belong to. Thread-safety: that of the view.
namespace ratchet {

/// A table as the store knows it.
struct stored_table {
  stream_id stream{0};
  std::string stream_name;
  table_config what;
};

/// All of them, in the order of streams. Errors: state_damaged; of the store.
[[nodiscard]] result<std::vector<stored_table>> stored_tables(const store_view&);
/// Errors: table_undeclared, where no stream has it; state_damaged; of the store.
[[nodiscard]] result<stored_table> find_stored_table(const store_view&, std::string_view name);

/// The bounds of a range as keys are stored.
struct stored_bounds {
  std::string prefix;
  std::string from;
};
/// Errors: table_key_invalid: a prefix of numbers, or a bound that no key of the table can be compared with.
[[nodiscard]] result<stored_bounds> bounds_of(const table_config&, std::string_view prefix,
                                              std::string_view from);

/// A page ends behind so many bytes of keys and values, but for its first row.
constexpr std::size_t k_table_page_bytes = std::size_t{16} << 20U;

/// As app::read(). Errors: not_found; table_undeclared; table_key_invalid; state_damaged; of the store.
[[nodiscard]] result<std::string> read_table_row(const store_view&, const table_key&);
/// As app::scan(). Errors: table_undeclared; table_key_invalid; state_damaged; of the store.
[[nodiscard]] result<table_page> read_table_page(const store_view&, const table_range&);

}  // namespace ratchet
