// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/durability.hpp"

#include <gtest/gtest.h>

#include "support/control_fake_store.hpp"

namespace ratchet::testing {
namespace {

using namespace std::chrono_literals;

constexpr auto k_interval = 100ms;

struct syncs : ::testing::Test {
  fake_store store;  ///< whose sync() fails
  durability::time_point now{};
  durability of{store, k_interval, now};
  int asked() const { return store.syncs_requested.load(); }
};

TEST_F(syncs, are_asked_for_once_an_interval_while_something_is_not_covered) {
  store.sync_works = false;
  store.written = 2;
  ASSERT_TRUE(of.turn(now + 99ms));
  EXPECT_EQ(asked(), 0);
  ASSERT_TRUE(of.turn(now + 100ms));
  ASSERT_TRUE(of.turn(now + 199ms));
  EXPECT_EQ(asked(), 1);
  store.durable = 2;
  ASSERT_TRUE(of.turn(now + 300ms));
  EXPECT_EQ(asked(), 1) << "all is covered";
}

TEST_F(syncs, that_bring_nothing_are_waited_for_in_the_end) {
  store.sync_works = false;
  ASSERT_TRUE(of.turn(now + 1s));
  EXPECT_EQ(of.moved_at(), now + 1s) << "all is covered";
  store.written = 2;
  ASSERT_TRUE(of.turn(now + 10s));
  EXPECT_EQ(of.moved_at(), now + 1s);
  EXPECT_FALSE(of.turn(now + 11s)) << "its error is told";
}

TEST_F(syncs, that_bring_something_are_not_waited_for) {
  store.sync_works = false;
  for (int second = 1; second < 60; ++second) {
    store.written = static_cast<std::uint64_t>(second) + 1;
    store.durable = static_cast<std::uint64_t>(second);
    ASSERT_TRUE(of.turn(now + std::chrono::seconds{second}));
  }
  EXPECT_EQ(of.covered(), 59U);
  EXPECT_EQ(of.moved_at(), now + 59s);
}

}  // namespace
}  // namespace ratchet::testing
