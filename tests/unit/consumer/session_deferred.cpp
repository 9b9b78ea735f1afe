// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// `handling: deferred`: what a slow reducer does to reading, and what a restart finds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

/// Adds up payloads, and takes its time.
struct slow {
  static constexpr reducer_traits traits{.name = "slow", .version = 1};
  std::shared_ptr<std::function<void()>> takes = std::make_shared<std::function<void()>>();

  outcome apply(const ratchet::event& e, state& s, effects&) const {
    if (*takes) (*takes)();
    s.assign(std::string{s.value()} + "," + std::string{e.payload});
    return done();
  }
};

stream_config deferring(waiting_config waiting = {}) {
  stream_config s = payments();
  s.order = order::strict;
  s.handling = handling::deferred;
  s.waiting = waiting;
  return s;
}

class session_that_defers : public ::testing::Test {
 protected:
  void begin(waiting_config waiting, milliseconds each) {
    slow reduce;
    world_ =
        std::make_unique<session_world>(std::vector{deferring(waiting)}, reducers{}.add("payments", reduce));
    *reduce.takes = [this, each] { world_->clock.advance(each); };
    world_->source.logs[k_p0] = {};
    world_->source.held_at_join = {k_p0};
    world_->source.at_end = [] {};  // it may go on behind the last record
  }
  void produce(int from, int to) {
    for (int n = from; n <= to; ++n)
      world_->source.produce(k_p0, event("p" + std::to_string(n % 3), 1 + n / 3));
  }
  void expect_all_applied(std::uint64_t count) const {
    EXPECT_EQ(world_->counted().applied, count);
    EXPECT_EQ(world_->counted().waiting(), 0U);
    EXPECT_EQ(world_->state_of(k_p0).next_offset, static_cast<std::int64_t>(count));
    EXPECT_FALSE(world_->stop_of(k_p0));
  }

  std::unique_ptr<session_world> world_;
};

TEST_F(session_that_defers, ends_at_the_end_when_all_is_handled) {
  begin({}, milliseconds{0});
  produce(0, 29);
  ASSERT_EQ(world_->run_until_end().end, session_end::caught_up);
  expect_all_applied(30);
  EXPECT_EQ(world_->store.snapshot_of("payments", "p0"), ",1,2,3,4,5,6,7,8,9,10");
  EXPECT_EQ(world_->source.logs[k_p0].committed, 30);
}

TEST_F(session_that_defers, reads_and_commits_on_while_the_reducer_is_slow) {
  begin({}, milliseconds{200});
  produce(0, 59);
  std::uint64_t applied_when_read = 60;
  std::int64_t committed_before_the_end = 0;
  world_->source.on_poll = [&](int) {
    const counters now = world_->counted();
    if (now.consumed == 60) applied_when_read = std::min(applied_when_read, now.applied);
    if (now.applied < 50) committed_before_the_end = world_->source.logs[k_p0].committed.value_or(0);
  };
  ASSERT_EQ(world_->run_until_end().end, session_end::caught_up);
  EXPECT_LT(applied_when_read, 30U);
  EXPECT_EQ(committed_before_the_end, 60) << "what waits is durable";
  expect_all_applied(60);
}

TEST_F(session_that_defers, reads_on_also_where_one_aggregate_has_all_events) {
  begin({}, milliseconds{200});
  for (int n = 1; n <= 60; ++n) world_->source.produce(k_p0, event("p", n));
  std::uint64_t before = 0;
  std::uint64_t most_at_once = 0;
  world_->source.on_poll = [&](int) {
    const std::uint64_t applied = world_->counted().applied;
    most_at_once = std::max(most_at_once, applied - std::exchange(before, applied));
  };
  ASSERT_EQ(world_->run_until_end().end, session_end::caught_up);
  EXPECT_LE(most_at_once, 16U) << "the first step cannot know how slow it is, and no later one is longer";
  expect_all_applied(60);
}

TEST_F(session_that_defers, pauses_where_nearly_as_many_wait_as_may_and_goes_on) {
  begin({.per_aggregate = 100, .events = 40}, milliseconds{60});
  produce(0, 119);
  world_->source.most_per_poll = 5;
  bool was_paused = false;
  std::uint64_t most = 0;
  world_->source.on_poll = [&](int) {
    was_paused = was_paused || world_->source.is_paused(k_p0);
    most = std::max(most, world_->counted().waiting());
  };
  ASSERT_EQ(world_->run_until_end().end, session_end::caught_up);
  EXPECT_TRUE(was_paused);
  EXPECT_FALSE(world_->source.is_paused(k_p0));
  EXPECT_LE(most, 40U);
  EXPECT_GT(most, 30U);
  EXPECT_THAT(world_->logged(), HasSubstr("nearly as many as `waiting` allows"));
  EXPECT_THAT(world_->logged(), HasSubstr("reading goes on"));
  expect_all_applied(120);
}

TEST_F(session_that_defers, makes_room_where_a_batch_holds_more_than_may_wait) {
  begin({.per_aggregate = 3, .events = 3}, milliseconds{60});
  produce(0, 59);
  world_->source.most_per_poll = 20;
  ASSERT_EQ(world_->run_until_end().end, session_end::caught_up);
  expect_all_applied(60);
}

TEST_F(session_that_defers, stops_where_no_room_can_be_made) {
  begin({.per_aggregate = 3, .events = 3}, milliseconds{0});
  for (int n = 2; n <= 6; ++n) world_->source.produce(k_p0, event("p", n));  // 1 is missing
  ASSERT_EQ(world_->run_until_end().end, session_end::caught_up);
  EXPECT_EQ(world_->state_of(k_p0).next_offset, 3);
  ASSERT_TRUE(world_->stop_of(k_p0));
  EXPECT_THAT(*world_->stop_of(k_p0), HasSubstr("`waiting` of the config allows"));
}

TEST_F(session_that_defers, handles_after_a_crash_what_was_durable_and_not_handled) {
  begin({}, milliseconds{100});
  produce(0, 29);
  world_->source.on_poll = [&](int) {
    if (world_->source.logs[k_p0].committed == 30) world_->stop = true;
  };
  ASSERT_EQ(world_->run().end, session_end::drained);
  ASSERT_GT(world_->counted().waiting(), 5U);
  world_->power_cut();
  world_->stop = false;
  world_->source.on_poll = {};
  ASSERT_EQ(world_->run_until_end().end, session_end::caught_up);
  expect_all_applied(30);
  EXPECT_EQ(world_->store.snapshot_of("payments", "p0"), ",1,2,3,4,5,6,7,8,9,10");
}

}  // namespace
}  // namespace ratchet::testing
