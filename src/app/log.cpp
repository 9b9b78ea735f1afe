// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "app/log.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/null_sink.h>

#include <charconv>
#include <utility>

#include "app/json_writer.hpp"

namespace ratchet {

namespace {

/// Of lines that repeat, one in so many seconds is shown.
constexpr std::chrono::seconds k_log_interval{10};
/// What the client says about its configuration is a handful of lines; more are not remembered.
constexpr std::size_t k_most_warnings = 32;
constexpr int k_syslog_error = 3;

/// Between a message and the place that it speaks of; no message has one of its own.
constexpr char k_field = '\x1f';

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

/// A message and its place, apart again.
struct message_parts {
  explicit message_parts(std::string_view payload) {
    std::string_view* const parts[] = {&text, &topic, &partition, &offset};
    for (std::string_view* part : parts) {
      const std::size_t end = payload.find(k_field);
      *part = payload.substr(0, end);
      if (end == std::string_view::npos) break;
      payload.remove_prefix(end + 1);
    }
  }
  std::string_view text;
  std::string_view topic;
  std::string_view partition;
  std::string_view offset;
};

/// On one line, and with nothing that a terminal would act on.
void append_one_line(std::string& out, std::string_view text) {
  constexpr char k_hex[] = "0123456789abcdef";
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (c == '\n') {
      const bool led_up_to = out.ends_with(':') || out.ends_with(';');
      while (at + 1 < text.size() && (text[at + 1] == ' ' || text[at + 1] == '\n')) ++at;
      out += led_up_to ? " " : "; ";
    } else if (c < 0x20 || c == 0x7f) {
      out += {'\\', 'x', k_hex[c >> 4U], k_hex[c & 0x0fU]};
    } else {
      out += text[at];
    }
  }
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
    std::string line;
    append_one_line(line, message_parts{payload_of(message)}.text);
    to.append(line.data(), line.data() + line.size());
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<text_flag>();
  }
};

/// "MESSAGE", and the members of its place.
class json_flag final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& to) override {
    const message_parts parts{payload_of(message)};
    std::string members;
    append_json_string(members, parts.text);
    if (!parts.topic.empty()) {
      members += ",\"topic\":";
      append_json_string(members, parts.topic);
      members.append(",\"partition\":").append(parts.partition);
    }
    if (!parts.offset.empty()) members.append(",\"offset\":").append(parts.offset);
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
        R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%*","message":%?})");
  } else {
    constexpr std::size_t k_widest = 5;
    made->add_flag<level_flag>('*', k_widest)
        .add_flag<text_flag>('?')
        .set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %^%*%$ %?");
  }
  return made;
}

std::string located(std::string_view message, const topic_partition& where) {
  std::string all{message};
  all += k_field;
  all += where.topic;
  all += k_field;
  return all + std::to_string(static_cast<std::int32_t>(where.partition));
}

std::string located(std::string_view message, const topic_partition& where, std::int64_t offset) {
  return located(message, where) + k_field + std::to_string(offset);
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

std::string log_pace::held_back() const {
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
      if (shown) more = errors_.held_back();
    }
  }
  log_->log(shown ? spdlog::level::warn : spdlog::level::debug, "librdkafka: {}{}", text, more);
}

}  // namespace ratchet
