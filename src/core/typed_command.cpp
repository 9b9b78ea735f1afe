// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/typed_command.hpp"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>

#include "core/program_command_source.hpp"

namespace ratchet {

namespace {

struct command_source {
  std::mutex mutex;
  std::string text;
  std::filesystem::path of_program;  ///< the state directory that the text names
  bool has_several{false};           ///< the program has another one, too
};

command_source& the_source() {
  static command_source source;
  return source;
}

[[nodiscard]] std::string source_for(std::string_view command) {
  command_source& known = the_source();
  const std::lock_guard lock{known.mutex};
  const bool needs_config =
      command == "run" || command == "apply" || command == "topics" || command == "handover";
  if (known.has_several || (needs_config && !known.of_program.empty())) return {};
  return known.text;
}

constexpr bool is_plain(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view{"_-./:=,+@%"}.find(c) != std::string_view::npos;
}

}  // namespace

std::string typed_command(std::string_view command, std::string_view rest) {
  std::string text = "`ratchet " + std::string{command};
  const std::string source = source_for(command);
  for (const std::string_view part : {std::string_view{source}, rest}) {
    if (!part.empty()) text.append(" ").append(part);
  }
  return text + "`";
}

void set_command_source(std::string source) {
  command_source& known = the_source();
  const std::lock_guard lock{known.mutex};
  known.text = std::move(source);
  known.of_program.clear();
  known.has_several = false;
}

void set_command_source_of_program(const std::filesystem::path& state) {
  std::error_code failed;
  auto full = std::filesystem::absolute(state, failed);
  if (failed) full = state;
  command_source& known = the_source();
  const std::lock_guard lock{known.mutex};
  if (known.of_program.empty() && !known.text.empty()) return;  // somebody has typed a command
  known.has_several = known.has_several || (!known.of_program.empty() && known.of_program != full);
  known.text = "--state " + shell_word(full.string());
  known.of_program = std::move(full);
}

std::string shell_word(std::string_view word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return std::string{word};
  std::string quoted = "'";
  for (const char c : word) c == '\'' ? quoted += "'\\''" : quoted += c;
  return quoted + "'";
}

}  // namespace ratchet
