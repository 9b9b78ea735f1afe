// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace ratchet::cli {

/// True where standard error is a terminal that can redraw a line.
[[nodiscard]] bool is_terminal();
/// True where colours are wanted: at such a terminal, and NO_COLOR is not set.
[[nodiscard]] bool wants_color();

/// How far long work has come, on standard error. At a terminal one line that is redrawn; in a pipe a plain
/// line every few seconds, so that logs stay short. Thread-safety: one thread.
class progress_bar {
 public:
  /// `what` is what is counted, as in "records". total > 0.
  progress_bar(std::string label, std::uint64_t total, std::string what);
  ~progress_bar();  ///< clears the line, so that what follows starts on an empty one
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;

  /// Cheap: looks at the clock, and mostly returns. `note` stands behind the figures.
  void update(std::uint64_t done, const std::string& note = {});
  /// Clears the bar and prints a line that stays; the bar comes back with the next update.
  void say(const std::string& line);

 private:
  void draw(std::uint64_t done, const std::string& note);
  void clear();

  std::string label_;
  std::uint64_t total_;
  std::string what_;
  bool terminal_;
  bool drawn_{false};
  std::chrono::steady_clock::time_point next_draw_;
};

}  // namespace ratchet::cli
