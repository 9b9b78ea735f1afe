// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// How much one step does at most, counted and not timed.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/transactions.hpp"
#include "support/core_world.hpp"

namespace ratchet::testing {
namespace {

constexpr std::size_t k_large = std::size_t{8} << 20U;

/// As a merge into a large snapshot: it reads all of the state, and writes all of it.
struct rewriting {
  static constexpr reducer_traits traits{.name = "rewriting"};
  outcome apply(const event& e, state& s, effects&) const {
    ++calls;
    std::string after(e.payload == "large" ? k_large : 1, 'x');
    after += std::to_string(s.exists() ? s.value().size() : 0);
    s.assign(std::move(after));
    return done();
  }
  static inline int calls{0};
};

std::vector<spec> events(std::size_t count, const std::string& payload) {
  std::vector<spec> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back({.id = id_at(1000, i), .payload = payload, .offset = static_cast<std::int64_t>(i)});
  return all;
}

TEST(the_work_of_a_step, ends_where_its_reducers_have_moved_much_state) {
  world w{rewriting{}, order::arrival};
  const std::vector<spec> all = events(30, "large");
  const batch b{all};
  const step_plan plan = plan_step(w.rules, w.reduce.traits(), b.events);
  rewriting::calls = 0;
  const stream_change change = run_step(w.rules, w.reduce, w.state, b.events, plan, w.look_up(plan), w.now);
  EXPECT_EQ(change.looked_at, 9U) << "8 MiB out of the first, 16 MiB in and out of each that follows";
  EXPECT_EQ(rewriting::calls, 18) << "once to see where it ends, and once up to there";
  EXPECT_EQ(change.after.counters.applied, 9U);
  const stream_change whole = w.step(all);
  for (const decision& d : whole.decisions) EXPECT_EQ(d.verdict, verdict::applied);
  EXPECT_EQ(w.state.counters.applied, 30U);
  EXPECT_EQ(w.partition(0).next_offset, 30);
}

TEST(the_work_of_a_step, is_bounded_where_a_closed_gap_releases_many) {
  world w{rewriting{}, order::strict};
  std::vector<spec> behind;
  for (std::uint64_t n = 2; n <= 30; ++n)
    behind.push_back({.sequence = seq(n), .payload = "large", .offset = static_cast<std::int64_t>(n)});
  w.step(behind);
  const std::vector<spec> first = {{.sequence = seq(1), .payload = "large", .offset = 99}};
  const batch b{first};
  const step_plan plan = plan_step(w.rules, w.reduce.traits(), b.events);
  rewriting::calls = 0;
  const stream_change change = run_step(w.rules, w.reduce, w.state, b.events, plan, w.look_up(plan), w.now);
  EXPECT_EQ(rewriting::calls, 9);
  EXPECT_EQ(change.after.counters.applied, 9U);
  ASSERT_EQ(change.backlogs.size(), 1U);
  ASSERT_TRUE(change.backlogs.front().after);
  EXPECT_TRUE(change.backlogs.front().after->ready) << "the next step goes on";
  w.step(first);
  w.resume_backlogs();
  EXPECT_EQ(w.state.counters.applied, 30U);
  EXPECT_EQ(w.state.counters.waiting(), 0U);
}

TEST(the_work_of_a_step, is_all_of_a_batch_where_states_are_small) {
  world w{rewriting{}, order::arrival};
  const std::vector<spec> all = events(2'000, "small");
  const batch b{all};
  const step_plan plan = plan_step(w.rules, w.reduce.traits(), b.events);
  rewriting::calls = 0;
  EXPECT_EQ(run_step(w.rules, w.reduce, w.state, b.events, plan, w.look_up(plan), w.now).looked_at, 2'000U);
  EXPECT_EQ(rewriting::calls, 2'000);
}

constexpr std::size_t k_message = std::size_t{900} << 10U;

/// As an `emit`, or a table of whole events: the state is small, and what comes of an event is not.
struct telling {
  static constexpr reducer_traits traits{.name = "telling", .has_effects = true};
  outcome apply(const event& e, state& s, effects& fx) const {
    ++calls;
    s.assign(e.payload);
    if (e.payload == "message") fx.publish({.topic = "out", .payload = std::string(k_message, 'm')});
    if (e.payload == "row") fx.put("rows", e.aggregate, std::string(k_message, 'r'));
    return done();
  }
  static inline int calls{0};
};

std::size_t looked_at(const world& w, const std::vector<spec>& all) {
  const batch b{all};
  const step_plan plan = plan_step(w.rules, w.reduce.traits(), b.events);
  return run_step(w.rules, w.reduce, w.state, b.events, plan, w.look_up(plan), w.now).looked_at;
}

/// They lie in memory until the step is written, and are written with it.
TEST(the_work_of_a_step, ends_where_its_reducers_have_made_much_of_messages_or_rows) {
  for (const std::string made : {"message", "row"}) {
    world w{telling{}, order::arrival};
    std::vector<spec> all = events(100, made);
    for (std::size_t i = 0; i < all.size(); ++i) all[i].aggregate = "a" + std::to_string(i);
    telling::calls = 0;
    EXPECT_EQ(looked_at(w, all), 37U) << made << ": a byte of it counts as four of a state";
    EXPECT_EQ(telling::calls, 74);
    world one_by_one = w;
    w.step(all);
    for (const spec& s : all) one_by_one.step({s});
    EXPECT_EQ(w.state, one_by_one.state);
    EXPECT_EQ(w.rows, one_by_one.rows);
    EXPECT_EQ(w.published, one_by_one.published);
    EXPECT_EQ(w.tables, one_by_one.tables);
  }
}

TEST(the_work_of_a_step, is_not_ended_by_messages_that_are_small) {
  world w{telling{}, order::arrival};
  EXPECT_EQ(looked_at(w, events(2'000, "small")), 2'000U);
}

TEST(the_work_of_a_step, is_bounded_where_a_closed_gap_releases_much_that_is_told) {
  world w{telling{}, order::strict};
  std::vector<spec> behind;
  for (std::uint64_t n = 2; n <= 100; ++n)
    behind.push_back({.sequence = seq(n), .payload = "message", .offset = static_cast<std::int64_t>(n)});
  w.step(behind);
  const std::vector<spec> first = {{.sequence = seq(1), .payload = "message", .offset = 199}};
  telling::calls = 0;
  EXPECT_EQ(looked_at(w, first), 1U);
  EXPECT_EQ(telling::calls, 37);
  w.step(first);
  w.resume_backlogs();
  EXPECT_EQ(w.state.counters.applied, 100U);
}

/// Each of them alone does less.
TEST(the_work_of_a_step, is_bounded_over_all_aggregates_that_wait) {
  world w{rewriting{}, order::strict};
  std::vector<spec> second;
  std::vector<spec> first;
  for (std::int64_t i = 0; i < 20; ++i) {
    const std::string name = "a" + std::to_string(10 + i);
    second.push_back({.aggregate = name, .sequence = seq(2), .payload = "large", .offset = i});
    first.push_back({.aggregate = name, .sequence = seq(1), .payload = "large", .offset = 100 + i});
  }
  w.step(second);
  EXPECT_EQ(looked_at(w, first), 6U) << "8 MiB out of the first, and 16 MiB in and out of the one behind it";
  w.step(first);
  EXPECT_EQ(w.state.counters.applied, 40U);
  EXPECT_EQ(w.state.counters.waiting(), 0U);
}

/// The first ones of so many in one step.
struct transacted_ones {
  stream_change change{};
  std::vector<transaction_answer> answers{};
};
transacted_ones transact(const world& w, const std::vector<transaction_request>& all, std::size_t known_rows,
                         std::size_t known_ids) {
  const step_plan plan = plan_transactions(w.rules, all);
  step_rows rows = w.look_up(plan);
  rows.answers.resize(plan.ids.size());
  rows.aggregates.resize(known_rows);
  rows.id_stored.resize(known_ids);
  transacted_ones out;
  out.change = run_transactions(w.rules, w.state, all, plan, rows, w.now, out.answers);
  return out;
}

TEST(transactions_of_a_step, are_as_many_as_move_what_one_step_may) {
  world w{rewriting{}, order::arrival};
  w.rules.opaque_ids = true;
  const transaction_function grow = [](state& s, effects&) {
    s.assign(std::string(k_large, 'x'));
    return done();
  };
  const transaction_function answer = [](state& s, effects& fx) {
    s.assign("x");
    fx.reply(std::string(k_message, 'a'));
    return done();
  };
  for (const auto& [function, first_ones] : {std::pair{&grow, 9U}, std::pair{&answer, 37U}}) {
    std::vector<transaction_request> all;
    for (std::uint64_t i = 0; i < 100; ++i) all.push_back({"a", {1, i}, std::nullopt, function});
    const transacted_ones done = transact(w, all, 1, 100);
    EXPECT_EQ(done.answers.size(), first_ones);
    EXPECT_EQ(done.change.after.counters.applied, first_ones);
    EXPECT_EQ(done.change.ids.size(), first_ones);
  }
}

TEST(transactions_of_a_step, end_before_what_was_not_looked_up) {
  world w{rewriting{}, order::arrival};
  w.rules.opaque_ids = true;
  const transaction_function put = [](state& s, effects&) {
    s.assign("x");
    return done();
  };
  std::vector<transaction_request> all;
  for (const char* name : {"a", "b", "a", "c", "a"})
    all.push_back({name, {1, all.size()}, std::nullopt, &put});
  EXPECT_EQ(transact(w, all, 3, 5).answers.size(), 5U);
  EXPECT_EQ(transact(w, all, 2, 5).answers.size(), 3U);
  EXPECT_EQ(transact(w, all, 1, 5).answers.size(), 1U);
  EXPECT_EQ(transact(w, all, 3, 2).answers.size(), 2U);
}

/// As a store does where their snapshots are large.
TEST(the_work_of_a_step, ends_before_the_first_event_whose_aggregate_was_not_looked_up) {
  world w{folding{}, order::arrival};
  w.step({{.aggregate = "b", .id = id_at(1000, 1), .payload = "0", .offset = 0}});
  std::vector<spec> all = events(4, "x");
  all[1].aggregate = "b";
  all[3].aggregate = "c";
  for (spec& s : all) ++s.offset;
  const batch b{all};
  const step_plan plan = plan_step(w.rules, w.reduce.traits(), b.events);
  step_rows rows = w.look_up(plan);
  rows.aggregates.resize(1);
  const stream_change change = run_step(w.rules, w.reduce, w.state, b.events, plan, rows, w.now);
  EXPECT_EQ(change.looked_at, 1U);
  EXPECT_EQ(change.after.counters.applied, 2U);
  rows = w.look_up(plan);
  rows.aggregates.resize(2);
  EXPECT_EQ(run_step(w.rules, w.reduce, w.state, b.events, plan, rows, w.now).looked_at, 3U);
}

}  // namespace
}  // namespace ratchet::testing
