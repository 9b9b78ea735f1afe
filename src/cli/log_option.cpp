// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "cli/log_option.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

namespace ratchet::cli {

void add_log_option(CLI::App& command, log_option& option) {
  command.add_option("--log-format", option.format, "text, or json: one object a line")
      ->check(CLI::IsMember({"text", "json"}));
  command.add_option("--log-level", option.level, "debug, info, warn or error")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}));
}

log_ptr make_log(const log_option& option) {
  const char* no_color = std::getenv("NO_COLOR");  // https://no-color.org: set and not empty
  const bool plain = option.format == "json" || (no_color != nullptr && *no_color != 0);
  spdlog::sink_ptr sink;
  if (plain) {
    sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  } else {
    sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  }
  sink->set_formatter(make_log_formatter(option.format == "json" ? log_format::json : log_format::text));
  auto log = std::make_shared<spdlog::logger>("ratchet", std::move(sink));
  log->set_level(spdlog::level::from_str(option.level == "error" ? "err" : option.level));
  log->flush_on(spdlog::level::info);
  return log;
}

int report(const log_option& option, const problem& p) {
  if (option.format != "json") return ratchet::report(p);
  std::string text = to_text(p);
  text.pop_back();  // the log ends the line
  const std::string_view self = "ratchet: ";
  tell(make_log(option), log_kind::run_failed, "{}",
       std::string_view{text}.substr(text.starts_with(self) ? self.size() : 0));
  return exit_code(p.code);
}

std::string_view words_at_abort(const log_option& option) noexcept {
  if (option.format == "json") {
    return R"({"time":"0000-00-00T00:00:00.000Z","level":"error","code":"run_aborted","message":"aborted by a second signal; nothing is lost: the next start goes on )"
           "from what is durable\"}\n";
  }
  return "ratchet: aborted by a second signal; nothing is lost: the next start goes on from what is "
         "durable\n";
}

}  // namespace ratchet::cli
