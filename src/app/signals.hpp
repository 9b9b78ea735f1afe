// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <csignal>

namespace ratchet {

/// While one lives, the first SIGINT or SIGTERM sets requested(), and the second ends the process at once
/// (exit code 69). The handlers of before come back with its end. At most one at a time in a process.
class stop_signals {
 public:
  stop_signals();
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

}  // namespace ratchet
