// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Transactions in a test_driver.
#include <gtest/gtest.h>

#include "ratchet/test_driver.hpp"

namespace ratchet {
namespace {

struct keeping {
  static constexpr reducer_traits traits{.name = "keeping"};
  outcome apply(const event& e, state& s, effects&) const {
    s.assign(std::string{s.value()} + std::string{e.payload});
    return done();
  }
};

outcome add_x(state& s, effects& fx) {
  s.assign(std::string{s.value()} + "x");
  fx.publish({.topic = "out", .payload = s.value()});
  fx.reply(s.value());
  return done();
}

TEST(test_driver_transactions, go_through_the_real_step) {
  test_driver t{{.order = order::arrival, .opaque_ids = true}, keeping{}};
  const auto first = t.transact("p1", "key", add_x);
  EXPECT_FALSE(first.code);
  EXPECT_EQ(first.reply, "x");
  EXPECT_TRUE(t.transact("p1", "key", add_x).repeated);
  EXPECT_EQ(t.pipe(ev("p1", 0, "paid", "e")), verdict::applied);
  EXPECT_EQ(t.transact("p1", "other", add_x).sequence, seq(3));
  EXPECT_EQ(t.read("p1")->value, "xex");
  EXPECT_EQ(t.published().size(), 2U);
  EXPECT_EQ(t.transact("p1", "no", [](state&, effects&) { return give_up(make_error_code(errc::io)); }).code,
            make_error_code(errc::io));
  EXPECT_EQ(t.count(verdict::applied), 3U);
}

TEST(test_driver_transactions, that_were_not_synced_are_lost_in_a_crash_and_done_again_by_their_key) {
  test_driver t{{.order = order::arrival, .opaque_ids = true}, keeping{}};
  (void)t.transact("p1", "kept", add_x);
  t.sync();
  (void)t.transact("p1", "lost", add_x);
  t.crash_and_reopen();
  EXPECT_EQ(t.read("p1")->value, "x");
  EXPECT_TRUE(t.transact("p1", "kept", add_x).repeated);
  EXPECT_FALSE(t.transact("p1", "lost", add_x).repeated);
  EXPECT_EQ(t.read("p1")->value, "xx");
}

TEST(test_driver_transactions, want_arrival_order_and_opaque_ids) {
  const auto usage = make_error_code(errc::usage);
  EXPECT_EQ(
      (test_driver{{.order = order::latest, .opaque_ids = true}, keeping{}}.transact("p", "k", add_x).code),
      usage);
  EXPECT_EQ((test_driver{{.order = order::arrival}, keeping{}}.transact("p", "k", add_x).code), usage);
}

}  // namespace
}  // namespace ratchet
