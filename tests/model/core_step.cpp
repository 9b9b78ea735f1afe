// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/step.hpp"
#include "model/core_facts.hpp"
#include "model/core_histories.hpp"
#include "model/core_oracle.hpp"
#include "model/core_runner.hpp"
#include "model/core_settings.hpp"
#include "support/core_print.hpp"
#include "support/core_world.hpp"

namespace ratchet::testing {

namespace {

/// Aggregates as readers see them, where all has been read.
facts seen_in(world w) {
  w.remove_forgotten();
  facts out;
  for (const auto& [what, how] : state_of(w)) {
    const bool is_of_aggregate = what.starts_with("aggregate") || what.starts_with("published");
    if (is_of_aggregate) out.emplace(what, how);
  }
  return out;
}

std::vector<raw_event> some_history() {
  return *rc::gen::scale(1.5, rc::gen::arbitrary<std::vector<raw_event>>()).as("history");
}
std::vector<int> some_ints(int low, int high, const char* name) {
  return *rc::gen::container<std::vector<int>>(rc::gen::inRange(low, high)).as(name);
}

/// How much of what is deferred is run between the steps: nothing, or a few events.
std::vector<int> some_turns(const setting& s) {
  return s.deferred ? some_ints(0, 4, "run") : std::vector<int>{};
}

/// Ten times rapidcheck's default, unless the caller says otherwise; read by the first check.
const int k_more_of_it = setenv("RC_PARAMS", "max_success=1000", 0);

class step_model : public ::testing::TestWithParam<setting> {};
INSTANTIATE_TEST_SUITE_P(orders, step_model, ::testing::ValuesIn(k_settings),
                         [](const auto& tested) { return std::string{tested.param.name}; });

std::vector<setting> those_that_forget() {
  std::vector<setting> out;
  std::copy_if(std::begin(k_settings), std::end(k_settings), std::back_inserter(out),
               [](const setting& s) { return s.retention.has_value(); });
  return out;
}
class forgetting_model : public ::testing::TestWithParam<setting> {};
INSTANTIATE_TEST_SUITE_P(orders, forgetting_model, ::testing::ValuesIn(those_that_forget()),
                         [](const auto& tested) { return std::string{tested.param.name}; });

TEST_P(step_model, is_the_oracles_state_for_any_cut_into_steps) {
  const setting& s = GetParam();
  EXPECT_TRUE(rc::check("any cut", [&s] {
    const auto history = history_for(s, some_history(), true);
    const oracle want = told(s, history);
    const world got = runner{fresh(s), history}.run({some_ints(1, 12, "cuts"), {}, {}, some_turns(s)});
    RC_ASSERT(state_of(got) == state_of(want));
    RC_ASSERT(counts_of(got) == counts_of(want));
    RC_ASSERT(got.state.counters.accounted() == got.state.counters.consumed);
  }));
}

/// What an oracle that forgets record by record leaves, whenever rows are taken away.
TEST_P(forgetting_model, is_the_same_whenever_forgotten_rows_are_taken_away) {
  const setting& s = GetParam();
  EXPECT_TRUE(rc::check("sweeps", [&s] {
    const auto history = history_for(s, some_history(), true);
    oracle want = told(s, history);
    want.remove_forgotten();
    runner kept{fresh(s), history};
    (void)kept.run({{1}, {}, {}});
    runner swept{fresh(s), history};
    world got = swept.run({some_ints(1, 12, "cuts"), {}, {}, {}, some_ints(0, 3, "sweeps")});
    got.remove_forgotten();
    RC_ASSERT(state_of(got) == state_of(want));
    RC_ASSERT(counts_of(got) == counts_of(want));
    RC_ASSERT(swept.said() == kept.said());
  }));
}

/// Each partition has aggregates of its own, and its records have times: then it makes no difference how far
/// the others are.
TEST_P(forgetting_model, forgets_the_same_in_whatever_turn_partitions_are_read) {
  setting s = GetParam();
  s.gap_timeout.reset();  // all partitions together say how old a gap is
  if (s.first == first_number::any) GTEST_SKIP() << "which needs gaps to be skipped";
  EXPECT_TRUE(rc::check("turns", [&s] {
    auto history = history_for(s, some_history(), true);
    std::erase_if(history, [](const spec& e) { return !e.time; });
    world begin = fresh(s);
    for (int p = 0; p < k_partitions; ++p)  // as an assignment enters them
      begin.state.partitions[{"t", static_cast<partition_id>(p)}].next_offset = k_from_log_start;
    for (spec& e : history) {
      e.aggregate += std::to_string(e.partition);
      e.id.reset();  // whether ids are remembered the slowest partition says
    }
    auto read_anew = history;
    std::stable_sort(read_anew.begin(), read_anew.end(),
                     [](const spec& a, const spec& b) { return a.partition < b.partition; });
    const world live = runner{begin, history}.run({some_ints(1, 12, "cuts"), {}, {}});
    const world rebuilt = runner{begin, read_anew}.run({some_ints(1, 12, "cuts"), {}, {}});
    RC_ASSERT(seen_in(live) == seen_in(rebuilt));
  }));
}

/// But for what waits behind an event that failed.
TEST_P(step_model, is_the_same_state_whether_events_are_deferred_or_not) {
  if (!GetParam().deferred) GTEST_SKIP() << "nothing is deferred";
  setting direct = GetParam();
  direct.deferred = false;
  EXPECT_TRUE(rc::check("deferred", [&direct] {
    const setting& s = GetParam();
    const auto history = history_for(s, some_history(), false);
    const world want = runner{fresh(direct), history}.run({{1}, {}, {}});
    const world got = runner{fresh(s), history}.run({some_ints(1, 12, "cuts"), {}, {}, some_turns(s)});
    RC_ASSERT(state_of(got) == state_of(want));
    RC_ASSERT(counts_of(got) == counts_of(want));
  }));
}

TEST_P(step_model, says_the_same_of_each_record_for_any_cut_into_steps) {
  const setting& s = GetParam();
  EXPECT_TRUE(rc::check("verdicts", [&s] {
    const auto history = history_for(s, some_history(), true);
    runner one_by_one{fresh(s), history};
    const world want = one_by_one.run({{1}, {}, {}});
    runner cut{fresh(s), history};
    const world got = cut.run({some_ints(1, 12, "cuts"), {}, {}, some_turns(s)});
    RC_ASSERT(cut.said() == one_by_one.said());
    RC_ASSERT(got.fates == want.fates);
  }));
}

/// Runs the history with crashes and with records delivered again, and compares with the oracle.
void check_delivered_again(const setting& s, const std::vector<spec>& history) {
  const oracle want = told(s, history);
  const world got = runner{fresh(s), history}.run({some_ints(1, 12, "cuts"), some_ints(0, 5, "sync or crash"),
                                                   some_ints(0, 7, "delivered again"), some_turns(s)});
  RC_ASSERT(state_of(got) == state_of(want));
  facts got_counts = counts_of(got);
  facts want_counts = counts_of(want);
  got_counts.erase("duplicate");
  want_counts.erase("duplicate");
  RC_ASSERT(got_counts == want_counts);
  RC_ASSERT(got.state.counters.accounted() == got.state.counters.consumed);
}

// No failing events where there are crashes: one that is tried again after others were handled may have
// become stale meanwhile, which is another interleaving.

TEST_P(step_model, is_the_same_state_after_crashes) {
  const setting& s = GetParam();
  EXPECT_TRUE(rc::check("crashes", [&s] {
    const auto history = history_for(s, some_history(), false);
    const oracle want = told(s, history);
    const world got = runner{fresh(s), history}.run(
        {some_ints(1, 12, "cuts"), some_ints(0, 5, "sync or crash"), {}, some_turns(s)});
    RC_ASSERT(state_of(got) == state_of(want));
    RC_ASSERT(counts_of(got) == counts_of(want));
  }));
}

TEST_P(step_model, is_the_same_state_when_records_are_delivered_again) {
  const setting& s = GetParam();
  EXPECT_TRUE(rc::check("redelivery", [&s] {
    const auto history = history_for(s, some_history(), false);
    check_delivered_again(s, history);
  }));
}

TEST_P(step_model, is_the_oracles_state_where_records_hold_several_events) {
  const setting& s = GetParam();
  EXPECT_TRUE(rc::check("several events in a record", [&s] {
    const auto history =
        in_records(history_for(s, some_history(), true), some_ints(0, 4, "more in a record"));
    const oracle want = told(s, history);
    const world got = runner{fresh(s), history}.run({some_ints(1, 12, "cuts"), {}, {}, some_turns(s)});
    RC_ASSERT(state_of(got) == state_of(want));
    RC_ASSERT(counts_of(got) == counts_of(want));
  }));
}

TEST_P(step_model, is_the_same_state_after_crashes_within_records) {
  const setting& s = GetParam();
  EXPECT_TRUE(rc::check("crashes within records", [&s] {
    const auto history =
        in_records(history_for(s, some_history(), false), some_ints(0, 4, "more in a record"));
    check_delivered_again(s, history);
  }));
}

/// What the design promises: with unique sequences the newest wins, in whatever order and however often they
/// come. Here the oracle is one line.
TEST(step_model, lets_the_newest_win_whatever_the_interleaving) {
  EXPECT_TRUE(rc::check("interleaving", [] {
    const auto drawn = *rc::gen::container<std::vector<std::pair<int, int>>>(
        rc::gen::pair(rc::gen::inRange(0, 4), rc::gen::inRange(0, 9)));
    std::map<std::string, std::uint64_t> newest;
    std::vector<spec> history;
    std::map<int, std::int64_t> next;
    for (const auto& [aggregate, number] : drawn) {
      spec e;
      e.aggregate = std::string(1, static_cast<char>('a' + aggregate));
      e.sequence = seq(static_cast<std::uint64_t>(number));
      e.id = id_at(k_base, static_cast<std::uint64_t>(aggregate * 100 + number));
      e.payload = std::to_string(number);
      e.time = k_base;
      e.partition = *rc::gen::inRange(0, k_partitions);
      e.offset = next[e.partition]++;
      history.push_back(e);
      newest[e.aggregate] = std::max(newest[e.aggregate], e.sequence.number);
    }
    const world got = runner{fresh(k_settings[0]), history}.run(
        {some_ints(1, 12, "cuts"), some_ints(0, 5, "sync or crash"), some_ints(0, 7, "delivered again")});
    RC_ASSERT(got.rows.size() == newest.size());
    for (const auto& [aggregate, number] : newest) {
      RC_ASSERT(got.snapshot(aggregate) == std::to_string(number));
      RC_ASSERT(got.rows.at(aggregate).last == seq(number));
    }
  }));
}

/// Each id is applied once, whatever the interleaving: in arrival order the number of an aggregate counts
/// them.
TEST(step_model, applies_each_id_inside_the_window_once) {
  EXPECT_TRUE(rc::check("once", [] {
    const auto drawn = *rc::gen::container<std::vector<std::pair<int, int>>>(
        rc::gen::pair(rc::gen::inRange(0, 3), rc::gen::inRange(0, 12)));
    std::map<std::string, std::set<int>> unique;
    std::vector<spec> history;
    for (const auto& [aggregate, n] : drawn) {
      spec e;
      e.aggregate = std::string(1, static_cast<char>('a' + aggregate));
      e.id = id_at(k_base, static_cast<std::uint64_t>(n));
      e.time = k_base;
      e.offset = std::ssize(history);
      history.push_back(e);
      unique[e.aggregate].insert(n);
    }
    const world got = runner{fresh(k_settings[4]), history}.run(
        {some_ints(1, 12, "cuts"), some_ints(0, 5, "sync or crash"), some_ints(0, 7, "delivered again")});
    RC_ASSERT(got.rows.size() == unique.size());
    for (const auto& [aggregate, ids] : unique) {
      RC_ASSERT(got.rows.at(aggregate).last == seq(ids.size()));
      RC_ASSERT(got.snapshot(aggregate).size() == 2 * ids.size());
    }
  }));
}

/// A generator that never reaches a branch proves nothing about it.
TEST(step_model, meets_every_verdict_in_its_histories) {
  std::map<std::string, int> met;
  int histories = 0;
  EXPECT_TRUE(rc::check("coverage", [&] {
    ++histories;
    const auto history = to_specs(some_history(), true);
    for (const setting& s : k_settings) {
      const oracle o = told(s, history);
      for (const auto& [what, n] : o.counts) ++met[what];
      if (!o.stopped.empty()) ++met["stopped"];
    }
  }));
  constexpr int k_usual = 100;
  if (histories < k_usual) GTEST_SKIP() << "a few histories need not meet everything";
  for (const char* what : {"applied", "duplicate", "stale", "ignored", "malformed", "conflict", "too_old",
                           "id_reused", "stopped"}) {
    EXPECT_GT(met[what], 0) << what;
  }
}

}  // namespace
}  // namespace ratchet::testing
