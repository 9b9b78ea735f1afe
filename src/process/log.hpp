// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/formatter.h>
#include <spdlog/logger.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "process/log_lines.hpp"
#include "ratchet/types.hpp"

namespace ratchet {

/// Where the library writes its log. The embedding program gives one; by default nothing is written.
using log_ptr = std::shared_ptr<spdlog::logger>;

/// A logger that drops everything.
[[nodiscard]] log_ptr silent_log();

enum class log_format : std::uint8_t { text, json };

/// One event a line, whatever the message holds: in text, line feeds become `; `, and the rest of what must
/// not be shown (core/shown_text.hpp) \xNN or \u{N}, so that nothing out of a record can forge a line or
/// steer a terminal; in JSON it is escaped.
///     2026-11-20T16:00:00.000Z info  resuming payment-status/3 at offset 17
///     {"time":"2026-11-20T16:00:00.000Z","level":"info","code":"resumed",
///      "message":"resuming payment-status/3 at offset
///      17","topic":"payment-status","partition":3,"offset":17}
/// Levels are debug, info, warn and error.
[[nodiscard]] std::unique_ptr<spdlog::formatter> make_log_formatter(log_format);

/// What a line speaks of, for programs: members of a JSON line; text leaves it to the message. Borrowed.
struct log_facts {
  std::string_view stream{};
  std::string_view aggregate{};
  const topic_partition* where{nullptr};
  std::optional<std::int64_t> offset{};
};

/// Writes a line with the level of its kind.
void tell_of(const log_ptr&, log_kind, const log_facts&, std::string_view message);

template <class... Args>
void tell(const log_ptr& log, log_kind kind, spdlog::format_string_t<Args...> text, Args&&... args) {
  if (!log->should_log(rule_of(kind).level)) return;
  tell_of(log, kind, {}, spdlog::fmt_lib::format(text, std::forward<Args>(args)...));
}

/// The line that this thread is writing, for sinks and formatters; null where it came past tell(). A logger
/// that formats on another thread does without.
struct told_line {
  log_kind kind;
  const log_facts& facts;
};
[[nodiscard]] const told_line* line_being_told() noexcept;

/// A message as one line, with nothing in it that would steer a terminal.
[[nodiscard]] std::string as_one_line(std::string_view message);

/// Lets one line through in a while, of those that an outage repeats, and counts what it held back.
class log_pace {
 public:
  /// True where a line is due.
  [[nodiscard]] bool due(std::chrono::steady_clock::time_point now);
  /// For the end of the line that is due: empty, or how many like it were held back since the last one.
  [[nodiscard]] std::string suppressed() const;

 private:
  std::chrono::steady_clock::time_point last_;
  bool used_{false};
  std::uint64_t waiting_{0};  ///< held back since the last line
  std::uint64_t before_{0};   ///< held back before the line that is due
};

/// The Kafka client's own lines, on their way into the log. Outlives the clients, so that one which is made
/// again and again says nothing twice. Thread-safety: any thread; the client has several.
class client_log {
 public:
  explicit client_log(log_ptr);
  /// `level` is syslog's.
  void write(int level, std::string_view text);

 private:
  log_ptr log_;
  std::mutex mutex_;
  log_pace errors_;
  std::set<std::string, std::less<>> warnings_;  ///< about the configuration, as already said
};

}  // namespace ratchet
