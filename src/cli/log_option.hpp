// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "process/log.hpp"
#include "ratchet/error.hpp"

namespace ratchet::cli {

/// How a command logs: to standard error, as text or as one JSON object a line.
struct log_option {
  std::string format{"text"};
  std::string level{"info"};
};

/// Adds --log-format and --log-level.
void add_log_option(CLI::App& command, log_option&);

[[nodiscard]] log_ptr make_log(const log_option&);

/// Says on standard error why the command ends, as its log is written: as report() does, or as one JSON
/// object more. Returns the exit code.
int report(const log_option&, const problem&);

/// What a second signal has the process say before it ends, in the form of the log.
[[nodiscard]] std::string_view words_at_abort(const log_option&) noexcept;

}  // namespace ratchet::cli
