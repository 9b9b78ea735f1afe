// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "cli/log_option.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "app/json_writer.hpp"

namespace ratchet::cli {

namespace {

/// %* : the message as a JSON string.
class json_message final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& to) override {
    json_writer out;
    out.string(std::string_view{message.payload.data(), message.payload.size()});
    to.append(out.text().data(), out.text().data() + out.text().size());
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<json_message>();
  }
};

}  // namespace

void add_log_option(CLI::App& command, log_option& option) {
  command.add_option("--log-format", option.format, "text, or json: one object a line")
      ->check(CLI::IsMember({"text", "json"}));
  command.add_option("--log-level", option.level, "debug, info, warn or error")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}));
}

log_ptr make_log(const log_option& option) {
  const bool plain = option.format == "json" || std::getenv("NO_COLOR") != nullptr;
  spdlog::sink_ptr sink;
  if (plain) {
    sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  } else {
    sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  }
  auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  if (option.format == "json") {
    formatter->add_flag<json_message>('*').set_pattern(
        R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","message":%*})");
  } else {
    formatter->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %^%-5l%$ %v");
  }
  sink->set_formatter(std::move(formatter));
  auto log = std::make_shared<spdlog::logger>("ratchet", std::move(sink));
  log->set_level(spdlog::level::from_str(option.level == "error" ? "err" : option.level));
  log->flush_on(spdlog::level::info);
  return log;
}

}  // namespace ratchet::cli
