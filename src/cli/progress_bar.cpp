// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "cli/progress_bar.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace ratchet::cli {
namespace {

constexpr auto k_redraw = std::chrono::milliseconds{100};
constexpr auto k_plain_line = std::chrono::seconds{5};
constexpr std::uint64_t k_width = 30;  // cells between the brackets

}  // namespace

bool is_terminal() {
  const char* term = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && term != nullptr && std::string_view{term} != "dumb";
}

bool wants_color() {
  const char* no_color = std::getenv("NO_COLOR");  // https://no-color.org: set and not empty
  return is_terminal() && (no_color == nullptr || *no_color == '\0');
}

progress_bar::progress_bar(std::string label, std::uint64_t total, std::string what)
    : label_{std::move(label)},
      total_{std::max<std::uint64_t>(total, 1)},
      what_{std::move(what)},
      terminal_{is_terminal()},
      next_draw_{std::chrono::steady_clock::now() +
                 (terminal_ ? std::chrono::milliseconds{0} : k_plain_line)} {}

progress_bar::~progress_bar() {
  clear();
}

void progress_bar::update(std::uint64_t done, const std::string& note) {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_draw_) return;
  next_draw_ = now + (terminal_ ? k_redraw : std::chrono::milliseconds{k_plain_line});
  draw(std::min(done, total_), note);
}

void progress_bar::say(const std::string& line) {
  clear();
  std::fprintf(stderr, "%s\n", line.c_str());
}

void progress_bar::draw(std::uint64_t done, const std::string& note) {
  const auto percent = static_cast<unsigned>(done * 100 / total_);
  auto figures = std::to_string(done) + " of " + std::to_string(total_) + " " + what_;
  if (!note.empty()) figures += ", " + note;
  if (!terminal_) {
    std::fprintf(stderr, "%s: %s (%u %%)\n", label_.c_str(), figures.c_str(), percent);
    return;
  }
  const auto full = static_cast<std::size_t>(done * k_width / total_);
  auto bar = std::string(full, '#');
  if (wants_color()) bar = "\033[32m" + bar + "\033[0m";
  bar += std::string(k_width - full, '.');
  // "\033[K" clears what a longer line before left behind.
  std::fprintf(stderr, "\r%s [%s] %3u %% %s\033[K", label_.c_str(), bar.c_str(), percent, figures.c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void progress_bar::clear() {
  if (std::exchange(drawn_, false)) std::fprintf(stderr, "\r\033[K");
}

}  // namespace ratchet::cli
