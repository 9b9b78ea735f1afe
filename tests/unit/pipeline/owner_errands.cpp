// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "pipeline/owner_errands.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "support/session_world.hpp"

namespace ratchet {
namespace {

using namespace testing;

/// Whoever asked would wait for ever, and with it the end of the run that joins its thread.
TEST(an_errand, that_throws_is_done_for_whoever_asked_and_ends_the_owners_turn) {
  session_world w;
  owner_errands errands;
  w.errands = &errands;
  w.source.logs[at("t", 0)] = {};
  errands.open();
  errand_end end = errand_end::closed;
  std::thread asker{[&] {
    end = errands.run([](owner_errands::access) { throw std::runtime_error{"no memory"}; },
                      std::chrono::seconds{60});
  }};
  w.source.at_end = [] {};  // it is the errand that ends the run
  EXPECT_THROW(w.run(), std::runtime_error);
  asker.join();
  EXPECT_EQ(end, errand_end::done);
  EXPECT_TRUE(errands.leave([](owner_errands::access) {})) << "the next one has its place";
}

}  // namespace
}  // namespace ratchet
