// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "text/program_text.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace ratchet {

std::string as_program_text(std::string text) {
  constexpr std::string_view k_typed = "--resume ";
  for (std::size_t at = text.find(k_typed); at != std::string::npos; at = text.find(k_typed, at)) {
    const std::size_t word = at + k_typed.size();
    std::size_t end = std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz", word), text.size());
    const auto option = resume_option_of(std::string_view{text}.substr(word, end - word));
    if (!option || *option == resume_option::none) {
      at = word;
      continue;
    }
    // In backticks the whole of what would be typed gives way.
    std::size_t begin = at;
    const bool is_quoted =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '`') % 2 == 1;
    if (is_quoted && end < text.size() && text[end] == '`') {
      begin = text.rfind('`', at);
      ++end;
    }
    const std::string named = std::string{"`resume_option::"} + name_of(*option) + "`";
    text.replace(begin, end - begin, named);
    at = begin + named.size();
  }
  return text;
}

std::vector<question> as_program_text(std::vector<question> asked) {
  for (question& q : asked) {
    q.message = as_program_text(std::move(q.message));
    q.hint = as_program_text(std::move(q.hint));
  }
  return asked;
}

problem as_program_text(problem p) {
  p.message = as_program_text(std::move(p.message));
  p.hint = as_program_text(std::move(p.hint));
  for (diagnostic& d : p.diagnostics) {
    d.message = as_program_text(std::move(d.message));
    d.hint = as_program_text(std::move(d.hint));
  }
  p.questions = as_program_text(std::move(p.questions));
  return p;
}

}  // namespace ratchet
