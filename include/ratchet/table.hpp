// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ratchet/export.hpp"

/// Read models: tables that a stream's reducer writes beside the state of its aggregates. A program reads
/// them by key or in the order of keys.
namespace ratchet {

/// The kind of a table's keys, which defines their order.
enum class key_encoding : std::uint8_t {
  text,   ///< UTF-8 of 1 to 1024 bytes, in the order of the bytes
  bytes,  ///< 1 to 1024 bytes, in the order of the bytes
  u64,    ///< numbers below 2^64 as decimal digits without leading zeros, in the order of the numbers
};
[[nodiscard]] RATCHET_EXPORT const char* name_of(key_encoding) noexcept;

/// A table of a stream. Names are unique over all streams of a config.
struct table_config {
  std::string name;
  key_encoding key{key_encoding::text};
  friend bool operator==(const table_config&, const table_config&) = default;
};

/// The place of a row. A type of its own, so that you cannot pass a stream and an aggregate. Borrowed during
/// the call.
struct table_key {
  std::string_view table;
  std::string_view key;
};

/// The rows of a table from `from` on that begin with `prefix`, in the order of keys.
struct table_range {
  std::string table;
  std::string prefix{};  ///< for `text` and `bytes` keys; empty: all
  std::string from{};    ///< where to begin, whether or not that key exists; empty: at the lowest
  std::size_t limit{1000};
};

struct table_row {
  std::string key;
  std::string value;
  friend bool operator==(const table_row&, const table_row&) = default;
};

/// A part of a range, as of one step.
struct table_page {
  std::vector<table_row> rows;
  std::optional<std::string> next;  ///< the `from` of the next part; none: this is the last part
};

}  // namespace ratchet
