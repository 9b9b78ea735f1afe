// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What a session does before a transaction that is open: brokers give out nothing behind its first record.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "consumer/open_transactions.hpp"
#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

/// Of five records in t/0 two are read; the third one is of a transaction that is open.
struct held_back : ::testing::Test {
  held_back() {
    w.source.tells_known_ends = true;
    w.produce(k_p0, 1, 5);
    w.source.logs[k_p0].open_at = 2;
  }
  void then(std::function<void()> what) { w.source.script.push_back(std::move(what)); }
  void wait(int steps) {
    for (int i = 0; i < steps; ++i) then([] {});
  }
  live_partition live(const topic_partition& where = k_p0) const {
    return w.status.snapshot().streams.at("payments").at(where);
  }

  floors w;
};

TEST_F(held_back, records_count_for_the_lag_and_are_told_once) {
  then([this] {
    EXPECT_EQ(w.state_of(k_p0).next_offset, 2);
    EXPECT_EQ(live().log_end, 5) << "the high watermark";
  });
  wait(20);
  then([this] {
    EXPECT_EQ(live().held_back, 2);
    EXPECT_EQ(w.logged("t/0: the transaction that began at offset 2 is open, and holds back [2, 5)"), 1U);
    EXPECT_TRUE(w.status.snapshot().ready) << "no fault of this instance";
    w.clock.advance(seconds{30});
  });
  wait(3);
  then([this] { w.source.end_transaction(k_p0); });
  wait(6);
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(w.counted().consumed, 5U);
  EXPECT_EQ(live().held_back, std::nullopt);
  EXPECT_EQ(w.logged("is open, and holds back"), 1U);
}

TEST_F(held_back, records_of_moments_are_not_asked_about) {
  wait(1);
  then([this] { w.source.end_transaction(k_p0); });
  then([this] {
    w.source.asked.clear();
    EXPECT_EQ(live().held_back, std::nullopt);
  });
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_FALSE(w.source.asked.contains(k_p0));
  EXPECT_EQ(w.logged("holds back"), 0U);
}

TEST_F(held_back, records_that_only_come_late_are_no_transaction) {
  w.source.logs[k_p0].open_at.reset();
  then([this] {
    w.source.slow = {k_p0};  // its broker gives out what others have
    w.produce(k_p0, 6, 7);
  });
  wait(30);
  then([this] {
    EXPECT_EQ(live().held_back, std::nullopt);
    EXPECT_EQ(live().log_end, 7);
    w.source.slow.clear();
  });
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(w.logged("holds back"), 0U);
}

TEST_F(held_back, records_are_waited_for_by_a_run_to_the_end) {
  wait(3);
  then([this] { w.clock.advance(minutes{10}); });
  wait(3);
  then([this] {
    EXPECT_EQ(w.counted().consumed, 2U);
    w.source.end_transaction(k_p0);
  });
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.counted().consumed, 5U) << "all that was there at the start";
  EXPECT_FALSE(w.stop_of(k_p0));
}

TEST_F(held_back, records_that_come_behind_the_start_do_not_prolong_a_run_to_the_end) {
  w.source.logs[k_p0].open_at.reset();
  bool is_first = true;
  w.source.on_poll = [&](int) {
    if (w.counted().consumed == 0 || !std::exchange(is_first, false)) return;
    w.produce(k_p0, 6, 7);
    w.source.logs[k_p0].open_at = 5;
  };
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.counted().consumed, 5U);
}

TEST_F(held_back, records_end_a_run_to_the_end_by_a_stop_once_brokers_must_have_ended_any_transaction) {
  wait(20);
  then([this] { w.clock.advance(minutes{16}); });
  wait(10);
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up) << "a stopped partition counts as ended";
  const auto why = w.stop_of(k_p0);
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("holds back [2, 5), for 16 minutes"), std::string::npos) << *why;
  EXPECT_NE(why->find("find-hanging --topic t --partition 0"), std::string::npos) << *why;
  EXPECT_EQ(w.counted().consumed, 2U);
}

TEST_F(held_back, records_stop_no_partition_of_a_service) {
  wait(20);
  then([this] { w.clock.advance(minutes{60}); });
  wait(10);
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_FALSE(w.stop_of(k_p0));
  EXPECT_EQ(live().held_back, 2);
}

TEST_F(held_back, records_hold_the_floor_back_as_their_times_are_to_come) {
  w.source.produce(k_p1, event("b", 1), w.late);
  wait(10);
  then([this] { w.clock.advance(seconds{20}); });
  wait(10);
  then([this] { EXPECT_FALSE(w.state_of(k_p0).idle); });
  ASSERT_EQ(w.run().end, session_end::drained);
}

TEST_F(held_back, records_of_a_transaction_that_opens_later_bring_their_partition_back_to_the_floor) {
  fake_log& log = w.source.logs[k_p0];
  log.open_at.reset();
  w.source.produce(k_p1, event("b", 1), w.late);
  then([this] { w.clock.advance(seconds{11}); });
  wait(5);
  then([this, &log] {
    ASSERT_TRUE(w.state_of(k_p0).idle);
    log.open_at = log.end;
    w.source.slow = {k_p0};  // the end that was told stays the end
    w.source.produce(k_p0, event("a", 9), w.early);
  });
  wait(20);
  then([this] {
    EXPECT_EQ(live().held_back, 5);
    EXPECT_FALSE(w.state_of(k_p0).idle);
  });
  ASSERT_EQ(w.run().end, session_end::drained);
}

TEST_F(held_back, records_are_shown_of_the_partition_that_is_held_alone) {
  wait(20);
  then([this] { w.source.say(notice::revoked{{k_p0}, true}); });
  then([this] { EXPECT_EQ(live().held_back, std::nullopt) << "whoever holds it says so"; });
  ASSERT_EQ(w.run().end, session_end::drained);
}

TEST(open_transactions, begin_where_brokers_stop_before_the_end_that_they_had_before) {
  open_transactions open;
  const open_transactions::time_point now{seconds{100}};
  open.note(k_p0, {0, 5, 9}, 4, now);
  EXPECT_FALSE(open.has(k_p0)) << "there is more to read first";
  open.note(k_p0, {0, 5, 5}, 5, now);
  open.note(k_p0, {0, 5, 0}, 5, now);
  EXPECT_FALSE(open.has(k_p0)) << "nothing lies behind";
  open.note(k_p0, {0, 5, 9}, 5, now);
  ASSERT_TRUE(open.has(k_p0));
  open.all().at(k_p0).told = true;
  open.note(k_p0, {0, 5, 12}, 5, now + seconds{9});
  EXPECT_EQ(open.all().at(k_p0).high, 12);
  EXPECT_EQ(open.all().at(k_p0).since, now);
  EXPECT_TRUE(open.all().at(k_p0).told) << "the same one";
  open.note(k_p0, {0, 7, 12}, 7, now + seconds{10});
  EXPECT_EQ(open.all().at(k_p0).offset, 7);
  EXPECT_FALSE(open.all().at(k_p0).told) << "another one";
  open.note(k_p0, {0, 12, 12}, 12, now + seconds{11});
  EXPECT_FALSE(open.has(k_p0));
}

}  // namespace
}  // namespace ratchet::testing
