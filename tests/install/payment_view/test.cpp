// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// How a reducer is tested: no Kafka, no thread, no clock.
#include <gtest/gtest.h>

#include <ratchet/ratchet.hpp>

#include "payment_view.hpp"

using ratchet::ev;

TEST(payment_view, discards_an_older_status) {
  ratchet::test_driver t{{.order = ratchet::order::latest}, payment_view{}};
  EXPECT_EQ(t.pipe(ev("p1", 2, "paid")), ratchet::verdict::applied);
  EXPECT_EQ(t.pipe(ev("p1", 1, "queued")), ratchet::verdict::stale);
  t.crash_and_reopen();
  EXPECT_EQ(t.read("p1")->sequence, ratchet::seq(2));
}
