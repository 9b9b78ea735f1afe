// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "pipeline/posted_tasks.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

/// What a hand-over came to.
struct handed_over {
  std::string to;                     ///< the instance that owns the state now
  std::chrono::milliseconds took{0};  ///< from this instance's last step until the other one had the lead
  friend bool operator==(const handed_over&, const handed_over&) = default;
};

/// Between whoever asks that another instance gets the state of a replicated log, and the owner's thread,
/// which sees to it. One hand-over at a time. Thread-safety: ask() and post() on any thread, the rest on the
/// owner's.
class handover_desk {
 public:
  /// Waits until the hand-over has come to something, which it does within a minute; it goes on where who
  /// asked is gone. Errors: not_owner; no_standby; timed_out (given away, and nobody has it yet);
  /// source_unavailable (this instance still owns the state, or another hand-over is under way).
  [[nodiscard]] reported<handed_over> ask(const still_wanted&);

  /// Asks, and waits for nothing. False: another one is under way.
  [[nodiscard]] bool post();

  /// One was asked for, and was neither begun nor answered yet.
  [[nodiscard]] bool is_asked() const noexcept { return is_asked_.load(std::memory_order_relaxed); }
  /// It is under way until it is answered.
  void begin();
  /// What it came to. Does nothing where none was asked for.
  void answer(reported<handed_over>);

 private:
  struct asked {
    std::optional<reported<handed_over>> answer;
  };

  [[nodiscard]] std::shared_ptr<asked> put();  ///< with the lock held; null: another one is under way

  std::atomic<bool> is_asked_{false};
  std::mutex mutex_;
  std::condition_variable answered_;
  std::shared_ptr<asked> under_way_;  ///< guarded by mutex_; null: none
};

}  // namespace ratchet
