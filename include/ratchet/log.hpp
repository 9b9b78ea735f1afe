// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <variant>

namespace ratchet {

enum class log_level : std::uint8_t { debug, info, warn, error };

/// A value of a line: `stream`, `aggregate`, `topic`, `partition` or `offset`. A text comes from a record
/// unchanged, and may hold any bytes.
struct log_field {
  std::string_view name;
  std::variant<std::string_view, std::int64_t> value;
};

/// One line of the log. Borrowed until the logger returns.
struct log_entry {
  log_level level{log_level::info};
  std::string_view code;  ///< the kind of line, from docs/reference/log.md; never changes
  std::string_view text;  ///< for people: one line, without control characters
  std::span<const log_field> fields;
};

/// The receiver of the log that app::open() takes. It gets all lines of `ratchet run`, of all levels. Several
/// threads call it, one at a time: keep it short, and do not call the app in it. Its exceptions are
/// dropped.
using logger = std::function<void(const log_entry&)>;

}  // namespace ratchet
