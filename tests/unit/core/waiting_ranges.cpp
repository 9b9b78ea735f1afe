// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Order strict, where an event covers a range of numbers and ranges overlap.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/core_print.hpp"
#include "support/core_world.hpp"

namespace ratchet {
namespace {

using std::chrono::milliseconds;
using testing::folding;
using testing::spec;
using testing::verdicts_of;
using testing::world;
using verdicts = std::vector<verdict>;

world of_ranges(bool deferred = false) {
  world w{folding{}, order::strict};
  w.rules.dedup = false;
  w.rules.has_ranges = true;
  w.rules.deferred = deferred;
  w.rules.retry.attempts = 9;
  return w;
}

spec range(std::uint64_t first, std::uint64_t last, std::string payload = {}) {
  spec s{.sequence = seq(last)};
  s.begins_at = first;
  s.payload = payload.empty() ? std::to_string(first) + "-" + std::to_string(last) : std::move(payload);
  return s;
}

std::int64_t send(world& w, std::vector<spec> all, bool in_one = false, std::int64_t offset = 0) {
  for (spec& s : all) s.offset = offset++;
  if (in_one) {
    w.step(all);
  } else {
    for (const spec& s : all) w.step({s});
  }
  w.work_off();
  return offset;
}

TEST(waiting_ranges, let_one_that_follows_pass_what_waits_inside_it) {
  for (const bool deferred : {false, true}) {
    for (const bool in_one : {false, true}) {
      for (const std::size_t at_hand : {std::size_t{1}, k_queue_events}) {
        world w = of_ranges(deferred);
        w.queue_events = at_hand;
        send(w, {range(1, 4), range(6, 7), range(5, 10), range(11, 12)}, in_one);
        EXPECT_EQ(w.snapshot(), "1-4;5-10;11-12;") << deferred << in_one << at_hand;
        EXPECT_EQ(w.state.counters.stale, 1U);
        EXPECT_EQ(w.state.counters.waiting(), 0U);
        EXPECT_EQ(w.state.counters.accounted(), w.state.counters.consumed);
        EXPECT_FALSE(w.backlogs.contains("a"));
      }
    }
  }
}

TEST(waiting_ranges, are_released_by_where_they_begin) {
  for (const bool deferred : {false, true}) {
    std::vector<spec> late{range(6, 7), range(5, 10), range(8, 12), range(13, 13)};
    std::sort(late.begin(), late.end(), [](const spec& a, const spec& b) { return a.payload < b.payload; });
    do {
      world w = of_ranges(deferred);
      std::vector<spec> all{range(1, 2)};
      all.insert(all.end(), late.begin(), late.end());
      all.push_back(range(3, 4));
      send(w, all);
      EXPECT_EQ(w.snapshot(), "1-2;3-4;5-10;8-12;13-13;");
      EXPECT_EQ(w.state.counters.stale, 1U);
      EXPECT_FALSE(w.backlogs.contains("a"));
    } while (std::next_permutation(late.begin(), late.end(),
                                   [](const spec& a, const spec& b) { return a.payload < b.payload; }));
  }
}

TEST(waiting_ranges, skip_no_number_that_came) {
  for (const bool deferred : {false, true}) {
    for (const bool wide_first : {false, true}) {
      world w = of_ranges(deferred);
      w.rules.gap = {gap_policy::skip, milliseconds{5'000}};
      std::vector<spec> all{range(1, 3), range(6, 7), range(5, 10)};
      if (wide_first) std::swap(all[1], all[2]);
      spec other{.aggregate = "z", .sequence = seq(1)};
      for (spec& s : all) s.time = 10'000;
      other.time = 16'000;
      all.push_back(other);
      send(w, all);
      EXPECT_EQ(w.snapshot(), "1-3;5-10;");
      ASSERT_EQ(w.audits.size(), 1U);
      EXPECT_EQ(w.audits[0].text, "aggregate `a`: number 4 did not come in time");
      ASSERT_EQ(w.backlogs.at("a").skipped.size(), 1U);
      EXPECT_EQ(w.backlogs.at("a").skipped[0], (sequence_range{seq(4), seq(4)}));
      EXPECT_EQ(w.state.counters.stale, 1U);
    }
  }
}

/// Its turn had come before theirs, and it waits for a person.
TEST(waiting_ranges, wait_behind_one_that_failed) {
  world w = of_ranges();
  std::int64_t next = send(w, {range(1, 4), range(5, 6, "#"), range(5, 10), range(7, 8)});
  EXPECT_EQ(w.snapshot(), "1-4;");
  EXPECT_EQ(w.state.counters.waiting(), 3U);
  EXPECT_EQ(w.run_command(waiting_verb::replay, seq(6), "mended"), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "1-4;mended;7-8;5-10;");
  send(w, {range(11, 11)}, false, next);
  EXPECT_EQ(w.snapshot(), "1-4;mended;7-8;5-10;11-11;");
}

/// A wide one that failed covers a number that nobody is to wait for; what lies inside of it waits.
TEST(waiting_ranges, know_no_gap_where_one_that_failed_covers_it) {
  world w = of_ranges();
  w.rules.gap = {gap_policy::skip, milliseconds{5'000}};
  std::vector<spec> all{range(1, 3), range(6, 7), range(5, 10, "#"), range(4, 4)};
  for (spec& s : all) s.time = 10'000;
  all.push_back({.aggregate = "z", .sequence = seq(1), .time = 99'000});
  std::int64_t next = send(w, all);
  EXPECT_EQ(w.snapshot(), "1-3;4-4;");
  EXPECT_TRUE(w.audits.empty());
  EXPECT_FALSE(w.backlogs.at("a").gap_since) << "it would be due for ever";
  EXPECT_EQ(w.run_command(waiting_verb::skip, seq(7)), waiting_answer::not_first);
  EXPECT_EQ(w.run_command(waiting_verb::skip, seq(5)), waiting_answer::none_waits) << "it came";
  next = send(w, {range(5, 5)}, false, next);
  EXPECT_EQ(w.snapshot(), "1-3;4-4;5-5;6-7;") << "what came after all is next";
  EXPECT_EQ(w.run_command(waiting_verb::skip, seq(10)), waiting_answer::done);
  EXPECT_EQ(w.rows.at("a").last, seq(10));
  ASSERT_EQ(w.backlogs.at("a").skipped.size(), 1U);
  EXPECT_EQ(w.backlogs.at("a").skipped[0], (sequence_range{seq(8), seq(10)}));
}

TEST(waiting_ranges, go_with_one_that_is_skipped_over_them) {
  world w = of_ranges();
  send(w, {range(1, 4), range(6, 7), range(5, 10, "#"), range(11, 12)});
  ASSERT_EQ(w.state.counters.waiting(), 3U);
  EXPECT_EQ(w.run_command(waiting_verb::skip, seq(10)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "1-4;11-12;");
  EXPECT_EQ(w.state.counters.stale, 1U);
  EXPECT_EQ(w.state.counters.waiting(), 0U);
}

TEST(waiting_ranges, may_be_given_up_on_up_to_where_the_next_begins) {
  world w = of_ranges();
  send(w, {range(1, 3), range(6, 7), range(5, 10)});
  EXPECT_EQ(w.run_command(waiting_verb::skip, seq(5)), waiting_answer::none_waits);
  EXPECT_EQ(w.run_command(waiting_verb::skip, seq(4)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "1-3;5-10;");
}

/// What was skipped below a range is below where it begins.
TEST(waiting_ranges, that_are_discarded_leave_what_was_skipped_below_them) {
  world w = of_ranges(true);
  w.rules.gap = {gap_policy::skip, milliseconds{5'000}};
  std::vector<spec> all{range(1, 2), range(5, 8, "#"), range(9, 9)};
  for (spec& s : all) s.time = 10'000;
  all.push_back({.aggregate = "z", .sequence = seq(1), .time = 16'000});
  std::int64_t next = send(w, all);
  EXPECT_EQ(w.run_command(waiting_verb::discard, seq(8)), waiting_answer::done);
  send(w, {range(5, 8, "better")}, false, next);
  EXPECT_EQ(w.snapshot(), "1-2;better;9-9;");
  EXPECT_EQ(w.audits.size(), 2U) << "one gap, one decision";
}

}  // namespace
}  // namespace ratchet
