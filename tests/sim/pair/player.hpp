// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

namespace ratchet::pair_sim {

/// Code that waits inside of its calls, played slice by slice: it runs only within go_on(). So any number of
/// players make one order of calls, and a seed is one history. Each has a stack of its own, on the thread of
/// whoever plays it; under sanitizers, which follow threads and not stacks, each has a thread.
class player {
 public:
  /// `play` must not throw, nor pause while an exception is under way. It begins with the first go_on().
  explicit player(std::function<void()> play);
  /// It must be over.
  ~player();
  player(const player&) = delete;
  player& operator=(const player&) = delete;

  /// Lets it play up to its next pause(), or to its end.
  void go_on();
  /// From within `play`: ends the slice.
  void pause();
  [[nodiscard]] bool is_over() const { return is_over_; }

 private:
  struct stack;
  std::function<void()> play_;
  bool is_over_{false};
  std::unique_ptr<stack> stack_;
};

}  // namespace ratchet::pair_sim
