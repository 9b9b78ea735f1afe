// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// A clock that cannot be right is told of, and decides nothing.
#include "consumer/clock_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const topic_partition k_where{"t", partition_id{0}};

/// With a skew of five minutes.
stream_list one_stream() {
  config c;
  c.streams = {payments()};
  c.streams[0].dedup.max_skew = 5min;
  auto made = make_streams(c, {});
  return std::move(*made);
}

timestamp at_hour(int hour) {
  return timestamp{std::chrono::milliseconds{1'700'000'000'000}} + std::chrono::hours{hour};
}

std::vector<record> records_at(std::initializer_list<int> hours) {
  std::vector<record> all;
  for (const int hour : hours) {
    record r;
    r.where = &k_where;
    r.time = at_hour(hour);
    all.push_back(r);
  }
  return all;
}

TEST(a_clock_watch, tells_of_a_clock_that_is_before_what_the_state_has_seen) {
  const stream_list streams = one_stream();
  const task_list tasks = make_tasks(streams);
  tasks[0]->state.partitions[k_where].highest_time = at_hour(0);
  const clock_watch watch{tasks};
  EXPECT_EQ(watch.fault(at_hour(0)), std::nullopt);
  EXPECT_EQ(watch.fault(at_hour(0) - 6min), std::nullopt) << "the skew, and a minute";
  EXPECT_THAT(watch.fault(at_hour(0) - 7min).value_or(""), HasSubstr("7m before 2023-11-14T22:13:20.000Z"));
  EXPECT_THAT(watch.fault(at_hour(-24 * 365)).value_or(""),
              AllOf(HasSubstr("is at 2022-11-14T22:13:20.000Z, 365d before 2023-11-14T22:13:20.000Z"),
                    HasSubstr("set the clock")));
  EXPECT_EQ(watch.fault(at_hour(24 * 365)), std::nullopt) << "an outage of a year is no fault of the clock";
}

TEST(a_clock_watch, tells_of_a_clock_that_is_before_every_record_that_comes) {
  const stream_list streams = one_stream();
  const task_list tasks = make_tasks(streams);
  clock_watch watch{tasks};
  watch.look_at(records_at({50, 70}), at_hour(0));
  EXPECT_THAT(watch.fault(at_hour(0)).value_or(""), HasSubstr("every new record is at least 2d later"));
  EXPECT_EQ(watch.fault(at_hour(50)), std::nullopt) << "the clock was set";
  watch.look_at(records_at({50, 0}), at_hour(0));
  EXPECT_EQ(watch.fault(at_hour(0)), std::nullopt) << "one of now: the others are their producers' fault";
  watch.look_at(records_at({}), at_hour(0));
  EXPECT_EQ(watch.fault(at_hour(0)), std::nullopt);
}

TEST(session_clock, that_is_years_behind_is_told_and_neither_the_state_nor_the_floor_suffers) {
  session_world w;
  const timestamp real = w.clock.now() + std::chrono::hours{24 * 365 * 3};
  w.source.produce(k_where, event("a", 1), real);
  w.source.produce(k_where, event("a", 2), real + 1s);
  std::string reason;
  w.source.script = {[&] { w.clock.advance(2s); }, [&] { reason = w.status.snapshot().ready_reason; }};
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_THAT(reason, AllOf(HasSubstr("every new record is at least"), HasSubstr("set the clock")));
  EXPECT_EQ(w.counted().consumed, 2U);
  EXPECT_EQ(w.counted().rejected(), 0U);
}

TEST(session_clock, that_is_right_is_no_news) {
  session_world w;
  w.source.produce(k_where, event("a", 1), w.clock.now() + 1min);
  std::string reason;
  w.source.script = {[&] { w.clock.advance(2s); }, [&] { reason = w.status.snapshot().ready_reason; }};
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_THAT(reason, Not(HasSubstr("clock")));
}

}  // namespace
}  // namespace ratchet::testing
