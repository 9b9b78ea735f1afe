// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "process/program_log.hpp"

#include <spdlog/sinks/base_sink.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "process/log_fields.hpp"
#include "text/program_text.hpp"

namespace ratchet {

namespace {

log_level level_of(spdlog::level::level_enum level) noexcept {
  if (level <= spdlog::level::debug) return log_level::debug;
  if (level == spdlog::level::info) return log_level::info;
  return level == spdlog::level::warn ? log_level::warn : log_level::error;
}

class program_sink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit program_sink(logger to) : to_{std::move(to)} {}

  void end() {
    const std::scoped_lock lock{mutex_};
    to_ = nullptr;
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (!to_) return;
    const std::string text = as_program_text(as_one_line({message.payload.data(), message.payload.size()}));
    log_entry entry;
    entry.level = level_of(message.level);
    entry.text = text;
    std::vector<log_field> fields;
    if (const told_line* told = line_being_told()) {
      entry.code = rule_of(told->kind).code;
      fields = fields_of(told->facts);
    }
    entry.fields = fields;
    try {
      to_(entry);
    } catch (...) {  // NOLINT: a program's own exception may be anything, and ends no run
    }
  }
  void flush_() override {}

 private:
  logger to_;
};

}  // namespace

log_ptr make_program_log(const logger& to) {
  if (!to) return silent_log();
  auto log = std::make_shared<spdlog::logger>("ratchet", std::make_shared<program_sink>(to));
  log->set_level(spdlog::level::debug);
  // Left to itself it would print what the program's function throws.
  log->set_error_handler([](const std::string&) {});
  return log;
}

void end_program_log(const log_ptr& log) {
  for (const auto& sink : log->sinks()) {
    if (auto* const of_program = dynamic_cast<program_sink*>(sink.get())) of_program->end();
  }
}

}  // namespace ratchet
