// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Aggregates that are forgotten, as nothing of them was handled for so long.
#include "core/retention.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/sequence_range.hpp"
#include "core/transactions.hpp"
#include "support/core_print.hpp"
#include "support/core_world.hpp"

namespace ratchet {
namespace {

using std::chrono::milliseconds;
using testing::at_ms;
using testing::folding;
using testing::id_at;
using testing::replacing;
using testing::spec;
using testing::verdicts_of;
using testing::world;

constexpr std::int64_t k_window = 1'000;
constexpr std::int64_t k_retention = 10'000;

world forgetting(order o = order::latest, reducer r = folding{}) {
  world w{std::move(r), o};
  w.rules.retention = milliseconds{k_retention};
  return w;
}

/// One step with one event; the offset is the time.
verdict said(world& w, std::int64_t time, std::uint64_t number, std::string payload,
             const std::string& aggregate = "a") {
  const spec e{.aggregate = aggregate,
               .sequence = seq(number),
               .payload = std::move(payload),
               .time = time,
               .offset = time};
  return w.step({e}).decisions.at(0).verdict;
}

/// Another aggregate's event, which moves the time of the stream.
void reach(world& w, std::int64_t time) {
  ASSERT_EQ(said(w, time, static_cast<std::uint64_t>(time), "-", "clock"), verdict::applied);
}

TEST(retention, forgets_an_aggregate_when_its_last_event_is_older) {
  world w = forgetting();
  EXPECT_EQ(said(w, 100'000, 5, "old"), verdict::applied);
  reach(w, 110'000);
  EXPECT_EQ(said(w, 110'001, 4, "b"), verdict::stale)
      << "its last event is as old as the retention, not older";
  reach(w, 110'002);
  EXPECT_EQ(said(w, 110'003, 4, "new"), verdict::applied) << "as the first event of an aggregate";
  EXPECT_EQ(w.snapshot(), "new;") << "what was stored of it is forgotten, too";
  EXPECT_EQ(w.rows.at("a").last, seq(4));
  EXPECT_EQ(w.state.counters.forgotten, 1U);
}

TEST(retention, is_measured_from_the_last_event_and_not_from_the_first) {
  world w = forgetting();
  EXPECT_EQ(said(w, 100'000, 5, "a"), verdict::applied);
  EXPECT_EQ(said(w, 109'000, 6, "b"), verdict::applied);
  reach(w, 118'000);
  EXPECT_EQ(said(w, 118'001, 4, "c"), verdict::stale);
  EXPECT_EQ(w.snapshot(), "a;b;");
  EXPECT_EQ(w.state.counters.forgotten, 0U);
}

TEST(retention, counts_an_event_from_its_own_record_where_that_moves_the_time_itself) {
  world w = forgetting();
  reach(w, 100'000);
  EXPECT_EQ(said(w, 150'000, 5, "a"), verdict::applied) << "the time was 100'000 when it came";
  reach(w, 155'000);
  EXPECT_EQ(said(w, 155'001, 4, "b"), verdict::stale);
}

TEST(retention, is_counted_by_the_partition_of_the_event) {
  world w = forgetting();
  w.step({{.aggregate = "a", .sequence = seq(5), .time = 100'000, .partition = 0, .offset = 0},
          {.aggregate = "slow", .sequence = seq(1), .time = 100'000, .partition = 1, .offset = 0}});
  w.step({{.aggregate = "clock", .sequence = seq(1), .time = 120'000, .partition = 0, .offset = 1}});
  EXPECT_EQ(w.state.floor, at_ms(100'000 - k_window)) << "the other partition holds the stream back";
  const auto change = w.step({{.aggregate = "a", .sequence = seq(1), .time = 120'001, .offset = 2}});
  EXPECT_EQ(change.decisions.at(0).verdict, verdict::applied);
}

TEST(retention, rejects_what_is_older_where_nothing_is_known_of_its_aggregate) {
  world w = forgetting();
  reach(w, 120'000);
  const auto judge = [&](spec e) { return w.step({std::move(e)}).decisions.at(0); };
  const decision too_old{verdict::rejected, reject_reason::too_old};
  EXPECT_EQ(judge({.aggregate = "x", .time = 109'999, .offset = 120'001}), too_old);
  EXPECT_EQ(judge({.aggregate = "x", .time = 120'000, .own_time = 109'999, .offset = 120'002}), too_old)
      << "sent again, so that its record is new";
  EXPECT_EQ(judge({.aggregate = "x", .time = 110'000, .offset = 120'003}).verdict, verdict::applied);
  EXPECT_EQ(judge({.aggregate = "x", .sequence = seq(2), .time = 100'000, .offset = 120'004}).verdict,
            verdict::applied)
      << "its number says that it is the newest";
}

TEST(retention, leaves_what_is_forgotten_as_it_is_until_an_event_is_let_in) {
  world w = forgetting();
  EXPECT_EQ(said(w, 100'000, 5, "old"), verdict::applied);
  reach(w, 120'000);
  const auto change = w.step({{.sequence = seq(6), .time = 105'000, .offset = 120'001}});
  EXPECT_EQ(change.decisions.at(0), (decision{verdict::rejected, reject_reason::too_old}));
  EXPECT_EQ(w.rows.at("a").last, seq(5));
  EXPECT_EQ(w.state.counters.forgotten, 0U);
  w.remove_forgotten();
  EXPECT_FALSE(w.rows.contains("a"));
  EXPECT_TRUE(w.rows.contains("clock"));
  EXPECT_EQ(w.state.counters.forgotten, 1U);
}

TEST(retention, begins_a_strict_aggregate_with_its_first_number_again) {
  world w = forgetting(order::strict);
  EXPECT_EQ(said(w, 100'000, 1, "a"), verdict::applied);
  EXPECT_EQ(said(w, 100'001, 2, "b"), verdict::applied);
  EXPECT_EQ(said(w, 120'000, 1, "-", "clock"), verdict::applied);
  EXPECT_EQ(said(w, 120'001, 3, "c"), verdict::parked) << "the two before it are missing now";
  EXPECT_EQ(w.snapshot(), "?");
  EXPECT_EQ(said(w, 120'002, 1, "A"), verdict::applied);
  EXPECT_EQ(said(w, 120'003, 2, "B"), verdict::applied);
  EXPECT_EQ(w.snapshot(), "A;B;c;");
  EXPECT_EQ(w.state.counters.forgotten, 1U);
}

TEST(retention, numbers_an_aggregate_of_arrival_anew) {
  world w = forgetting(order::arrival);
  w.step({{.id = id_at(100'000, 1), .payload = "a", .time = 100'000, .offset = 0},
          {.id = id_at(100'000, 2), .payload = "b", .time = 100'000, .offset = 1}});
  EXPECT_EQ(w.rows.at("a").last, seq(2));
  w.step({{.aggregate = "clock", .id = id_at(120'000, 3), .time = 120'000, .offset = 2}});
  w.step({{.id = id_at(120'001, 4), .payload = "c", .time = 120'001, .offset = 3}});
  EXPECT_EQ(w.rows.at("a").last, seq(1));
  EXPECT_EQ(w.snapshot(), "c;");
}

TEST(retention, spares_an_aggregate_while_its_events_wait) {
  world w = forgetting(order::strict);
  EXPECT_EQ(said(w, 100'000, 1, "a"), verdict::applied);
  EXPECT_EQ(said(w, 100'001, 3, "c"), verdict::parked);
  EXPECT_EQ(said(w, 130'000, 1, "-", "clock"), verdict::applied);
  w.remove_forgotten();
  EXPECT_EQ(w.snapshot(), "a;");
  const auto change = w.step({{.sequence = seq(2), .payload = "b", .time = 100'000, .offset = 130'001}});
  EXPECT_EQ(change.decisions.at(0).verdict, verdict::applied) << "however old it is: the others wait for it";
  EXPECT_EQ(w.snapshot(), "a;b;c;");
  EXPECT_EQ(said(w, 139'000, 2, "-", "clock"), verdict::applied);
  EXPECT_EQ(said(w, 139'001, 1, "A"), verdict::stale) << "they were handled at 130'000";
}

TEST(retention, spares_an_aggregate_whose_event_is_dead_until_somebody_decides) {
  world w = forgetting();
  EXPECT_EQ(said(w, 100'000, 5, "a"), verdict::applied);
  EXPECT_EQ(said(w, 100'001, 6, "#"), verdict::dead);
  reach(w, 130'000);
  EXPECT_EQ(said(w, 130'001, 4, "b"), verdict::stale);
  w.remove_forgotten();
  EXPECT_EQ(w.snapshot(), "a;");
  EXPECT_EQ(w.run_command(waiting_verb::skip, seq(6)), waiting_answer::done);
  reach(w, 135'000);
  EXPECT_EQ(said(w, 135'001, 4, "b"), verdict::stale) << "it was touched when somebody decided";
  reach(w, 140'100);
  EXPECT_EQ(said(w, 140'101, 4, "b"), verdict::applied);
  EXPECT_TRUE(w.backlogs.empty()) << "the number that was skipped is forgotten with the rest";
  EXPECT_FALSE(w.rows.at("a").waits);
}

TEST(retention, takes_the_numbers_away_that_were_skipped) {
  world w = forgetting(order::strict);
  EXPECT_EQ(said(w, 100'000, 1, "a"), verdict::applied);
  EXPECT_EQ(said(w, 100'001, 3, "c"), verdict::parked);
  EXPECT_EQ(w.run_command(waiting_verb::skip, seq(2)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "a;c;");
  EXPECT_TRUE(w.backlogs.contains("a"));
  EXPECT_EQ(said(w, 130'000, 1, "-", "clock"), verdict::applied);
  w.remove_forgotten();
  EXPECT_FALSE(w.backlogs.contains("a"));
  EXPECT_FALSE(w.rows.contains("a"));
}

/// What came before it in its step is forgotten on the way.
TEST(retention, is_judged_record_by_record_within_a_step) {
  for (const bool folds : {true, false}) {
    world w = forgetting(order::latest, folds ? reducer{folding{}} : reducer{replacing{}});
    const auto change = w.step({{.sequence = seq(5), .payload = "old", .time = 100'000, .offset = 0},
                                {.aggregate = "clock", .time = 120'000, .offset = 1},
                                {.sequence = seq(4), .payload = "new", .time = 120'000, .offset = 2}});
    EXPECT_EQ(change.decisions.at(2).verdict, verdict::applied);
    EXPECT_EQ(w.rows.at("a").last, seq(4));
    EXPECT_EQ(w.snapshot(), folds ? "new;" : "new");
    EXPECT_EQ(w.state.counters.forgotten, 1U);
    EXPECT_EQ(w.published["a"], folds ? "old;new;" : "");
  }
}

/// One whose reducer failed is a new aggregate's first event, too.
TEST(retention, keeps_nothing_of_before_where_the_first_event_has_to_wait) {
  world w = forgetting();
  EXPECT_EQ(said(w, 100'000, 5, "old"), verdict::applied);
  reach(w, 120'000);
  EXPECT_EQ(said(w, 120'001, 4, "#"), verdict::dead);
  EXPECT_EQ(w.snapshot(), "?");
  EXPECT_EQ(w.state.counters.forgotten, 1U);
}

TEST(retention, takes_a_known_id_of_an_unknown_aggregate_for_an_old_event) {
  world w = forgetting();
  const auto id = id_at(130'000, 1);  // ahead of its record, so that it is remembered for longer
  w.step({{.sequence = seq(5), .id = id, .time = 100'000, .offset = 0}});
  reach(w, 120'000);
  const auto change = w.step({{.sequence = seq(5), .id = id, .time = 120'001, .offset = 120'001}});
  EXPECT_EQ(change.decisions.at(0), (decision{verdict::rejected, reject_reason::too_old}));
}

TEST(retention, counts_from_the_first_start_with_it_where_rows_have_no_time) {
  world w = forgetting();
  w.rules.retention.reset();
  EXPECT_EQ(said(w, 100'000, 5, "old"), verdict::applied);
  EXPECT_FALSE(w.rows.at("a").seen);
  reach(w, 120'000);
  EXPECT_FALSE(w.state.retention.before);
  w.rules.retention = milliseconds{k_retention};
  EXPECT_EQ(said(w, 120'001, 4, "b"), verdict::stale) << "it counts from 120'000";
  EXPECT_EQ(w.state.retention.since, at_ms(120'000));
  reach(w, 130'000);
  EXPECT_EQ(said(w, 130'001, 4, "b"), verdict::stale);
  reach(w, 130'002);
  EXPECT_EQ(said(w, 130'003, 4, "b"), verdict::applied);
}

TEST(retention, does_not_bring_back_what_is_forgotten_when_it_goes_or_becomes_longer) {
  world w = forgetting();
  EXPECT_EQ(said(w, 100'000, 5, "old"), verdict::applied);
  EXPECT_EQ(said(w, 109'000, 5, "kept", "b"), verdict::applied);
  reach(w, 115'000);
  ASSERT_EQ(w.state.retention.before, at_ms(105'000));
  world off = w;
  off.rules.retention.reset();
  world longer = w;
  longer.rules.retention = milliseconds{100 * k_retention};
  for (world* each : {&off, &longer}) {
    EXPECT_EQ(said(*each, 115'001, 4, "new"), verdict::applied);
    EXPECT_EQ(said(*each, 200'000, 4, "x", "b"), verdict::stale);
    EXPECT_EQ(each->state.retention.before, at_ms(105'000));
  }
  EXPECT_FALSE(off.rows.at("a").seen);
  EXPECT_FALSE(off.state.retention.since) << "rows that are written now count from when it comes back";
  EXPECT_EQ(said(off, 200'001, 1, "import", "old-ones"), verdict::applied);
  const auto change = off.step({{.aggregate = "x", .time = 50'000, .offset = 200'002}});
  EXPECT_EQ(change.decisions.at(0).verdict, verdict::applied) << "nothing is too old without a retention";
}

TEST(retention, leaves_no_old_time_with_what_changes_without_it) {
  world w = forgetting();
  w.step({{.aggregate = "other", .sequence = seq(1), .time = {}, .partition = 1, .offset = 0}});
  EXPECT_EQ(said(w, 100'000, 5, "a"), verdict::applied);
  ASSERT_TRUE(w.rows.contains("a"));
  EXPECT_EQ(w.rows.at("a").seen, at_ms(100'000));
  EXPECT_EQ(w.state.floor, std::nullopt) << "a partition without a time holds it back";
  w.rules.retention.reset();
  EXPECT_EQ(said(w, 200'000, 6, "b"), verdict::applied);
  EXPECT_EQ(w.rows.at("a").seen, std::nullopt) << "it counts from the next start with a retention";
}

TEST(retention, waits_until_the_time_of_a_stream_with_a_longer_window_is_known) {
  world w = forgetting();
  EXPECT_EQ(said(w, 100'000, 5, "a"), verdict::applied);
  reach(w, 101'000);
  w.rules.window = milliseconds{50'000};
  w.rules.floor_of_shorter_window = w.state.floor;
  EXPECT_EQ(said(w, 101'001, 4, "b"), verdict::stale);
  EXPECT_EQ(w.state.retention.before, at_ms(91'000));
}

TEST(retention, counts_deferred_events_from_when_they_came) {
  world w = forgetting(order::strict);
  w.rules.deferred = true;
  EXPECT_EQ(said(w, 100'000, 1, "a"), verdict::parked);
  EXPECT_EQ(said(w, 105'000, 1, "-", "clock"), verdict::parked);
  w.resume();
  EXPECT_EQ(w.snapshot(), "a;");
  EXPECT_EQ(w.rows.at("a").seen, at_ms(100'000)) << "and not from when its reducer ran";
  EXPECT_EQ(said(w, 112'000, 2, "-", "clock"), verdict::parked);
  EXPECT_EQ(said(w, 112'001, 1, "A"), verdict::parked);
  w.resume();
  EXPECT_EQ(w.snapshot(), "A;");
  EXPECT_EQ(w.state.counters.forgotten, 1U);
}

TEST(retention, does_not_forget_at_once_what_was_deferred_for_long) {
  world w = forgetting(order::strict);
  w.rules.deferred = true;
  EXPECT_EQ(said(w, 100'000, 1, "a"), verdict::parked);
  EXPECT_EQ(said(w, 150'000, 1, "-", "clock"), verdict::parked);
  w.remove_forgotten();
  w.resume();
  EXPECT_EQ(w.snapshot(), "a;");
  EXPECT_EQ(w.rows.at("a").seen, at_ms(150'000));
}

TEST(retention, does_not_forget_at_once_what_was_deferred_without_it) {
  world w = forgetting(order::strict);
  w.rules.deferred = true;
  w.rules.retention.reset();
  EXPECT_EQ(said(w, 100'000, 1, "a"), verdict::parked);
  w.rules.retention = milliseconds{k_retention};
  EXPECT_EQ(said(w, 105'000, 1, "-", "clock"), verdict::parked);
  EXPECT_EQ(said(w, 120'000, 2, "-", "clock"), verdict::parked);
  w.resume();
  ASSERT_TRUE(w.rows.contains("a"));
  EXPECT_EQ(w.rows.at("a").seen, at_ms(120'000)) << "the run of its reducer is all that is known";
}

TEST(retention, forgets_between_transactions) {
  world w = forgetting(order::arrival);
  w.rules.opaque_ids = true;
  w.rules.transactions_move_floor = true;
  const transaction_function append = [](state& s, effects&) {
    s.assign(std::string{s.value()} + "+");
    return done();
  };
  const auto transact = [&](std::int64_t now, const std::string& aggregate, std::uint64_t key) {
    const transaction_request request{aggregate, {1, key}, std::nullopt, &append};
    const step_plan plan = plan_transactions(w.rules, {&request, 1});
    std::vector<transaction_answer> answers;
    step_rows rows = w.look_up(plan);
    rows.answers.resize(plan.ids.size());
    const stream_change change =
        run_transactions(w.rules, w.state, {&request, 1}, plan, rows, at_ms(now), answers);
    w.state = change.after;
    for (const aggregate_change& c : change.rows) w.rows[aggregate] = c.row;
    return answers.empty() ? sequence{} : answers.front().sequence;
  };
  EXPECT_EQ(transact(100'000, "a", 1), seq(1));
  EXPECT_EQ(transact(100'001, "a", 2), seq(2));
  EXPECT_EQ(transact(110'001, "clock", 3), seq(1));
  EXPECT_EQ(transact(110'001, "a", 4), seq(3));
  EXPECT_EQ(transact(120'002, "clock", 5), seq(2));
  EXPECT_EQ(transact(120'003, "a", 6), seq(1));
  EXPECT_EQ(w.snapshot(), "+");
  EXPECT_EQ(w.state.counters.forgotten, 1U);
}

world parking(order o = order::strict, reducer r = folding{}) {
  world w = forgetting(o, std::move(r));
  w.rules.parks_too_old = true;
  EXPECT_EQ(said(w, 120'000, 1, "-", "clock"), verdict::applied);
  return w;
}

/// Behind 120'000: an event that was made at 100'000.
decision old_one(world& w, std::int64_t at, std::uint64_t number, std::string payload,
                 std::optional<event_id> id = {}) {
  const spec e{.sequence = seq(number),
               .id = id,
               .payload = std::move(payload),
               .time = at,
               .own_time = 100'000,
               .offset = at};
  return w.step({e}).decisions.at(0);
}

/// As it may be read back.
std::uint64_t undecided_in(const world& w) {
  const auto all = w.waiting.find("a");
  if (all == w.waiting.end()) return 0;
  return static_cast<std::uint64_t>(std::count_if(all->second.begin(), all->second.end(),
                                                  [](const auto& e) { return e.second.is_undecided(); }));
}

const decision k_dead{verdict::dead, reject_reason::none};
constexpr decision k_rejected_too_old{verdict::rejected, reject_reason::too_old};

TEST(old_events, wait_for_an_operator_where_their_aggregate_is_unknown) {
  for (const order o : {order::strict, order::latest}) {
    world w = parking(o);
    EXPECT_EQ(old_one(w, 120'001, 1, "a"), k_dead);
    EXPECT_EQ(w.state.counters.rejected_too_old, 0U);
    EXPECT_EQ(w.state.counters.waiting_dead, 1U);
    EXPECT_EQ(w.backlogs.at("a").too_old, 1U);
    EXPECT_NE(w.waiting.at("a").at(seq(1)).error.find("older than `retention`"), std::string::npos);
    EXPECT_EQ(old_one(w, 120'002, 1, "a").verdict, verdict::duplicate) << "it waits";
    EXPECT_EQ(w.run_command(waiting_verb::replay, seq(1)), waiting_answer::done);
    EXPECT_EQ(w.snapshot(), "a;");
    EXPECT_TRUE(w.backlogs.empty());
    EXPECT_EQ(old_one(w, 120'003, 1, "a").verdict, verdict::duplicate);
  }
}

TEST(old_events, are_let_through_by_none_of_their_aggregate) {
  world w = parking();
  EXPECT_EQ(old_one(w, 120'001, 5, "e"), k_dead);
  EXPECT_EQ(said(w, 120'002, 6, "f"), verdict::parked);
  EXPECT_EQ(said(w, 120'003, 1, "a"), verdict::parked) << "it waits, although its number is the first";
  EXPECT_EQ(old_one(w, 120'004, 2, "b"), k_dead) << "it is no better known than the other one";
  EXPECT_EQ(w.backlogs.at("a").too_old, 2U);
  EXPECT_EQ(w.snapshot(), "?");
  w.resume_backlogs();
  w.now += std::chrono::hours{1};
  w.resume();
  EXPECT_EQ(w.snapshot(), "?");
  EXPECT_EQ(w.run_command(waiting_verb::replay, seq(6)), waiting_answer::not_in_trouble);
  EXPECT_EQ(w.run_command(waiting_verb::skip, seq(1)), waiting_answer::not_first);
  EXPECT_EQ(w.run_command(waiting_verb::skip, seq(4)), waiting_answer::not_first) << "a number of the gap";
  EXPECT_EQ(w.run_command(waiting_verb::discard, seq(5)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "?") << "the other one is still to be decided";
  EXPECT_EQ(w.run_command(waiting_verb::discard, seq(2)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "a;");
  EXPECT_EQ(said(w, 120'005, 2, "B"), verdict::applied) << "the number is open again";
}

TEST(old_events, count_by_their_number_once_the_aggregate_is_known) {
  world w = parking();
  for (const std::uint64_t n : {1U, 2U, 3U}) EXPECT_EQ(old_one(w, 120'000 + std::int64_t(n), n, "o"), k_dead);
  EXPECT_EQ(said(w, 120'010, 4, "d"), verdict::parked);
  EXPECT_EQ(w.run_command(waiting_verb::replay, seq(1)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "o;");
  EXPECT_EQ(undecided_in(w), 2U);
  EXPECT_EQ(old_one(w, 120'011, 5, "e").verdict, verdict::parked) << "something of it was handled";
  EXPECT_EQ(w.run_command(waiting_verb::replay, seq(3)), waiting_answer::done);
  EXPECT_EQ(w.waiting.at("a").at(seq(3)).head.state, waiting_state::parked) << "the one before it is missing";
  EXPECT_TRUE(w.waiting.at("a").at(seq(3)).error.empty());
  EXPECT_EQ(w.run_command(waiting_verb::skip, seq(2)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "o;o;d;e;");
  EXPECT_EQ(w.state.counters.waiting(), 0U);
  EXPECT_EQ(w.state.counters.waiting_bytes, 0U);
}

TEST(old_events, wait_for_the_numbers_before_them_when_they_are_let_in) {
  world w = parking();
  EXPECT_EQ(old_one(w, 120'001, 3, "c"), k_dead);
  EXPECT_EQ(said(w, 120'002, 4, "d"), verdict::parked);
  EXPECT_EQ(w.run_command(waiting_verb::replay, seq(3)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "?") << "1 and 2 are missing";
  EXPECT_EQ(w.state.counters.waiting_parked, 2U);
  EXPECT_EQ(w.backlogs.at("a").too_old, 0U);
  EXPECT_EQ(said(w, 120'003, 1, "a"), verdict::applied);
  EXPECT_EQ(w.run_command(waiting_verb::skip, seq(2)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "a;c;d;");
}

TEST(old_events, give_what_is_missing_below_them_its_time_when_they_are_let_in) {
  world w = parking();
  w.rules.gap = {gap_policy::skip, milliseconds{5'000}};
  EXPECT_EQ(old_one(w, 120'001, 3, "c"), k_dead);
  EXPECT_EQ(said(w, 140'000, 2, "-", "clock"), verdict::applied);
  EXPECT_EQ(w.snapshot(), "?") << "no time ends its wait";
  EXPECT_EQ(w.run_command(waiting_verb::replay, seq(3)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "?");
  EXPECT_EQ(said(w, 144'999, 3, "-", "clock"), verdict::applied);
  EXPECT_EQ(w.snapshot(), "?");
  EXPECT_EQ(said(w, 145'000, 4, "-", "clock"), verdict::applied);
  EXPECT_EQ(w.snapshot(), "c;");
  EXPECT_EQ(said(w, 145'001, 2, "b"), verdict::rejected);
}

TEST(old_events, let_no_gap_grow_old) {
  world w = parking();
  w.rules.gap = {gap_policy::skip, milliseconds{5'000}};
  EXPECT_EQ(old_one(w, 120'001, 5, "e"), k_dead);
  EXPECT_EQ(said(w, 120'002, 3, "c"), verdict::parked);
  EXPECT_EQ(said(w, 140'000, 2, "-", "clock"), verdict::applied);
  EXPECT_FALSE(w.backlogs.at("a").gap_since);
  EXPECT_EQ(said(w, 140'001, 4, "d"), verdict::parked) << "and comes upon the gap below";
  EXPECT_EQ(w.snapshot(), "?");
  EXPECT_EQ(w.run_command(waiting_verb::discard, seq(5)), waiting_answer::done);
  EXPECT_EQ(said(w, 150'000, 3, "-", "clock"), verdict::applied);
  EXPECT_EQ(w.snapshot(), "c;d;");
}

TEST(old_events, may_be_skipped_with_all_below_them) {
  world w = parking();
  EXPECT_EQ(old_one(w, 120'001, 3, "c"), k_dead);
  EXPECT_EQ(said(w, 120'002, 4, "d"), verdict::parked);
  EXPECT_EQ(w.run_command(waiting_verb::skip, seq(3)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "d;");
  EXPECT_EQ(w.rows.at("a").last, seq(4));
  const decision late{verdict::rejected, reject_reason::late};
  EXPECT_EQ(old_one(w, 120'003, 3, "c"), late);
  EXPECT_EQ(old_one(w, 120'004, 1, "a"), late);
}

TEST(old_events, that_are_skipped_do_not_take_those_along_that_wait_below) {
  world w = parking();
  EXPECT_EQ(old_one(w, 120'001, 3, "c"), k_dead);
  EXPECT_EQ(old_one(w, 120'002, 5, "e"), k_dead);
  EXPECT_EQ(said(w, 120'003, 1, "a"), verdict::parked);
  EXPECT_EQ(w.run_command(waiting_verb::skip, seq(5)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "?");
  EXPECT_EQ(old_one(w, 120'004, 5, "e"), (decision{verdict::rejected, reject_reason::late}))
      << "somebody has decided about it";
  EXPECT_EQ(w.run_command(waiting_verb::skip, seq(3)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "a;");
  EXPECT_EQ(said(w, 120'005, 2, "b"), verdict::applied);
  EXPECT_EQ(w.rows.at("a").last, seq(3)) << "over the one that was skipped";
  EXPECT_EQ(said(w, 120'006, 4, "d"), verdict::applied);
  EXPECT_EQ(said(w, 120'007, 6, "f"), verdict::applied);
  EXPECT_EQ(w.snapshot(), "a;b;d;f;");
}

/// Of ranges that become one those between them would be lost.
TEST(old_events, are_skipped_out_of_their_turn_as_long_as_there_is_room_for_it) {
  world w = parking();
  constexpr std::uint64_t k_most = k_skipped_ranges / 2;
  std::int64_t at = 120'000;
  for (std::uint64_t n = 1; n <= 2 * k_most + 2; ++n) ASSERT_EQ(old_one(w, ++at, n, "o"), k_dead) << n;
  for (std::uint64_t n = 2; n <= 2 * k_most; n += 2)
    ASSERT_EQ(w.run_command(waiting_verb::skip, seq(n)), waiting_answer::done) << n;
  EXPECT_EQ(w.run_command(waiting_verb::skip, seq(2 * k_most + 2)), waiting_answer::not_first);
  for (std::uint64_t n = 1; n <= 2 * k_most + 1; n += 2)
    ASSERT_EQ(w.run_command(waiting_verb::replay, seq(n)), waiting_answer::done) << n;
  EXPECT_EQ(w.rows.at("a").last, seq(2 * k_most + 1));
  EXPECT_EQ(w.run_command(waiting_verb::skip, seq(2 * k_most + 2)), waiting_answer::done);
  EXPECT_EQ(w.published["a"].size(), 2 * (k_most + 1));
}

TEST(old_events, stay_in_front_where_they_are_not_at_hand) {
  world w = parking();
  w.queue_events = 1;
  EXPECT_EQ(old_one(w, 120'001, 9, "i"), k_dead);
  for (const std::uint64_t n : {3U, 2U, 1U})
    EXPECT_EQ(said(w, 120'010 - std::int64_t(n), n, std::to_string(n)), verdict::parked);
  EXPECT_EQ(old_one(w, 120'011, 7, "g"), k_dead);
  EXPECT_EQ(w.run_command(waiting_verb::skip, seq(7)), waiting_answer::done);
  EXPECT_EQ(w.run_command(waiting_verb::replay, seq(9)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "1;2;3;");
  EXPECT_EQ(w.state.counters.waiting_parked, 1U);
}

TEST(old_events, whose_id_is_known_were_handled) {
  for (const order o : {order::strict, order::latest}) {
    world w = forgetting(o);
    w.rules.parks_too_old = true;
    const auto id = id_at(130'000, 1);  // ahead of its record, so that it is remembered for longer
    w.step({{.sequence = seq(1), .id = id, .time = 100'000, .offset = 0}});
    EXPECT_EQ(said(w, 120'000, 1, "-", "clock"), verdict::applied);
    EXPECT_EQ(old_one(w, 120'001, 1, "x", id), k_rejected_too_old);
    EXPECT_TRUE(w.backlogs.empty());
    EXPECT_EQ(w.rows.at("a").last, seq(1)) << "what is forgotten stays as it is";
    EXPECT_EQ(old_one(w, 120'002, 2, "y"), k_dead);
    EXPECT_EQ(old_one(w, 120'003, 1, "x", id), k_rejected_too_old) << "also where another one waits";
  }
}

TEST(old_events, below_the_first_number_wait_for_nobody) {
  world w = parking();
  EXPECT_EQ(old_one(w, 120'001, 0, "x"), (decision{verdict::rejected, reject_reason::below_first}));
  w.rules.gate.first = first_number::zero;
  EXPECT_EQ(old_one(w, 120'002, 0, "x"), k_dead);
}

TEST(old_events, begin_a_forgotten_aggregate_anew) {
  world w = forgetting(order::strict);
  w.rules.parks_too_old = true;
  EXPECT_EQ(said(w, 100'000, 1, "a"), verdict::applied);
  EXPECT_EQ(said(w, 120'000, 1, "-", "clock"), verdict::applied);
  EXPECT_EQ(old_one(w, 120'001, 2, "b"), k_dead);
  EXPECT_EQ(w.snapshot(), "?");
  EXPECT_EQ(w.state.counters.forgotten, 1U);
  w.remove_forgotten();
  EXPECT_EQ(said(w, 140'000, 2, "-", "clock"), verdict::applied);
  EXPECT_EQ(said(w, 140'001, 1, "A"), verdict::parked) << "it waits for as long as nobody decides";
  EXPECT_EQ(w.run_command(waiting_verb::replay, seq(2)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "A;b;");
}

TEST(old_events, are_no_matter_where_another_one_of_their_aggregate_waits) {
  world w = parking();
  EXPECT_EQ(said(w, 120'001, 2, "b"), verdict::parked);
  EXPECT_EQ(old_one(w, 120'002, 1, "a").verdict, verdict::applied);
  EXPECT_EQ(w.snapshot(), "a;b;");
}

TEST(old_events, that_are_skipped_leave_a_known_aggregate) {
  world w = parking();
  EXPECT_EQ(old_one(w, 120'001, 1, "a"), k_dead);
  EXPECT_EQ(w.run_command(waiting_verb::skip, seq(1)), waiting_answer::done);
  EXPECT_EQ(w.rows.at("a").last, seq(1));
  EXPECT_EQ(w.rows.at("a").seen, at_ms(120'001)) << "it counts from the decision";
  EXPECT_EQ(old_one(w, 120'002, 2, "b").verdict, verdict::applied);
}

TEST(old_events, leave_nothing_behind_when_they_are_discarded) {
  world w = parking();
  EXPECT_EQ(old_one(w, 120'001, 4, "d"), k_dead);
  EXPECT_EQ(w.run_command(waiting_verb::discard, seq(4)), waiting_answer::done);
  EXPECT_TRUE(w.backlogs.empty());
  EXPECT_FALSE(w.rows.contains("a"));
  EXPECT_EQ(old_one(w, 120'002, 4, "d"), k_dead);
}

TEST(old_events, that_are_tried_and_fail_are_dead_as_any_other_one) {
  world w = parking();
  EXPECT_EQ(old_one(w, 120'001, 1, "#"), k_dead);
  EXPECT_EQ(old_one(w, 120'002, 2, "b"), k_dead);
  EXPECT_EQ(w.run_command(waiting_verb::replay, seq(1)), waiting_answer::done);
  EXPECT_EQ(w.waiting.at("a").at(seq(1)).attempts, 1U);
  EXPECT_EQ(w.backlogs.at("a").too_old, 1U);
  EXPECT_EQ(w.run_command(waiting_verb::replay, seq(1), "a"), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "a;");
  EXPECT_EQ(w.run_command(waiting_verb::skip, seq(2)), waiting_answer::done);
  EXPECT_EQ(w.rows.at("a").last, seq(2));
}

TEST(old_events, are_rejected_or_judged_by_their_number_where_the_config_is_another_one) {
  world w = parking();
  EXPECT_EQ(old_one(w, 120'001, 4, "d"), k_dead);
  world rejects = w;
  rejects.rules.parks_too_old = false;
  EXPECT_EQ(old_one(rejects, 120'002, 2, "b"), k_rejected_too_old);
  EXPECT_EQ(old_one(rejects, 120'003, 4, "d").verdict, verdict::duplicate);
  EXPECT_EQ(said(rejects, 120'004, 1, "a"), verdict::parked) << "what waits still stands in front";
  world off = w;
  off.rules.retention.reset();
  EXPECT_EQ(old_one(off, 120'002, 1, "a").verdict, verdict::parked);
  world defers = w;
  defers.rules.parks_too_old = false;
  defers.rules.deferred = true;
  EXPECT_EQ(said(defers, 120'002, 1, "a"), verdict::parked);
  defers.work_off();
  EXPECT_EQ(defers.snapshot(), "?");
  EXPECT_EQ(defers.run_command(waiting_verb::skip, seq(4)), waiting_answer::done);
  defers.work_off();
  EXPECT_EQ(defers.snapshot(), "a;");
}

TEST(old_events, of_an_aggregate_that_is_held_are_let_go_one_by_one) {
  world w = parking();
  w.rules.waiting.per_aggregate = 2;
  EXPECT_EQ(old_one(w, 120'001, 3, "c"), k_dead);
  EXPECT_EQ(said(w, 120'002, 2, "b"), verdict::parked);
  EXPECT_EQ(said(w, 120'003, 1, "a"), verdict::dead);
  EXPECT_TRUE(w.backlogs.at("a").held);
  EXPECT_EQ(w.run_command(waiting_verb::replay, seq(1)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "?") << "it is held no more, and waits for the decision";
  EXPECT_EQ(w.run_command(waiting_verb::replay, seq(3)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "a;b;c;");
}

TEST(old_events, may_begin_anywhere_where_any_number_is_the_first) {
  world w = parking();
  w.rules.gate.first = first_number::any;
  w.rules.gap = {gap_policy::skip, milliseconds{5'000}};
  EXPECT_EQ(old_one(w, 120'001, 7, "g"), k_dead);
  EXPECT_EQ(said(w, 120'002, 8, "h"), verdict::parked);
  EXPECT_EQ(said(w, 130'000, 2, "-", "clock"), verdict::applied);
  EXPECT_EQ(w.snapshot(), "?");
  world skips = w;
  EXPECT_EQ(skips.run_command(waiting_verb::skip, seq(7)), waiting_answer::done);
  EXPECT_EQ(skips.snapshot(), "h;");
  EXPECT_EQ(w.run_command(waiting_verb::replay, seq(7)), waiting_answer::done);
  EXPECT_EQ(said(w, 135'000, 3, "-", "clock"), verdict::applied);
  EXPECT_EQ(w.snapshot(), "g;h;");
}

TEST(old_events, of_an_epoch_are_let_in_as_any_first_event) {
  world w = parking();
  w.rules.gate.epoch_change = epoch_change::accept;
  const auto at = [&](std::int64_t time, sequence s, const char* payload, std::int64_t own) {
    const spec e{.sequence = s, .payload = payload, .time = time, .own_time = own, .offset = time};
    return w.step({e}).decisions.at(0).verdict;
  };
  EXPECT_EQ(at(120'001, seq(2, 1), "x", 100'000), verdict::dead);
  EXPECT_EQ(at(120'002, seq(1, 1), "a", 120'002), verdict::parked);
  EXPECT_EQ(w.run_command(waiting_verb::replay, seq(2, 1)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "a;x;");
  EXPECT_EQ(w.rows.at("a").last, seq(2, 1));
}

TEST(old_events, with_ranges_take_what_lies_inside_them_along) {
  for (const std::size_t at_hand : {std::size_t{1}, k_queue_events}) {
    world w = parking();
    w.rules.has_ranges = true;
    w.queue_events = at_hand;
    const auto range = [&](std::int64_t time, std::uint64_t from, std::uint64_t to, std::int64_t own) {
      const spec e{.sequence = seq(to),
                   .payload = std::to_string(from) + "-" + std::to_string(to),
                   .time = time,
                   .own_time = own,
                   .offset = time,
                   .begins_at = from};
      return w.step({e}).decisions.at(0).verdict;
    };
    EXPECT_EQ(range(120'001, 4, 8, 100'000), verdict::dead);
    EXPECT_EQ(range(120'002, 2, 3, 120'000), verdict::parked);
    EXPECT_EQ(range(120'003, 5, 5, 120'000), verdict::parked);
    EXPECT_EQ(range(120'004, 6, 6, 120'000), verdict::parked);
    EXPECT_EQ(range(120'005, 9, 9, 120'000), verdict::parked);
    EXPECT_EQ(w.run_command(waiting_verb::skip, seq(8)), waiting_answer::done);
    EXPECT_EQ(w.snapshot(), "?");
    EXPECT_EQ(range(120'006, 1, 1, 120'000), verdict::applied);
    EXPECT_EQ(w.snapshot(), "1-1;2-3;9-9;") << at_hand;
    EXPECT_EQ(w.state.counters.stale, 2U);
    EXPECT_EQ(w.state.counters.waiting_bytes, 0U);
  }
}

TEST(old_events, of_latest_stand_in_nobodys_way) {
  world w = parking(order::latest);
  EXPECT_EQ(old_one(w, 120'001, 5, "e"), k_dead);
  EXPECT_EQ(old_one(w, 120'002, 7, "g"), k_dead) << "it makes the other one needless only once it is let in";
  EXPECT_EQ(said(w, 120'003, 3, "c"), verdict::applied);
  EXPECT_EQ(w.snapshot(), "c;");
  EXPECT_EQ(w.state.counters.waiting_dead, 2U);
  EXPECT_EQ(said(w, 120'004, 6, "f"), verdict::applied);
  EXPECT_EQ(w.state.counters.superseded, 1U);
  EXPECT_EQ(w.backlogs.at("a").too_old, 1U);
  world skips = w;
  EXPECT_EQ(skips.run_command(waiting_verb::skip, seq(7)), waiting_answer::done);
  EXPECT_EQ(said(skips, 120'005, 7, "G"), verdict::rejected);
  EXPECT_EQ(w.run_command(waiting_verb::replay, seq(7)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "c;f;g;");
  EXPECT_TRUE(w.backlogs.empty());
}

TEST(old_events, of_arrival_wait_by_their_ids_alone) {
  world w = forgetting(order::arrival);
  w.rules.parks_too_old = true;
  w.step({{.aggregate = "clock", .id = id_at(120'000, 3), .time = 120'000, .offset = 2}});
  const auto change =
      w.step({{.id = id_at(120'000, 4), .payload = "b", .time = 120'000, .own_time = 100'000, .offset = 3},
              {.id = id_at(100'000, 5), .payload = "c", .time = 120'000, .offset = 4},
              {.id = id_at(120'000, 6), .payload = "d", .time = 120'000, .offset = 5}});
  EXPECT_EQ(verdicts_of(change), (std::vector{verdict::applied, verdict::dead, verdict::parked}));
  EXPECT_EQ(w.backlogs.at("a").too_old, 0U) << "whatever waits there stands in the way";
}

/// A step may have all of it or one event of it.
TEST(old_events, come_to_the_same_in_any_step) {
  const auto event = [](std::int64_t time, std::uint64_t n, const char* payload, std::int64_t own) {
    return spec{.sequence = seq(n), .payload = payload, .time = time, .own_time = own, .offset = time};
  };
  const std::vector<spec> all{event(120'001, 1, "a", 120'001),
                              event(120'002, 2, "b", 100'000),
                              {.aggregate = "clock", .sequence = seq(2), .time = 140'000, .offset = 140'000},
                              event(140'001, 3, "c", 120'000),
                              event(140'002, 1, "A", 140'000),
                              event(140'003, 4, "d", 140'000)};
  world one = parking();
  const auto together = one.step(all);
  world many = parking();
  std::vector<decision> apart;
  for (const spec& e : all) apart.push_back(many.step({e}).decisions.at(0));
  EXPECT_EQ(together.decisions, apart);
  EXPECT_EQ(verdicts_of(together), (std::vector{verdict::applied, verdict::applied, verdict::applied,
                                                verdict::dead, verdict::parked, verdict::parked}));
  EXPECT_EQ(one.state, many.state);
  EXPECT_EQ(one.backlogs, many.backlogs);
  EXPECT_EQ(one.waiting, many.waiting);
}

}  // namespace
}  // namespace ratchet
