// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Order latest, where several events have one number: one that waits there is later than the one applied.
#include <gtest/gtest.h>

#include <vector>

#include "support/core_print.hpp"
#include "support/core_world.hpp"

namespace ratchet {
namespace {

using testing::folding;
using testing::id_at;
using testing::spec;
using testing::verdicts_of;
using testing::world;
using verdicts = std::vector<verdict>;

constexpr auto k_done = waiting_answer::done;

world with_ties(bool has_ids = false) {
  world w{folding{}};
  w.rules.gate.ties_by_offset = true;
  w.rules.dedup = has_ids;
  w.rules.retry.attempts = 9;
  return w;
}

spec change(const char* payload, std::int64_t offset) {
  return {.sequence = seq(5), .payload = payload, .offset = offset};
}

TEST(waiting_ties, are_tried_again_though_an_earlier_one_of_their_number_was_applied) {
  world w = with_ties();
  w.step({change("a", 0), change("?1", 1)});
  ASSERT_EQ(w.state.counters.waiting_retrying, 1U);
  w.now += w.rules.retry.most;
  w.resume();
  EXPECT_EQ(w.snapshot(), "a;?1;");
  EXPECT_EQ(w.state.counters.applied, 2U);
  EXPECT_EQ(w.state.counters.superseded, 0U);
  EXPECT_FALSE(w.backlogs.contains("a"));
}

TEST(waiting_ties, are_applied_by_a_replay) {
  world w = with_ties();
  w.step({change("a", 0), change("#", 1)});
  ASSERT_EQ(w.state.counters.waiting_dead, 1U);
  EXPECT_EQ(w.run_command(waiting_verb::replay, seq(5), "mended"), k_done);
  EXPECT_EQ(w.snapshot(), "a;mended;");
}

TEST(waiting_ties, go_where_one_that_came_later_still_was_applied) {
  world w = with_ties();
  w.step({change("a", 0), change("?1", 1), change("c", 2)});
  EXPECT_EQ(w.snapshot(), "a;c;");
  EXPECT_EQ(w.state.counters.superseded, 1U);
  EXPECT_FALSE(w.backlogs.contains("a"));
}

/// What waits is the newest: bytes as those of the one before it are a change back, and no repeat.
TEST(waiting_ties, are_what_a_later_one_is_compared_with) {
  world w = with_ties();
  w.step({change("a", 0), change("#", 1)});
  EXPECT_EQ(verdicts_of(w.step({change("#", 2)})), verdicts{verdict::duplicate});
  EXPECT_EQ(verdicts_of(w.step({change("a", 3)})), verdicts{verdict::applied});
  EXPECT_EQ(w.snapshot(), "a;a;");
  EXPECT_EQ(verdicts_of(w.step({change("a", 4)})), verdicts{verdict::duplicate});
}

TEST(waiting_ties, leave_a_repeat_of_the_one_before_them_a_repeat_where_ids_tell) {
  world w = with_ties(true);
  spec first = change("a", 0);
  first.id = id_at(5000, 1);
  spec second = change("#", 1);
  second.id = id_at(5000, 2);
  w.step({first, second});
  first.offset = 2;
  EXPECT_EQ(verdicts_of(w.step({first})), verdicts{verdict::duplicate});
  EXPECT_EQ(w.state.counters.waiting_dead, 1U);
}

/// The number stays open: of a table without versions all changes of a row have the same one.
TEST(waiting_ties, that_are_skipped_are_handled_and_close_nothing) {
  for (const bool is_first : {false, true}) {
    for (const bool has_ids : {false, true}) {
      world w = with_ties(has_ids);
      spec wrong = change("#", 1);
      if (has_ids) wrong.id = id_at(5000, 2);
      if (!is_first) w.step({change("a", 0)});
      w.step({wrong});
      EXPECT_EQ(w.run_command(waiting_verb::skip, seq(5)), k_done);
      EXPECT_EQ(w.state.counters.skipped, 1U);
      EXPECT_FALSE(w.backlogs.contains("a"));
      wrong.offset = 2;
      EXPECT_EQ(verdicts_of(w.step({wrong})), verdicts{verdict::duplicate});
      EXPECT_EQ(verdicts_of(w.step({change("c", 3)})), verdicts{verdict::applied});
      wrong.offset = 4;
      EXPECT_EQ(verdicts_of(w.step({wrong})), verdicts{has_ids ? verdict::duplicate : verdict::dead});
      EXPECT_EQ(w.snapshot(), is_first ? "c;" : "a;c;");
      EXPECT_EQ(w.state.counters.accounted(), w.state.counters.consumed);
    }
  }
}

TEST(waiting_ties, that_are_discarded_may_come_again) {
  world w = with_ties();
  w.step({change("a", 0), change("#", 1)});
  EXPECT_EQ(w.run_command(waiting_verb::discard, seq(5)), k_done);
  EXPECT_EQ(verdicts_of(w.step({change("#", 2)})), verdicts{verdict::dead});
}

/// Whoever turns ties off afterwards does not lose what waits.
TEST(waiting_ties, stay_where_the_stream_has_ties_no_more) {
  world w = with_ties();
  w.step({change("a", 0), change("?1", 1)});
  w.rules.gate.ties_by_offset = false;
  w.now += w.rules.retry.most;
  w.resume();
  EXPECT_EQ(w.snapshot(), "a;?1;");
}

}  // namespace
}  // namespace ratchet
