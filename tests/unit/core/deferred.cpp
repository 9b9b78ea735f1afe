// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Events of a stream that defers all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/core_print.hpp"
#include "support/core_world.hpp"

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
  EXPECT_EQ(w.snapshot(), "?");
  ASSERT_EQ(w.audits.size(), 1U) << "2 did not come in time; 1 is in no gap, however long it waits";
  w.most_queued = 1;
  w.resume();
  EXPECT_EQ(w.snapshot(), "a;");
  w.resume();
  EXPECT_EQ(w.snapshot(), "a;c;");
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

TEST(deferred_events, are_held_for_an_operator_behind_a_gap_and_not_where_many_wait_for_their_turn) {
  world w = deferring();
  w.rules.waiting.per_aggregate = 2;
  std::vector<spec> many;
  for (std::uint64_t n = 1; n <= 5; ++n)
    many.push_back(
        {.sequence = seq(n), .payload = n == 4 ? "#" : "x", .offset = static_cast<std::int64_t>(n)});
  w.step(many);
  EXPECT_FALSE(w.backlogs.at("a").held);
  for (std::uint64_t n = 7; n <= 9; ++n)
    w.step({{.sequence = seq(n), .payload = "x", .offset = static_cast<std::int64_t>(n)}});
  EXPECT_TRUE(w.backlogs.at("a").held);
  EXPECT_EQ(w.state.counters.waiting_parked, 5U) << "those that have their turn are not";
  EXPECT_EQ(w.state.counters.waiting_dead, 3U);
  w.work_off();
  EXPECT_EQ(w.snapshot(), "x;x;x;");
  EXPECT_EQ(w.state.counters.waiting_parked, 1U);
  EXPECT_EQ(w.state.counters.waiting_dead, 4U);
  EXPECT_TRUE(w.backlogs.at("a").held);
}

TEST(deferred_events, are_handled_by_a_stream_that_defers_no_more) {
  world w = deferring();
  w.step({{.sequence = seq(1), .payload = "a", .offset = 0}});
  w.rules.deferred = false;
  w.step({{.sequence = seq(2), .payload = "b", .offset = 1}});
  w.resume_backlogs();
  EXPECT_EQ(w.snapshot(), "a;b;");
}

/// What is said of each record, and the state in the end, by every cut of a history into steps, and with the
/// accepted events run between these steps or behind all of them.
struct told {
  std::vector<decision> said;
  std::string snapshot;
  counters counts;
};

told run_cut(world w, const std::vector<spec>& history, std::size_t size, bool runs_between) {
  told out;
  for (std::size_t at = 0; at < history.size(); at += size) {
    const auto begin = history.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(size, history.size() - at));
    const auto change = w.step({begin, end});
    out.said.insert(out.said.end(), change.decisions.begin(), change.decisions.end());
    if (runs_between) w.work_off();
  }
  w.work_off();
  out.snapshot = w.snapshot();
  out.counts = w.state.counters;
  return out;
}

void expect_one_result(const world& w, const std::vector<spec>& history, decision last,
                       const std::string& snapshot) {
  world direct = w;
  direct.rules.deferred = false;
  const told wanted = run_cut(direct, history, history.size(), false);
  for (std::size_t size = 1; size <= history.size(); ++size) {
    for (const bool runs_between : {false, true}) {
      SCOPED_TRACE(std::to_string(size) +
                   (runs_between ? " records a step, run between" : " records a step"));
      const told found = run_cut(w, history, size, runs_between);
      EXPECT_EQ(found.said.back().verdict, last.verdict);
      EXPECT_EQ(found.said.back().reason, last.reason);
      EXPECT_EQ(found.snapshot, snapshot);
      EXPECT_EQ(found.snapshot, wanted.snapshot);
      EXPECT_EQ(found.counts, wanted.counts) << "as if nothing were deferred";
    }
  }
}

TEST(deferred_events, are_the_last_one_handled_for_those_that_come_behind_them) {
  expect_one_result(deferring(),
                    {{.sequence = seq(1), .id = id_of(1), .payload = "a", .offset = 0},
                     {.sequence = seq(2), .id = id_of(2), .payload = "b", .offset = 1},
                     {.sequence = seq(1), .id = id_of(9), .payload = "z", .offset = 2}},
                    {verdict::stale, reject_reason::none}, "a;b;");
  expect_one_result(deferring(),
                    {{.sequence = seq(1), .id = id_of(1), .payload = "a", .offset = 0},
                     {.sequence = seq(1), .id = id_of(9), .payload = "a", .offset = 1}},
                    {verdict::duplicate, reject_reason::none}, "a;");
  expect_one_result(deferring(),
                    {{.sequence = seq(1), .id = id_of(1), .payload = "a", .offset = 0},
                     {.sequence = seq(1), .id = id_of(9), .payload = "z", .offset = 1}},
                    {verdict::rejected, reject_reason::conflict}, "a;");
  expect_one_result(deferring(),
                    {{.sequence = seq(1), .id = id_of(1), .payload = "a", .offset = 0},
                     {.sequence = seq(2), .id = id_of(1), .payload = "b", .offset = 1}},
                    {verdict::rejected, reject_reason::id_reused}, "a;");
  expect_one_result(deferring(),
                    {{.sequence = seq(2), .id = id_of(2), .payload = "b", .offset = 0},
                     {.sequence = seq(1), .id = id_of(1), .payload = "a", .offset = 1},
                     {.sequence = seq(2), .id = id_of(9), .payload = "z", .offset = 2}},
                    {verdict::rejected, reject_reason::conflict}, "a;b;");
}

TEST(deferred_events, come_again_where_their_ids_are_before_the_window) {
  world w = deferring(order::arrival);
  w.rules.opaque_ids = true;
  expect_one_result(w,
                    {{.id = id_of(1), .payload = "1", .time = 10'000, .offset = 0},
                     {.aggregate = "b", .id = id_of(2), .payload = "x", .time = 20'000, .offset = 1},
                     {.id = id_of(3), .payload = "2", .time = 20'000, .offset = 2},
                     {.id = id_of(1), .payload = "1", .time = 20'000, .offset = 3}},
                    {verdict::parked, reject_reason::none}, "1;2;1;");
}

TEST(deferred_events, count_as_handled_for_gaps_too) {
  world w = deferring();
  w.rules.gap = {gap_policy::skip, milliseconds{5'000}};
  expect_one_result(w,
                    {{.sequence = seq(1), .id = id_of(1), .payload = "a", .time = 10'000, .offset = 0},
                     {.sequence = seq(3), .id = id_of(3), .payload = "c", .time = 10'000, .offset = 1},
                     {.aggregate = "z", .sequence = seq(1), .time = 16'000, .offset = 2},
                     {.sequence = seq(2), .id = id_of(2), .payload = "b", .time = 16'000, .offset = 3}},
                    {verdict::rejected, reject_reason::late}, "a;c;");
}

TEST(deferred_events, that_failed_say_the_same_of_others) {
  for (const bool runs_between : {false, true}) {
    world w = deferring();
    w.step({{.sequence = seq(1), .id = id_of(1), .payload = "#", .offset = 0}});
    if (runs_between) w.work_off();
    const auto change = w.step({{.sequence = seq(2), .id = id_of(2), .payload = "b", .offset = 1},
                                {.sequence = seq(1), .id = id_of(9), .payload = "z", .offset = 2},
                                {.sequence = seq(2), .id = id_of(9), .payload = "b", .offset = 3}});
    EXPECT_EQ(verdicts_of(change), (verdicts{verdict::parked, verdict::stale, verdict::duplicate}));
    w.work_off();
    EXPECT_EQ(w.backlogs.at("a").dead, 1U);
    EXPECT_EQ(w.backlogs.at("a").parked, 1U);
    EXPECT_EQ(w.backlogs.at("a").accepted->sequence, seq(2));
  }
}

TEST(deferred_events, that_are_discarded_may_come_again_and_what_came_behind_waits_for_them) {
  world w = deferring();
  const spec broken{.sequence = seq(2), .id = id_of(2), .payload = "#", .offset = 1};
  w.step({{.sequence = seq(1), .id = id_of(1), .payload = "a", .offset = 0},
          broken,
          {.sequence = seq(3), .id = id_of(3), .payload = "c", .offset = 2}});
  w.work_off();
  ASSERT_EQ(w.run_command(waiting_verb::discard, seq(2)), waiting_answer::done);
  EXPECT_FALSE(w.backlogs.at("a").accepted);
  EXPECT_EQ(w.backlogs.at("a").parked, 1U);
  EXPECT_FALSE(w.backlogs.at("a").ready);
  EXPECT_TRUE(w.backlogs.at("a").gap_since || !w.state.floor);
  spec mended = broken;
  mended.payload = "b";
  mended.offset = 3;
  EXPECT_EQ(verdicts_of(w.step({mended})), verdicts{verdict::parked});
  EXPECT_TRUE(w.backlogs.at("a").reopened.empty());
  w.work_off();
  EXPECT_EQ(w.snapshot(), "a;b;c;");
  mended.offset = 4;
  EXPECT_EQ(verdicts_of(w.step({mended})), verdicts{verdict::duplicate});
}

/// Numbers that were skipped stay so: what is taken back passes them once more, and nobody is told twice.
TEST(deferred_events, that_are_taken_back_pass_what_was_skipped_between_them_again) {
  world w = deferring();
  w.rules.gap = {gap_policy::skip, milliseconds{5'000}};
  const auto event = [](std::uint64_t number, const char* payload, std::int64_t offset, std::int64_t time) {
    return spec{.sequence = seq(number), .payload = payload, .time = time, .offset = offset};
  };
  w.step({event(1, "#", 0, 10'000),
          event(2, "b", 1, 10'000),
          event(6, "f", 2, 10'000),
          {.aggregate = "z", .time = 16'000, .offset = 3}});
  w.work_off();
  const std::vector<sequence_range> skipped{{seq(3), seq(5)}};
  ASSERT_EQ(w.backlogs.at("a").skipped, skipped);
  ASSERT_EQ(w.run_command(waiting_verb::discard, seq(1)), waiting_answer::done);
  EXPECT_EQ(w.backlogs.at("a").parked, 2U);
  const auto late = w.step({event(4, "d", 4, 16'000)});
  EXPECT_EQ(late.decisions[0], (decision{verdict::rejected, reject_reason::late}));
  w.step({event(1, "a", 5, 16'000)});
  w.work_off();
  EXPECT_EQ(w.snapshot(), "a;b;f;");
  EXPECT_EQ(w.backlogs.at("a").skipped, skipped);
  EXPECT_EQ(w.audits.size(), 2U) << "the gap, and the decision";
  EXPECT_EQ(w.state.counters.accounted(), w.state.counters.consumed);
}

/// Nor where the number does not come again.
TEST(deferred_events, that_are_taken_back_leave_one_row_for_each_gap) {
  for (const first_number first : {first_number::one, first_number::any}) {
    world w = deferring();
    w.rules.gate.first = first;
    w.rules.gap = {gap_policy::skip, milliseconds{5'000}};
    w.step({{.sequence = seq(3), .payload = "c", .time = 10'000, .offset = 0},
            {.sequence = seq(4), .payload = "#", .time = 10'000, .offset = 1},
            {.sequence = seq(7), .payload = "g", .time = 10'000, .offset = 2},
            {.aggregate = "z", .time = 16'000, .offset = 3}});
    w.work_off();
    ASSERT_EQ(w.run_command(waiting_verb::discard, seq(4)), waiting_answer::done);
    w.step({{.aggregate = "z", .sequence = seq(2), .time = 26'000, .offset = 4}});
    w.work_off();
    EXPECT_EQ(w.snapshot(), "c;g;");
    const sequence_range last{seq(4), seq(6)};
    EXPECT_EQ(w.backlogs.at("a").skipped.back(), last);
    const auto is_about = [&](const char* what) {
      return std::count_if(w.audits.begin(), w.audits.end(),
                           [what](const audit_row& row) { return row.text.find(what) != std::string::npos; });
    };
    EXPECT_EQ(is_about("5 to 6"), 1);
    EXPECT_EQ(is_about("number 4"), 1);
    EXPECT_EQ(is_about("4 to 6"), 0);
  }
}

TEST(deferred_events, that_are_discarded_are_kept_in_mind_up_to_a_bound) {
  world w = deferring(order::arrival);
  std::vector<spec> all;
  for (std::uint64_t n = 1; n <= k_most_reopened + 3; ++n)
    all.push_back({.id = id_of(n), .payload = "#", .offset = static_cast<std::int64_t>(n)});
  w.step(all);
  std::uint64_t n = 1;
  while (n <= k_most_reopened) {
    std::vector<waiting_command> orders;  // many a step: one by one they take minutes under a sanitizer
    for (; n <= k_most_reopened && orders.size() < 256; ++n)
      orders.push_back({.aggregate = 0, .verb = waiting_verb::discard, .sequence = seq(n)});
    ASSERT_THAT(w.run_all(orders), ::testing::Each(waiting_answer::done)) << n;
  }
  const sequence next = seq(k_most_reopened + 1);
  EXPECT_EQ(w.run_command(waiting_verb::discard, next), waiting_answer::too_many_open);
  EXPECT_EQ(w.run_command(waiting_verb::skip, next), waiting_answer::done) << "that passes it";
  ASSERT_TRUE(w.backlogs.contains("a"));
  EXPECT_EQ(w.backlogs.at("a").reopened.size(), k_most_reopened);
  EXPECT_EQ(w.backlogs.at("a").parked, 2U);
  const auto again = w.step({{.id = id_of(7), .payload = "#", .offset = 100'000}});
  EXPECT_EQ(verdicts_of(again), verdicts{verdict::parked}) << "one that came again makes room";
  EXPECT_EQ(w.run_command(waiting_verb::discard, seq(k_most_reopened + 2)), waiting_answer::done);
}

TEST(deferred_events, that_are_skipped_leave_a_number_that_is_late) {
  world w = deferring();
  w.step({{.sequence = seq(1), .id = id_of(1), .payload = "#", .offset = 0},
          {.sequence = seq(2), .id = id_of(2), .payload = "b", .offset = 1}});
  w.work_off();
  EXPECT_EQ(w.run_command(waiting_verb::skip, seq(2)), waiting_answer::not_first);
  EXPECT_EQ(w.run_command(waiting_verb::skip, seq(1)), waiting_answer::done);
  const spec again{.sequence = seq(1), .id = id_of(1), .payload = "a", .offset = 2};
  const auto change = w.step({again});
  EXPECT_EQ(change.decisions[0].reason, reject_reason::late);
  w.work_off();
  EXPECT_EQ(w.snapshot(), "b;");
  EXPECT_EQ(w.run_command(waiting_verb::skip, seq(5)), waiting_answer::none_waits);
}

TEST(deferred_events, leave_the_last_one_handled_to_numbers_that_are_skipped_behind_them) {
  world w = deferring();
  w.step(
      {{.sequence = seq(1), .payload = "a", .offset = 0}, {.sequence = seq(4), .payload = "d", .offset = 1}});
  EXPECT_EQ(w.run_command(waiting_verb::skip, seq(2)), waiting_answer::done);
  EXPECT_FALSE(w.rows.at("a").has_last) << "1 comes first";
  w.work_off();
  EXPECT_EQ(w.rows.at("a").last, seq(2));
  EXPECT_EQ(w.run_command(waiting_verb::skip, seq(3)), waiting_answer::done);
  w.work_off();
  EXPECT_EQ(w.snapshot(), "a;d;");
}

TEST(deferred_events, are_run_by_a_replay_and_those_behind_in_their_turn) {
  world w = deferring();
  w.step(
      {{.sequence = seq(1), .payload = "#", .offset = 0}, {.sequence = seq(2), .payload = "b", .offset = 1}});
  w.work_off();
  EXPECT_EQ(w.run_command(waiting_verb::replay, seq(1), "a"), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "a;");
  EXPECT_TRUE(w.backlogs.at("a").ready);
  w.work_off();
  EXPECT_EQ(w.snapshot(), "a;b;");
}

TEST(deferred_events, keep_their_place_in_the_line_while_others_come) {
  world w = deferring();
  w.step({{.sequence = seq(1), .payload = "a", .offset = 0}});
  const auto since = w.backlogs.at("a").wake;
  w.now += milliseconds{10};
  w.step({{.sequence = seq(2), .payload = "b", .offset = 1}});
  EXPECT_EQ(w.backlogs.at("a").wake, since);
}

TEST(deferred_events, are_accepted_where_an_earlier_version_left_them) {
  for (const order o : {order::strict, order::arrival}) {
    world w = deferring(o);
    w.step({{.sequence = seq(1), .id = id_of(1), .payload = "a", .offset = 0},
            {.sequence = seq(2), .id = id_of(2), .payload = "b", .offset = 1}});
    // It kept no more than that they wait, and filed no id.
    w.backlogs.at("a").accepted.reset();
    w.ids.clear();
    const spec again{.sequence = seq(1), .id = id_of(9), .payload = "z", .offset = 2};
    if (o == order::strict) {
      EXPECT_EQ(verdicts_of(w.step({again})), verdicts{verdict::stale});
    }
    w.work_off();
    EXPECT_EQ(w.snapshot(), "a;b;");
    EXPECT_EQ(w.ids.size(), 2U);
    EXPECT_TRUE(w.backlogs.empty());
  }
}

}  // namespace
}  // namespace ratchet
