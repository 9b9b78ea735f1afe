// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <csignal>

#include "app/signals.hpp"

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

}  // namespace
}  // namespace ratchet
