// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// How a reducer is tested: no Kafka, no thread, no clock.
#include <gtest/gtest.h>

#include <ratchet/ratchet.hpp>

#include "payment_view.hpp"
#include "payments_by_customer.hpp"

using ratchet::ev;

TEST(payment_view, discards_an_older_status) {
  ratchet::test_driver t{{.order = ratchet::order::latest}, payment_view{}};
  EXPECT_EQ(t.pipe(ev("p1", 2, "paid")), ratchet::verdict::applied);
  EXPECT_EQ(t.pipe(ev("p1", 1, "queued")), ratchet::verdict::stale);
  t.crash_and_reopen();
  EXPECT_EQ(t.read("p1")->sequence, ratchet::seq(2));
}

TEST(payments_by_customer, follows_a_payment_to_another_customer) {
  ratchet::test_driver t{{.order = ratchet::order::strict}, payments_by_customer{}};
  t.pipe(ev("p1", 1, "made", R"({"customer":"c-7"})"));
  t.pipe(ev("p2", 1, "made", R"({"customer":"c-7"})"));
  EXPECT_EQ(t.table("by-customer").size(), 2U);
  t.pipe(ev("p1", 2, "moved", R"({"customer":"c-8"})"));
  EXPECT_FALSE(t.read(ratchet::table_key{"by-customer", "c-7/p1"}));
  EXPECT_EQ(t.read(ratchet::table_key{"by-customer", "c-8/p1"}), R"({"customer":"c-8"})");
  t.crash_and_reopen();
  EXPECT_EQ(t.table("by-customer").size(), 2U);
}
