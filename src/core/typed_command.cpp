// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/typed_command.hpp"

#include <algorithm>
#include <utility>

namespace ratchet {

namespace {

std::string& command_source() {
  static std::string source;
  return source;
}

constexpr bool is_plain(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view{"_-./:=,+@%"}.find(c) != std::string_view::npos;
}

}  // namespace

std::string typed_command(std::string_view command, std::string_view rest) {
  std::string text = "`ratchet " + std::string{command};
  for (const std::string_view part : {std::string_view{command_source()}, rest}) {
    if (!part.empty()) text.append(" ").append(part);
  }
  return text + "`";
}

void set_command_source(std::string source) {
  command_source() = std::move(source);
}

std::string shell_word(std::string_view word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return std::string{word};
  std::string quoted = "'";
  for (const char c : word) c == '\'' ? quoted += "'\\''" : quoted += c;
  return quoted + "'";
}

}  // namespace ratchet
