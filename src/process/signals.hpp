// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <atomic>
#include <csignal>
#include <string_view>

namespace ratchet {

/// While one lives, the first SIGINT or SIGTERM sets requested(), and the second ends the process at once
/// (exit code 69). Several may live: a signal is of all that do, also of one that begins behind it while
/// another still lives. The handlers of before come back with the end of the last. Any thread.
class stop_signals {
 public:
  /// `last_message` go to standard error before the second signal ends the process; they must not go away.
  /// Those of the first that lives count.
  explicit stop_signals(std::string_view last_message = {});
  ~stop_signals();
  stop_signals(const stop_signals&) = delete;
  stop_signals& operator=(const stop_signals&) = delete;
  stop_signals(stop_signals&&) = delete;
  stop_signals& operator=(stop_signals&&) = delete;

  [[nodiscard]] const std::atomic<bool>& requested() const noexcept;
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
