// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Events of a stream that defers all of them.
#include <gtest/gtest.h>

#include <vector>

#include "unit/core_print.hpp"
#include "unit/core_world.hpp"

namespace ratchet {
namespace {

using std::chrono::milliseconds;
using testing::at_ms;
using testing::folding;
using testing::spec;
using testing::verdicts_of;
using testing::world;
using verdicts = std::vector<verdict>;

world deferring(order o = order::strict) {
  world w{folding{}, o};
  w.rules.deferred = true;
  return w;
}

event_id id_of(std::uint64_t n) {
  return {n + 1'000'000'000ULL * 65'536, n};
}

TEST(deferred_events, wait_for_a_step_of_their_own) {
  world w = deferring();
  const auto change = w.step({{.sequence = seq(1), .payload = "a", .offset = 0},
                              {.sequence = seq(2), .payload = "b", .offset = 1},
                              {.aggregate = "z", .sequence = seq(1), .payload = "c", .offset = 2}});
  EXPECT_EQ(verdicts_of(change), (verdicts{verdict::parked, verdict::parked, verdict::parked}));
  EXPECT_EQ(w.partition(0).next_offset, 3) << "their records are handled";
  EXPECT_EQ(w.snapshot(), "?");
  EXPECT_EQ(w.state.counters.waiting_parked, 3U);
  EXPECT_TRUE(w.backlogs.at("a").ready);
  EXPECT_FALSE(w.backlogs.at("a").gap_since);
  w.resume();
  EXPECT_EQ(w.snapshot(), "a;b;");
  EXPECT_EQ(w.snapshot("z"), "c;");
  EXPECT_EQ(w.state.counters.applied, 3U);
  EXPECT_TRUE(w.backlogs.empty());
}

TEST(deferred_events, are_told_from_repeats_before_they_are_handled_and_after) {
  for (const order o : {order::strict, order::arrival}) {
    world w = deferring(o);
    const spec first{.sequence = seq(1), .id = id_of(1), .payload = "a", .offset = 0};
    spec again = first;
    w.step({first});
    again.offset = 1;
    EXPECT_EQ(verdicts_of(w.step({again})), verdicts{verdict::duplicate});
    w.resume();
    again.offset = 2;
    EXPECT_EQ(verdicts_of(w.step({again})), verdicts{verdict::duplicate});
    EXPECT_EQ(w.snapshot(), "a;");
  }
}

TEST(deferred_events, of_one_aggregate_are_handled_a_few_at_a_time_and_make_room_for_others) {
  world w = deferring(order::arrival);
  for (std::uint64_t n = 1; n <= 3; ++n)
    w.step({{.id = id_of(n), .payload = std::to_string(n), .offset = static_cast<std::int64_t>(n)}});
  EXPECT_EQ(w.backlogs.at("a").wake, w.now);
  w.most_queued = 1;
  for (const char* so_far : {"1;", "1;2;"}) {
    w.now += milliseconds{10};
    w.resume();
    EXPECT_EQ(w.snapshot(), so_far);
    EXPECT_TRUE(w.backlogs.at("a").ready);
    EXPECT_EQ(w.backlogs.at("a").wake, w.now) << "behind those that came first";
  }
  w.resume();
  EXPECT_EQ(w.snapshot(), "1;2;3;");
  EXPECT_TRUE(w.backlogs.empty());
}

TEST(deferred_events, wait_behind_one_that_fails) {
  world w = deferring(order::arrival);
  w.step({{.id = id_of(1), .payload = "?1", .offset = 0}, {.id = id_of(2), .payload = "b", .offset = 1}});
  w.resume();
  EXPECT_EQ(w.state.counters.waiting_retrying, 1U);
  EXPECT_EQ(w.state.counters.waiting_parked, 1U);
  EXPECT_FALSE(w.backlogs.at("a").ready);
  w.step({{.id = id_of(3), .payload = "c", .offset = 2}});
  EXPECT_FALSE(w.backlogs.at("a").ready) << "it is not its turn";
  w.now += w.rules.retry.most;
  w.resume();
  EXPECT_EQ(w.snapshot(), "?1;b;c;");
}

TEST(deferred_events, tell_a_gap_from_what_only_waits_for_its_turn) {
  world w = deferring();
  w.rules.gap = {gap_policy::skip, milliseconds{5'000}};
  w.step({{.sequence = seq(1), .payload = "a", .time = 10'000, .offset = 0},
          {.sequence = seq(3), .payload = "c", .time = 10'000, .offset = 1},
          {.aggregate = "z", .sequence = seq(1), .time = 16'000, .offset = 2}});
  EXPECT_EQ(w.snapshot(), "?") << "however old it is, 1 is in no gap";
  EXPECT_TRUE(w.audits.empty());
  w.most_queued = 1;
  w.resume();
  EXPECT_EQ(w.snapshot(), "a;");
  w.resume();
  EXPECT_EQ(w.snapshot(), "a;c;") << "2 did not come in time";
  ASSERT_EQ(w.audits.size(), 1U);
  EXPECT_EQ(w.audits[0].kind, "gap_skipped");
}

TEST(deferred_events, keep_the_age_of_a_gap_once_it_is_the_next_thing) {
  world w = deferring();
  w.step({{.sequence = seq(1), .payload = "a", .time = 10'000, .offset = 0},
          {.sequence = seq(3), .payload = "c", .time = 11'000, .offset = 1}});
  w.resume();
  EXPECT_EQ(w.snapshot(), "a;");
  EXPECT_FALSE(w.backlogs.at("a").ready);
  EXPECT_EQ(w.backlogs.at("a").gap_since, at_ms(11'000));
}

TEST(deferred_events, are_held_for_an_operator_where_nothing_goes_on_and_not_where_many_wait) {
  world w = deferring();
  w.rules.waiting.per_aggregate = 2;
  std::vector<spec> many;
  for (std::uint64_t n = 1; n <= 5; ++n)
    many.push_back(
        {.sequence = seq(n), .payload = n == 4 ? "#" : "x", .offset = static_cast<std::int64_t>(n)});
  w.step(many);
  EXPECT_FALSE(w.backlogs.at("a").held);
  w.resume();
  EXPECT_EQ(w.backlogs.at("a").dead, 1U);
  w.step({{.sequence = seq(6), .payload = "x", .offset = 6}});
  EXPECT_TRUE(w.backlogs.at("a").held) << "three wait behind a dead one";
}

TEST(deferred_events, are_handled_by_a_stream_that_defers_no_more) {
  world w = deferring();
  w.step({{.sequence = seq(1), .payload = "a", .offset = 0}});
  w.rules.deferred = false;
  w.step({{.sequence = seq(2), .payload = "b", .offset = 1}});
  w.settle();
  EXPECT_EQ(w.snapshot(), "a;b;");
}

}  // namespace
}  // namespace ratchet
