// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <variant>

namespace ratchet {

enum class log_level : std::uint8_t { debug, info, warn, error };

/// What a line speaks of: `stream`, `aggregate`, `topic`, `partition`, `offset`. Texts are as they came in
/// records, and may hold anything.
struct log_field {
  std::string_view name;
  std::variant<std::string_view, std::int64_t> value;
};

/// One line of the log. Borrowed until the logger returns.
struct log_entry {
  log_level level{log_level::info};
  std::string_view code;  ///< the kind of line, in snake_case, as docs/reference/log.md has it; never changes
  std::string_view text;  ///< for people: one line, with nothing in it that would steer a terminal
  std::span<const log_field> fields;
};

/// Where app::open() is told to write the log: everything that `ratchet run` logs, at all levels. Called by
/// several threads, one at a time, so it should be short, and must not call the app. What it throws is
/// dropped.
using logger = std::function<void(const log_entry&)>;

}  // namespace ratchet
