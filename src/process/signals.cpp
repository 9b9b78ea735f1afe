// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "process/signals.hpp"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <mutex>

#include "ratchet/error.hpp"

namespace ratchet {

namespace {

// A signal handler can only reach what is static.
std::atomic<bool> requested_stop{false};
static_assert(std::atomic<bool>::is_always_lock_free);
constexpr int k_exit_aborted = 69;  // exit_code(errc::aborted), which a handler may not call

std::string_view words_at_abort;  // written while no handler of ours is set
constexpr std::size_t k_most_words = 512;
constexpr std::string_view k_time_to_fill = "0000-00-00T00:00:00.000Z";

void write_digits(char* end, unsigned number, unsigned digits) noexcept {
  for (; digits > 0; --digits, number /= 10) *--end = static_cast<char>('0' + number % 10);
}

/// The time in UTC over the zeros at `at`, if there are some. A handler may call nothing that allocates.
void write_time(char* words, std::size_t at) noexcept {
  if (at == std::string_view::npos) return;
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const std::chrono::sys_seconds second{std::chrono::seconds{now.tv_sec}};
  const auto day = std::chrono::floor<std::chrono::days>(second);
  const std::chrono::year_month_day date{day};
  const auto of_day = static_cast<unsigned>((second - day).count());
  char* const time = words + at;
  write_digits(time + 4, static_cast<unsigned>(static_cast<int>(date.year())), 4);
  write_digits(time + 7, static_cast<unsigned>(date.month()), 2);
  write_digits(time + 10, static_cast<unsigned>(date.day()), 2);
  write_digits(time + 13, of_day / 3600, 2);
  write_digits(time + 16, of_day / 60 % 60, 2);
  write_digits(time + 19, of_day % 60, 2);
  write_digits(time + 23, static_cast<unsigned>(now.tv_nsec / 1'000'000), 3);
}

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
  std::array<char, k_most_words> words{};
  const std::size_t size = words_at_abort.copy(words.data(), words.size());
  write_time(words.data(), words_at_abort.substr(0, size).find(k_time_to_fill));
  static_cast<void>(!::write(STDERR_FILENO, words.data(), size));
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
