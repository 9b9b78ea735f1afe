// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Aggregates that are forgotten, as nothing of them was handled for so long.
#include "core/retention.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

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

}  // namespace
}  // namespace ratchet
