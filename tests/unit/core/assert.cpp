// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/assert.hpp"

#include <gtest/gtest.h>

namespace ratchet {
namespace {

int looked = 0;

bool look(bool holds) {
  ++looked;
  return holds;
}

TEST(an_assertion, that_holds_does_nothing) {
  looked = 0;
  RATCHET_ASSERT(look(true));
  EXPECT_EQ(looked, 1) << "also in a release build";
}

TEST(an_assertion, that_does_not_hold_ends_the_process_and_says_where) {
  EXPECT_DEATH(RATCHET_ASSERT(look(false) || 1 == 2),
               "internal error, please report it: `look\\(false\\) \\|\\| 1 == 2` does not hold "
               "\\(.*assert.cpp:[0-9]+\\)");
}

}  // namespace
}  // namespace ratchet
