// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ratchet/export.hpp"

/// Read models: tables that a stream's reducer writes beside the state of its aggregates, and that a program
/// reads by key or in the order of keys.
namespace ratchet {

/// What the keys of a table are, and their order.
enum class key_encoding : std::uint8_t {
  text,   ///< UTF-8 of 1 to 1024 bytes, in the order of these
  bytes,  ///< 1 to 1024 bytes, in their order
  u64,    ///< whole numbers below 2^64, in decimal digits without leading zeros; in the order of numbers
};
[[nodiscard]] RATCHET_EXPORT const char* name_of(key_encoding) noexcept;

/// A table of a stream. Names are unique over all streams of a config.
struct table_config {
  std::string name;
  key_encoding key{key_encoding::text};
  friend bool operator==(const table_config&, const table_config&) = default;
};

/// One row's place. A type of its own, so that nobody takes it for a stream and an aggregate. Borrowed during
/// the call.
struct table_key {
  std::string_view table;
  std::string_view key;
};

/// The rows of a table from `from` on that begin with `prefix`, in the order of keys.
struct table_range {
  std::string table;
  std::string prefix{};  ///< of `text` and `bytes` keys; empty: all
  std::string from{};    ///< the first key that is wanted, whether or not it is there; empty: the lowest
  std::size_t limit{1000};
};

struct table_row {
  std::string key;
  std::string value;
  friend bool operator==(const table_row&, const table_row&) = default;
};

/// A part of a range, as of one moment.
struct table_page {
  std::vector<table_row> rows;
  std::optional<std::string> next;  ///< the key behind it, to be given as `from`; none: it is the last part
};

}  // namespace ratchet
