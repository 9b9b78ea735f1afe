// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// How much one step does at most, counted and not timed.
#include <gtest/gtest.h>

#include <string>
#include <vector>

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
