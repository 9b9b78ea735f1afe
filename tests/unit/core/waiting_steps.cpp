// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Events that wait, where one step holds more than one turn of their story.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "support/core_print.hpp"
#include "support/core_world.hpp"

namespace ratchet {
namespace {

using testing::at_ms;
using testing::folding;
using testing::spec;
using testing::verdicts_of;
using testing::world;
using verdicts = std::vector<verdict>;

TEST(waiting_steps, let_a_held_aggregate_go_once_a_newer_event_made_all_of_it_needless) {
  world w{folding{}, order::latest};
  w.rules.waiting.per_aggregate = 1;
  const auto change = w.step({{.sequence = seq(1), .payload = "?9", .offset = 0},
                              {.sequence = seq(2), .payload = "?9", .offset = 1},
                              {.sequence = seq(3), .payload = "c", .offset = 2},
                              {.sequence = seq(4), .payload = "?9", .offset = 3}});
  EXPECT_EQ(verdicts_of(change),
            (verdicts{verdict::retrying, verdict::dead, verdict::applied, verdict::retrying}));
  EXPECT_EQ(w.state.counters.superseded, 2U);
  EXPECT_FALSE(w.backlogs.at("a").held);
}

/// What came of it later is counted, and not said of its record, as it may as well be in another step.
TEST(waiting_steps, say_of_a_record_what_they_would_if_it_were_the_last_of_its_step) {
  const std::vector<spec> all{{.sequence = seq(1), .payload = "a", .offset = 0},
                              {.sequence = seq(3), .payload = "c", .offset = 1},
                              {.sequence = seq(3), .payload = "c", .offset = 2},
                              {.sequence = seq(2), .payload = "b", .offset = 3}};
  const verdicts wanted{verdict::applied, verdict::parked, verdict::duplicate, verdict::applied};
  world at_once{folding{}, order::strict};
  EXPECT_EQ(verdicts_of(at_once.step(all)), wanted);
  EXPECT_EQ(at_once.snapshot(), "a;b;c;");
  EXPECT_EQ(at_once.state.counters.applied, 3U);
  EXPECT_EQ(at_once.state.counters.consumed, 4U);
  EXPECT_EQ(at_once.state.counters.waiting(), 0U);
  world one_by_one{folding{}, order::strict};
  verdicts got;
  for (const spec& e : all) got.push_back(one_by_one.step({e}).decisions.at(0).verdict);
  EXPECT_EQ(got, wanted);
  EXPECT_EQ(one_by_one.state.counters, at_once.state.counters);
}

/// While a partition has shown no time, events are dated by their own record, so that a gap that lies behind
/// another may be the older one.
TEST(waiting_steps, judge_a_gap_that_came_to_light_before_the_records_behind_its_time) {
  world w{folding{}, order::strict};
  w.rules.gap = {gap_policy::skip, std::chrono::milliseconds{25'000}};
  w.step({{.aggregate = "z", .partition = 1, .offset = 0}});  // no time
  w.step({{.sequence = seq(3), .payload = "c", .time = 30'000, .offset = 0},
          {.sequence = seq(5), .payload = "e", .time = 10'000, .offset = 1}});
  w.step({{.aggregate = "y", .time = 31'000, .partition = 1, .offset = 1}});
  const auto change = w.step({{.sequence = seq(1), .payload = "a", .time = 30'000, .offset = 2},
                              {.sequence = seq(2), .payload = "b", .time = 30'000, .offset = 3},
                              {.aggregate = "x", .time = 36'000, .offset = 4},
                              {.aggregate = "w", .time = 36'000, .partition = 1, .offset = 2},
                              {.sequence = seq(4), .payload = "d", .time = 36'000, .offset = 5}});
  EXPECT_EQ(change.decisions.back(), (decision{verdict::rejected, reject_reason::late}));
  EXPECT_EQ(w.snapshot(), "a;b;c;e;");
}

/// What comes below an event that failed is behind a gap as old as that one.
TEST(waiting_steps, judge_a_gap_below_an_event_that_failed_before_the_next_record) {
  world w{folding{}, order::strict};
  w.rules.gate.epoch_change = epoch_change::accept;
  w.rules.gap = {gap_policy::skip, std::chrono::milliseconds{5'000}};
  w.step({{.sequence = seq(1, 1), .payload = "#", .time = 10'000, .offset = 0}});
  ASSERT_EQ(w.state.counters.waiting_dead, 1U);
  w.step({{.aggregate = "z", .time = 14'000, .offset = 1}});
  const auto change = w.step({{.sequence = seq(2), .payload = "b", .offset = 2},
                              {.aggregate = "y", .time = 16'000, .offset = 3},
                              {.sequence = seq(1), .payload = "a", .offset = 4}});
  EXPECT_EQ(change.decisions.back(), (decision{verdict::rejected, reject_reason::late}));
  EXPECT_EQ(w.snapshot(), "b;");
}

/// No number is missing before a new epoch, so that no time-out answers for the operator.
TEST(waiting_steps, skip_gaps_inside_an_epoch_and_leave_the_next_epoch_to_an_operator) {
  for (const first_number first : {first_number::one, first_number::any}) {
    world w{folding{}, order::strict};
    w.rules.gate.first = first;
    w.rules.gap = {gap_policy::skip, std::chrono::milliseconds{5'000}};
    w.step({{.sequence = seq(2, 2), .payload = "a", .time = 10'000, .offset = 0},
            {.sequence = seq(2, 4), .payload = "b", .time = 10'000, .offset = 1},
            {.sequence = seq(3, 1), .payload = "c", .time = 10'000, .offset = 2},
            {.sequence = seq(3, 3), .payload = "d", .time = 10'000, .offset = 3},
            {.aggregate = "z", .time = 99'000, .offset = 4}});
    EXPECT_EQ(w.snapshot(), "a;b;");
    EXPECT_FALSE(w.backlogs.at("a").gap_since) << "it would be due without end";
    const auto change = w.step({{.sequence = seq(2, 5), .payload = "e", .time = 99'000, .offset = 5}});
    EXPECT_EQ(verdicts_of(change), verdicts{verdict::applied});
    EXPECT_EQ(w.run_command(waiting_verb::replay, seq(3, 1)), waiting_answer::done);
    EXPECT_EQ(w.snapshot(), "a;b;e;c;d;") << "3:2 is as old a gap";
  }
}

TEST(waiting_steps, let_no_number_below_the_first_stand_before_an_epoch) {
  for (const bool has_last : {true, false}) {
    world w{folding{}, order::strict};
    w.rules.gate.epoch_change = epoch_change::accept;
    if (has_last) w.step({{.sequence = seq(1), .payload = "a", .offset = 0}});
    const auto change = w.step({{.sequence = seq(1, 0), .payload = "x", .offset = 1},
                                {.sequence = seq(1, 1), .payload = "b", .offset = 2}});
    EXPECT_EQ(verdicts_of(change), (verdicts{verdict::rejected, verdict::applied}));
    EXPECT_EQ(w.snapshot(), has_last ? "a;b;" : "b;");
    EXPECT_TRUE(w.backlogs.empty());
  }
}

/// Whether the first event behind them succeeds is not known when numbers are given up on.
TEST(waiting_steps, give_up_on_numbers_also_where_the_reducer_then_gives_up_on_what_is_behind_them) {
  world w{folding{}, order::strict};
  w.rules.gap = {gap_policy::skip, std::chrono::milliseconds{5'000}};
  w.step({{.sequence = seq(1), .payload = "a", .time = 10'000, .offset = 0},
          {.sequence = seq(3), .payload = "#", .time = 10'000, .offset = 1},
          {.aggregate = "z", .time = 16'000, .offset = 2}});
  EXPECT_EQ(w.state.counters.waiting_dead, 1U);
  const auto change = w.step({{.sequence = seq(2), .payload = "b", .time = 16'000, .offset = 3}});
  EXPECT_EQ(change.decisions.back(), (decision{verdict::rejected, reject_reason::late}));
  EXPECT_EQ(w.run_command(waiting_verb::skip, seq(3)), waiting_answer::done);
  w.step({{.sequence = seq(4), .payload = "d", .time = 16'000, .offset = 4}});
  EXPECT_EQ(w.snapshot(), "a;d;");
}

TEST(waiting_steps, know_no_stream_time_while_a_partition_has_records_without_a_time_alone) {
  world w{folding{}, order::strict};
  w.rules.gap = {gap_policy::skip, std::chrono::milliseconds{5'000}};
  w.step({{.aggregate = "y", .partition = 1, .offset = 0}});
  w.step({{.sequence = seq(1), .payload = "a", .time = 10'000, .offset = 0},
          {.sequence = seq(3), .payload = "c", .time = 10'000, .offset = 1},
          {.aggregate = "z", .time = 99'000, .offset = 2}});
  EXPECT_FALSE(w.state.floor);
  EXPECT_EQ(w.snapshot(), "a;");
  w.step({{.aggregate = "y", .sequence = seq(2), .time = 99'000, .partition = 1, .offset = 1}});
  EXPECT_EQ(w.state.floor, at_ms(98'000));
}

/// What waits for people in the next epoch is no reason to give up a number of this one at once.
TEST(waiting_steps, begin_no_gap_in_the_future_while_the_stream_has_no_time) {
  world w{folding{}, order::strict};
  w.rules.gap = {gap_policy::skip, std::chrono::milliseconds{5'000}};
  const std::int64_t now = w.now.time_since_epoch().count();
  w.step({{.aggregate = "z", .sequence = seq(1), .partition = 1, .offset = 0}});
  w.step({{.sequence = seq(2), .payload = "b", .time = INT64_MAX, .offset = 0}});
  ASSERT_FALSE(w.state.floor);
  EXPECT_EQ(w.backlogs.at("a").gap_since, w.now + w.rules.max_skew);
  w.now += std::chrono::milliseconds{10'000};
  w.step({{.sequence = seq(3), .payload = "c", .time = INT64_MAX, .offset = 1},
          {.aggregate = "z", .sequence = seq(2), .time = now + 10'000, .partition = 1, .offset = 1}});
  EXPECT_EQ(w.snapshot(), "b;c;") << "1 did not come in time";
}

TEST(waiting_steps, begin_the_age_of_a_gap_below_a_parked_epoch_anew) {
  world w{folding{}, order::strict};
  w.rules.gap = {gap_policy::skip, std::chrono::milliseconds{5'000}};
  w.step({{.sequence = seq(2, 1), .payload = "a", .time = 10'000, .offset = 0},
          {.sequence = seq(3, 1), .payload = "z", .time = 10'000, .offset = 1}});
  w.step({{.sequence = seq(2, 3), .payload = "c", .time = 99'000, .offset = 2},
          {.sequence = seq(2, 2), .payload = "b", .time = 99'000, .offset = 3}});
  EXPECT_EQ(w.snapshot(), "a;b;c;");
}

/// Nor is it a gap that each step would have to look out for.
TEST(waiting_steps, are_not_cut_short_by_an_epoch_that_is_parked) {
  world w{folding{}, order::strict};
  w.rules.gap = {gap_policy::skip, std::chrono::milliseconds{5'000}};
  w.step({{.sequence = seq(2, 1), .payload = "a", .time = 10'000, .offset = 0},
          {.sequence = seq(3, 1), .payload = "z", .time = 10'000, .offset = 1},
          {.aggregate = "b", .time = 99'000, .offset = 2}});
  const std::vector<spec> all{{.sequence = seq(2, 2), .payload = "b", .time = 99'000, .offset = 3},
                              {.sequence = seq(2, 3), .payload = "c", .time = 99'000, .offset = 4},
                              {.sequence = seq(2, 4), .payload = "d", .time = 99'000, .offset = 5}};
  const testing::batch b{all};
  const step_plan plan = plan_step(w.rules, w.reduce.traits(), b.events);
  const stream_change change = run_step(w.rules, w.reduce, w.state, b.events, plan, w.look_up(plan), w.now);
  EXPECT_EQ(change.looked_at, 3U);
}

/// Its age was written by a version that skipped it, or under another policy.
TEST(waiting_steps, forget_the_age_of_a_gap_that_only_people_end) {
  world w{folding{}, order::strict};
  w.step({{.sequence = seq(2, 1), .payload = "a", .time = 10'000, .offset = 0},
          {.sequence = seq(3, 1), .payload = "b", .time = 10'000, .offset = 1}});
  EXPECT_TRUE(w.backlogs.at("a").gap_since) << "where nothing is skipped it tells how long somebody waits";
  w.rules.gap = {gap_policy::skip, std::chrono::milliseconds{5'000}};
  w.step({{.aggregate = "z", .time = 99'000, .offset = 2}});
  EXPECT_EQ(w.snapshot(), "a;");
  EXPECT_FALSE(w.backlogs.at("a").gap_since);
}

TEST(waiting_steps, keep_the_snapshot_of_an_aggregate_that_begins_to_wait) {
  for (const bool folds : {true, false}) {
    world w{folds ? reducer{folding{}} : reducer{testing::replacing{}}, order::strict};
    w.step({{.sequence = seq(1), .payload = "a", .offset = 0}});
    w.step({{.sequence = seq(3), .payload = "c", .offset = 1}});
    EXPECT_EQ(w.snapshot(), folds ? "a;" : "a");
    EXPECT_TRUE(w.rows.at("a").waits);
    EXPECT_EQ(w.rows.at("a").last, seq(1));
  }
}

TEST(waiting_steps, undo_what_a_failing_reducer_did_to_the_snapshot) {
  struct half_done_then_fails {
    outcome apply(const event& e, state& s, effects&) const {
      s.assign("half");
      return e.attempt < 2 ? retry(std::make_error_code(std::errc::timed_out)) : done();
    }
  };
  world w{reducer{folding::traits, half_done_then_fails{}}, order::strict};
  w.step({{.sequence = seq(1), .payload = "a"}});
  EXPECT_EQ(w.snapshot(), "?");
  w.now += std::chrono::hours{1};
  w.resume();
  EXPECT_EQ(w.snapshot(), "half");
}

/// Log positions: the later of two events at one of them is the newer one, also where the other waits.
TEST(waiting_steps, of_two_ties_keep_the_later_one) {
  world w{folding{}, order::latest};
  w.rules.gate.ties_by_offset = true;
  w.rules.dedup = false;
  auto change = w.step({{.sequence = seq(5), .payload = "?9", .offset = 0}});
  EXPECT_EQ(verdicts_of(change), verdicts{verdict::retrying});

  change = w.step({{.sequence = seq(5), .payload = "?9", .offset = 1}});
  EXPECT_EQ(verdicts_of(change), verdicts{verdict::duplicate}) << "the same change again";

  change = w.step({{.sequence = seq(5), .payload = "?8", .offset = 2}});
  EXPECT_EQ(verdicts_of(change), verdicts{verdict::retrying});
  ASSERT_EQ(w.waiting.at("a").size(), 1U);
  EXPECT_EQ(w.waiting.at("a").at(seq(5)).payload(), "?8");
  EXPECT_EQ(w.state.counters.superseded, 1U);
  EXPECT_EQ(w.state.counters.waiting_retrying, 1U);

  change = w.step({{.sequence = seq(5), .payload = "c", .offset = 3}});
  EXPECT_EQ(verdicts_of(change), verdicts{verdict::applied});
  EXPECT_EQ(w.snapshot(), "c;");
  EXPECT_EQ(w.state.counters.superseded, 2U);
  EXPECT_EQ(w.state.counters.waiting(), 0U);
  EXPECT_TRUE(w.waiting["a"].empty());
}

TEST(waiting_steps, take_ties_in_one_step_as_in_many) {
  for (const bool in_one : {true, false}) {
    world w{folding{}, order::latest};
    w.rules.gate.ties_by_offset = true;
    w.rules.dedup = false;
    const std::vector<spec> all{{.sequence = seq(5), .payload = "a", .offset = 0},
                                {.sequence = seq(5), .payload = "?9", .offset = 1},
                                {.sequence = seq(5), .payload = "b", .offset = 2},
                                {.sequence = seq(5), .payload = "b", .offset = 3}};
    if (in_one) {
      w.step(all);
    } else {
      for (const spec& s : all) w.step({s});
    }
    EXPECT_EQ(w.snapshot(), "a;b;");
    EXPECT_EQ(w.state.counters.waiting(), 0U);
    EXPECT_EQ(w.state.counters.superseded, 1U);
    EXPECT_EQ(w.state.counters.duplicate, 1U);
  }
}

TEST(waiting_steps, look_again_for_events_of_latest_order_that_were_not_at_hand) {
  world w{folding{}};
  w.rules.retry.most = std::chrono::milliseconds{5000};
  w.rules.retry.attempts = 9;
  // 3 and 4 are tried again, and only the lowest is looked up.
  w.step({{.sequence = seq(3), .payload = "?1"}, {.sequence = seq(4), .payload = "?1", .offset = 1}});
  ASSERT_EQ(w.backlogs.at("a").retrying, 2U);
  w.queue_events = 1;
  EXPECT_EQ(w.run_command(waiting_verb::discard, seq(3)), waiting_answer::done);
  ASSERT_EQ(w.backlogs.at("a").retrying, 1U);
  EXPECT_TRUE(w.backlogs.at("a").wake) << "4 would never be tried again";
  w.now += w.rules.retry.most;
  w.resume();
  EXPECT_EQ(w.state.counters.applied, 1U);
  EXPECT_FALSE(w.backlogs.contains("a"));
}

/// A step loads so many of them, and what a newer event made needless may take several steps to go; none of
/// those behind the first applies anything.
TEST(waiting_steps, leave_nothing_of_latest_order_behind_a_newer_event_however_many_waited) {
  for (const std::size_t at_hand : {1U, 2U, 3U, 5U, 9U}) {
    SCOPED_TRACE(at_hand);
    world w{folding{}};
    w.queue_events = at_hand;
    w.step({{.sequence = seq(0), .payload = "#", .offset = 0},
            {.sequence = seq(3), .payload = "#", .offset = 1},
            {.sequence = seq(2), .payload = "?9", .offset = 2},
            {.sequence = seq(4), .payload = "#", .offset = 3},
            {.sequence = seq(1), .payload = "#", .offset = 4}});
    ASSERT_EQ(w.state.counters.waiting_dead, 4U);
    ASSERT_EQ(w.state.counters.waiting_retrying, 1U);
    w.step({{.sequence = seq(1, 0), .kind = decoded_kind::tombstone, .offset = 5}});
    EXPECT_EQ(w.snapshot(), "-");
    EXPECT_FALSE(w.backlogs.contains("a"));
    EXPECT_TRUE(w.waiting.empty());
    EXPECT_EQ(w.state.counters.waiting(), 0U);
    EXPECT_EQ(w.state.counters.superseded, 5U);
  }
}

/// Nor behind a waiting one that was applied when it was tried again, and one that waits above stays.
TEST(waiting_steps, leave_nothing_of_latest_order_behind_a_retry_that_was_applied) {
  world w{folding{}};
  w.rules.retry.attempts = 9;
  w.step({{.sequence = seq(1), .payload = "#", .offset = 0},
          {.sequence = seq(2), .payload = "#", .offset = 1},
          {.sequence = seq(3), .payload = "#", .offset = 2},
          {.sequence = seq(4), .payload = "?1", .offset = 3},
          {.sequence = seq(5), .payload = "#", .offset = 4}});
  w.queue_events = 1;
  w.step({{.sequence = seq(4, 0), .payload = "d", .offset = 5}});
  EXPECT_FALSE(w.backlogs.contains("a")) << "all five are older";
  w.queue_events = 4;
  w.step({{.sequence = seq(5, 1), .payload = "#", .offset = 6},
          {.sequence = seq(5, 2), .payload = "?1", .offset = 7},
          {.sequence = seq(5, 3), .payload = "#", .offset = 8}});
  w.now += w.rules.retry.most;
  w.resume();
  EXPECT_EQ(w.rows.at("a").last, seq(5, 2));
  ASSERT_EQ(w.waiting.at("a").size(), 1U);
  EXPECT_EQ(w.waiting.at("a").begin()->first, seq(5, 3)) << "it is newer";
  EXPECT_FALSE(w.backlogs.at("a").ready) << "and nothing is to be done about it";
}

}  // namespace
}  // namespace ratchet
