// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "process/signals.hpp"

#include <unistd.h>

#include <cstddef>
#include <mutex>

#include "ratchet/error.hpp"

namespace ratchet {

namespace {

// A signal handler can only reach what is static.
std::atomic<bool> requested_stop{false};
static_assert(std::atomic<bool>::is_always_lock_free);
constexpr int k_exit_aborted = 69;  // exit_code(errc::aborted), which a handler may not call

std::string_view words_at_abort;  // written while no handler of ours is set

/// How many stop_signals live, and what was there before the first of them.
struct handlers {
  std::mutex mutex;
  std::size_t users{0};
  struct sigaction interrupt_before {};
  struct sigaction terminate_before {};
};

handlers& installed() {
  static handlers all;
  return all;
}

void on_signal(int) {
  if (!requested_stop.exchange(true)) return;
  // Nobody is left who could hear that it failed.
  static_cast<void>(!::write(STDERR_FILENO, words_at_abort.data(), words_at_abort.size()));
  ::_exit(k_exit_aborted);
}

}  // namespace

stop_signals::stop_signals(std::string_view last_message) {
  handlers& all = installed();
  const std::scoped_lock lock{all.mutex};
  if (all.users++ > 0) return;
  requested_stop = false;
  words_at_abort = last_message;
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, &all.interrupt_before);
  ::sigaction(SIGTERM, &action, &all.terminate_before);
}

stop_signals::~stop_signals() {
  handlers& all = installed();
  const std::scoped_lock lock{all.mutex};
  if (--all.users > 0) return;
  ::sigaction(SIGINT, &all.interrupt_before, nullptr);
  ::sigaction(SIGTERM, &all.terminate_before, nullptr);
}

const std::atomic<bool>& stop_signals::requested() const noexcept {
  return requested_stop;
}

}  // namespace ratchet
