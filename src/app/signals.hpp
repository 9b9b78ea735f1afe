// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <atomic>
#include <csignal>
#include <string_view>

namespace ratchet {

/// While one lives, the first SIGINT or SIGTERM sets requested(), and the second ends the process at once
/// (exit code 69). The handlers of before come back with its end. At most one at a time in a process.
class stop_signals {
 public:
  /// `last_words` go to standard error before the second signal ends the process; they must not go away.
  explicit stop_signals(std::string_view last_words = {});
  ~stop_signals();
  stop_signals(const stop_signals&) = delete;
  stop_signals& operator=(const stop_signals&) = delete;
  stop_signals(stop_signals&&) = delete;
  stop_signals& operator=(stop_signals&&) = delete;

  [[nodiscard]] const std::atomic<bool>& requested() const noexcept;

 private:
  struct sigaction interrupt_before_ {};
  struct sigaction terminate_before_ {};
};

/// While it lives, threads that are started take no signals: those are for the program's own threads.
class signals_blocked {
 public:
  signals_blocked() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace ratchet
