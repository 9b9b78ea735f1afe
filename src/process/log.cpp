// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "process/log.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/null_sink.h>

#include <utility>
#include <variant>

#include "core/shown_text.hpp"
#include "process/log_fields.hpp"
#include "text/json_writer.hpp"

namespace ratchet {

namespace {

/// Of lines that repeat, one in so many seconds is shown.
constexpr std::chrono::seconds k_log_interval{10};
/// What the client says about its configuration is a handful of lines; more are not remembered.
constexpr std::size_t k_most_warnings = 32;
constexpr int k_syslog_error = 3;

/// Travels beside the message: in it, whoever chose a part of its text could choose the facts as well.
thread_local const told_line* being_told = nullptr;

std::string_view level_name(spdlog::level::level_enum level) noexcept {
  switch (level) {
    case spdlog::level::trace:
    case spdlog::level::debug:
      return "debug";
    case spdlog::level::info:
      return "info";
    case spdlog::level::warn:
      return "warn";
    case spdlog::level::err:
    case spdlog::level::critical:
    case spdlog::level::off:
    case spdlog::level::n_levels:
      return "error";
  }
  return "error";
}

std::string_view payload_of(const spdlog::details::log_msg& message) {
  return {message.payload.data(), message.payload.size()};
}

/// The lines of a message as one.
std::string joined_lines(std::string_view text) {
  std::string out;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\n') {
      out += text[at];
      continue;
    }
    const bool led_up_to = out.ends_with(':') || out.ends_with(';');
    while (at + 1 < text.size() && (text[at + 1] == ' ' || text[at + 1] == '\n')) ++at;
    out += led_up_to ? " " : "; ";
  }
  return out;
}

class level_flag final : public spdlog::custom_flag_formatter {
 public:
  explicit level_flag(std::size_t width) : width_{width} {}
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& to) override {
    std::string name{level_name(message.level)};
    name.resize(std::max(width_, name.size()), ' ');
    to.append(name.data(), name.data() + name.size());
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<level_flag>(width_);
  }

 private:
  std::size_t width_;
};

class text_flag final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& to) override {
    const std::string line = as_one_line(payload_of(message));
    to.append(line.data(), line.data() + line.size());
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<text_flag>();
  }
};

void append_member(std::string& to, std::string_view name,
                   const std::variant<std::string_view, std::int64_t>& value) {
  to.append(",\"").append(name).append("\":");
  if (const auto* const text = std::get_if<std::string_view>(&value)) return append_json_string(to, *text);
  to.append(std::to_string(std::get<std::int64_t>(value)));
}

/// The members behind the level.
class json_flag final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& to) override {
    std::string members;
    if (being_told != nullptr) append_member(members, "code", rule_of(being_told->kind).code);
    append_member(members, "message", payload_of(message));
    if (being_told != nullptr) {
      for (const log_field& field : fields_of(being_told->facts)) {
        append_member(members, field.name, field.value);
      }
    }
    to.append(members.data(), members.data() + members.size());
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<json_flag>();
  }
};

}  // namespace

log_ptr silent_log() {
  return std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::null_sink_mt>());
}

std::unique_ptr<spdlog::formatter> make_log_formatter(log_format format) {
  auto made = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  if (format == log_format::json) {
    made->add_flag<level_flag>('*', 0U).add_flag<json_flag>('?').set_pattern(
        R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%*"%?})");
  } else {
    constexpr std::size_t k_widest = 5;
    made->add_flag<level_flag>('*', k_widest)
        .add_flag<text_flag>('?')
        .set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %^%*%$ %?");
  }
  return made;
}

void tell_of(const log_ptr& log, log_kind kind, const log_facts& facts, std::string_view message) {
  const told_line told{kind, facts};
  being_told = &told;
  log->log(rule_of(kind).level, "{}", message);
  being_told = nullptr;
}

const told_line* line_being_told() noexcept {
  return being_told;
}

std::string as_one_line(std::string_view message) {
  return shown_text(joined_lines(message));
}

bool log_pace::due(std::chrono::steady_clock::time_point now) {
  if (used_ && now - last_ < k_log_interval) {
    ++waiting_;
    return false;
  }
  used_ = true;
  last_ = now;
  before_ = std::exchange(waiting_, 0);
  return true;
}

std::string log_pace::suppressed() const {
  return before_ == 0 ? "" : " (" + std::to_string(before_) + " more like it were not shown)";
}

client_log::client_log(log_ptr log) : log_{std::move(log)} {}

void client_log::write(int level, std::string_view text) {
  bool shown = false;
  std::string more;
  {
    const std::lock_guard lock{mutex_};
    if (text.starts_with("CONFWARN")) {
      shown = warnings_.size() < k_most_warnings && warnings_.emplace(text).second;
    } else if (level <= k_syslog_error) {
      shown = errors_.due(std::chrono::steady_clock::now());
      if (shown) more = errors_.suppressed();
    }
  }
  tell(log_, shown ? log_kind::client : log_kind::client_detail, "librdkafka: {}{}", text, more);
}

}  // namespace ratchet
