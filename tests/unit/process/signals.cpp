// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "process/signals.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>

namespace ratchet {
namespace {

TEST(stop_signals, ask_at_first_and_end_the_process_with_a_word_at_the_second) {
  EXPECT_EXIT(
      {
        const stop_signals signals{"aborted\n"};
        std::raise(SIGINT);
        if (signals.requested()) std::raise(SIGTERM);
      },
      ::testing::ExitedWithCode(69), "^aborted\n$");
}

TEST(stop_signals, say_nothing_where_no_word_was_given) {
  EXPECT_EXIT(
      {
        const stop_signals signals;
        std::raise(SIGTERM);
        std::raise(SIGTERM);
      },
      ::testing::ExitedWithCode(69), "^$");
}

TEST(stop_signals, are_of_all_that_live_and_give_the_handlers_back_with_the_last) {
  static std::atomic<int> before{0};
  const auto previous = std::signal(SIGTERM, [](int) { ++before; });
  {
    const stop_signals first;
    {
      const stop_signals second;
      EXPECT_FALSE(first.requested());
      std::raise(SIGTERM);
      EXPECT_TRUE(first.requested());
      EXPECT_TRUE(second.requested());
    }
    const stop_signals late;
    EXPECT_TRUE(late.requested()) << "the signal came while another one lived";
    EXPECT_EQ(before, 0);
  }
  std::raise(SIGTERM);
  EXPECT_EQ(before, 1) << "the program's own handler is back";
  const stop_signals anew;
  EXPECT_FALSE(anew.requested());
  std::signal(SIGTERM, previous);
}

TEST(stop_signals, ask_first_and_leave_the_handlers_as_they_were) {
  struct sigaction before {};
  ::sigaction(SIGTERM, nullptr, &before);
  {
    const stop_signals signals;
    EXPECT_FALSE(signals.requested());
    ::raise(SIGTERM);
    EXPECT_TRUE(signals.requested());
  }
  struct sigaction after {};
  ::sigaction(SIGTERM, nullptr, &after);
  EXPECT_EQ(after.sa_handler, before.sa_handler);
  const stop_signals again;
  EXPECT_FALSE(again.requested()) << "each life asks anew";
}

TEST(stop_signals_death, end_the_process_at_the_second) {
  EXPECT_EXIT(
      {
        const stop_signals signals;
        ::raise(SIGINT);
        ::raise(SIGTERM);
      },
      ::testing::ExitedWithCode(69), "");
}

}  // namespace
}  // namespace ratchet
