// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Aggregates that are deleted and begin again, where the first event of the new life waits.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/core_print.hpp"
#include "support/core_world.hpp"

namespace ratchet {
namespace {

using testing::folding;
using testing::spec;
using testing::verdicts_of;
using testing::world;
using verdicts = std::vector<verdict>;

world restarting() {
  world w{folding{}};
  w.rules.restarts = true;
  w.rules.dedup = false;
  w.rules.retry.attempts = 9;
  return w;
}

spec event(std::int64_t offset, std::uint64_t number, std::string payload) {
  return {.sequence = seq(number), .payload = std::move(payload), .offset = offset};
}
spec tombstone(std::int64_t offset, std::uint64_t number) {
  return {.sequence = seq(number), .kind = decoded_kind::tombstone, .offset = offset};
}

TEST(waiting_lives, begin_with_a_first_event_that_waits) {
  for (const char* first : {"?1", "#"}) {
    for (const bool in_one : {true, false}) {
      world w = restarting();
      const std::vector<spec> all{event(0, 5, "x"), tombstone(1, 6), event(2, 1, first), event(3, 2, "b"),
                                  event(4, 3, "c")};
      if (in_one) {
        const auto got = verdicts_of(w.step(all));
        EXPECT_EQ(got.back(), verdict::applied);
      } else {
        for (const spec& s : all) w.step({s});
      }
      EXPECT_EQ(w.snapshot(), "b;c;");
      EXPECT_EQ(w.rows.at("a").last, seq(1, 3));
      EXPECT_EQ(w.state.counters.stale, 0U);
      EXPECT_EQ(w.state.counters.superseded, 1U);
      EXPECT_FALSE(w.backlogs.contains("a"));
    }
  }
}

TEST(waiting_lives, end_with_a_delete_while_their_first_event_waits) {
  world w = restarting();
  w.step({event(0, 5, "x"), tombstone(1, 6), event(2, 1, "#"), tombstone(3, 2)});
  EXPECT_EQ(w.snapshot(), "-");
  EXPECT_EQ(w.rows.at("a").last, seq(1, 2));
  EXPECT_EQ(w.state.counters.waiting(), 0U);
  w.step({event(4, 1, "z")});
  EXPECT_EQ(w.rows.at("a").last, seq(2, 1)) << "the third life";
}

TEST(waiting_lives, do_not_begin_while_a_newer_event_of_the_old_one_waits) {
  world w = restarting();
  w.step({tombstone(0, 6), event(1, 7, "#")});
  EXPECT_EQ(verdicts_of(w.step({event(2, 1, "y")})), verdicts{verdict::stale})
      << "as it would be, had 7 been applied";
}

TEST(waiting_lives, know_their_events_where_few_that_wait_are_looked_up) {
  world w = restarting();
  w.step({event(0, 5, "x"), tombstone(1, 6), event(2, 1, "#"), event(3, 2, "#2"), event(4, 3, "#3"),
          event(5, 4, "#4")});
  ASSERT_EQ(w.state.counters.waiting_dead, 4U);
  w.queue_events = 1;
  EXPECT_EQ(verdicts_of(w.step({event(6, 3, "#3")})), verdicts{verdict::duplicate});
  EXPECT_EQ(w.state.counters.waiting_dead, 4U);
  w.step({event(7, 5, "e")});
  EXPECT_EQ(w.snapshot(), "e;");
  EXPECT_EQ(w.state.counters.superseded, 4U);
  EXPECT_FALSE(w.backlogs.contains("a"));
}

}  // namespace
}  // namespace ratchet
