// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/window.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "core/step.hpp"
#include "support/core_print.hpp"
#include "support/core_world.hpp"

namespace ratchet {
namespace {

using std::chrono::milliseconds;
using testing::at_ms;
using testing::folding;
using testing::id_at;
using testing::world;

constexpr milliseconds k_window{1000};
const timestamp k_far = at_ms(1'000'000'000);

/// A stream_state with partitions 0 to n-1 that have shown no time.
struct floor_of {
  explicit floor_of(int partitions) {
    for (int i = 0; i < partitions; ++i) state.partitions[{"t", static_cast<partition_id>(i)}];
  }
  partition_state& partition(int i) { return state.partitions.at({"t", static_cast<partition_id>(i)}); }
  stream_state state;
};

TEST(window, has_no_floor_before_any_time_is_known) {
  floor_of f{1};
  const window_floor w{f.state, k_window};
  EXPECT_FALSE(w.floor());
  EXPECT_FALSE(w.is_below(at_ms(-1'000'000)));
}

TEST(window, puts_the_floor_a_window_below_the_highest_time) {
  floor_of f{1};
  window_floor w{f.state, k_window};
  w.handled(f.partition(0), at_ms(5000), k_far);
  EXPECT_EQ(w.floor(), at_ms(4000));
  EXPECT_TRUE(w.is_below(at_ms(3999)));
  EXPECT_FALSE(w.is_below(at_ms(4000))) << "the floor itself is inside";
  EXPECT_EQ(f.state.floor, at_ms(4000)) << "it is the state's";
}

TEST(window, never_moves_back) {
  floor_of f{1};
  window_floor w{f.state, k_window};
  w.handled(f.partition(0), at_ms(5000), k_far);
  w.handled(f.partition(0), at_ms(2000), k_far);
  EXPECT_EQ(w.floor(), at_ms(4000));
  EXPECT_EQ(f.partition(0).highest_time, at_ms(5000));
}

TEST(window, never_moves_back_when_the_window_grows) {
  floor_of f{1};
  f.state.floor = at_ms(4000);
  f.partition(0).highest_time = at_ms(5000);
  const window_floor w{f.state, milliseconds{4000}};
  EXPECT_EQ(w.floor(), at_ms(4000));
}

TEST(window, moves_up_when_the_window_shrinks) {
  floor_of f{1};
  f.state.floor = at_ms(4000);
  f.partition(0).highest_time = at_ms(5000);
  const window_floor w{f.state, milliseconds{10}};
  EXPECT_EQ(w.floor(), at_ms(4990));
}

TEST(window, is_held_back_by_the_partition_that_lags) {
  floor_of f{3};
  window_floor w{f.state, k_window};
  w.handled(f.partition(0), at_ms(9000), k_far);
  w.handled(f.partition(1), at_ms(5000), k_far);
  w.handled(f.partition(2), at_ms(7000), k_far);
  EXPECT_EQ(w.floor(), at_ms(4000));
  w.handled(f.partition(0), at_ms(20000), k_far);
  EXPECT_EQ(w.floor(), at_ms(4000)) << "one that is ahead moves nothing";
  w.handled(f.partition(1), at_ms(8000), k_far);
  EXPECT_EQ(w.floor(), at_ms(6000)) << "now the third holds it";
  w.handled(f.partition(2), at_ms(8000), k_far);
  EXPECT_EQ(w.floor(), at_ms(7000)) << "two with one time";
  w.handled(f.partition(1), at_ms(8001), k_far);
  EXPECT_EQ(w.floor(), at_ms(7000)) << "the other still holds it";
}

TEST(window, is_held_back_by_a_partition_that_has_shown_no_time) {
  floor_of f{2};
  window_floor w{f.state, k_window};
  w.handled(f.partition(0), at_ms(9000), k_far);
  EXPECT_FALSE(w.floor());
  w.handled(f.partition(1), at_ms(5000), k_far);
  EXPECT_EQ(w.floor(), at_ms(4000));
}

TEST(window, takes_no_record_time_past_the_cap) {
  floor_of f{1};
  window_floor w{f.state, k_window};
  w.handled(f.partition(0), at_ms(999'000), at_ms(6000));
  EXPECT_EQ(w.floor(), at_ms(5000));
  EXPECT_EQ(f.partition(0).highest_time, at_ms(6000)) << "the capped time is what is kept";
}

TEST(window, does_not_move_back_when_the_clock_does) {
  floor_of f{1};
  window_floor w{f.state, k_window};
  w.handled(f.partition(0), at_ms(9000), at_ms(8000));
  w.handled(f.partition(0), at_ms(9500), at_ms(6000));
  EXPECT_EQ(f.partition(0).highest_time, at_ms(8000));
  EXPECT_EQ(w.floor(), at_ms(7000));
}

TEST(window, leaves_out_an_idle_partition) {
  floor_of f{2};
  window_floor w{f.state, k_window};
  w.handled(f.partition(0), at_ms(9000), k_far);
  w.handled(f.partition(1), at_ms(5000), k_far);
  f.partition(1).idle = true;
  w.recompute();
  EXPECT_EQ(w.floor(), at_ms(8000));
}

TEST(window, does_not_move_when_every_partition_is_idle) {
  floor_of f{1};
  window_floor w{f.state, k_window};
  w.handled(f.partition(0), at_ms(5000), k_far);
  f.partition(0).idle = true;
  w.recompute();
  EXPECT_EQ(w.floor(), at_ms(4000)) << "a long outage does not empty the window";
}

TEST(window, counts_an_idle_partition_again_with_its_next_record) {
  floor_of f{2};
  window_floor w{f.state, k_window};
  w.handled(f.partition(0), at_ms(9000), k_far);
  w.handled(f.partition(1), at_ms(5000), k_far);
  f.partition(1).idle = true;
  w.recompute();
  w.handled(f.partition(1), at_ms(4000), k_far);
  EXPECT_FALSE(f.partition(1).idle);
  EXPECT_EQ(f.partition(1).highest_time, at_ms(5000));
  EXPECT_EQ(w.floor(), at_ms(8000)) << "it only grows";
  w.handled(f.partition(0), at_ms(30'000), k_far);
  EXPECT_EQ(w.floor(), at_ms(8000)) << "and is held back again";
}

TEST(window, counts_an_idle_partition_again_with_a_record_without_time) {
  world w{folding{}, order::arrival};
  w.step({{.id = id_at(5000, 1), .time = 5000, .partition = 0},
          {.id = id_at(5000, 2), .time = 5000, .partition = 1}});
  const topic_partition second{"t", partition_id{1}};
  w.state = leave_out(w.rules, w.state, {&second, 1});
  ASSERT_TRUE(w.partition(1).idle);
  w.step({{.id = id_at(5000, 3), .partition = 1, .offset = 1}});
  EXPECT_FALSE(w.partition(1).idle) << "there is something to read after all";
  w.step({{.id = id_at(9000, 4), .time = 9000, .offset = 1}});
  EXPECT_EQ(w.state.floor, at_ms(4000)) << "its last time stands in and holds the floor back";
}

TEST(window, counts_a_plain_file_once_it_shows_a_time) {
  world w{folding{}};
  w.step({{.time = 9000}, {.sequence = seq(2), .topic = "", .offset = 0}});
  EXPECT_TRUE(w.partition(0, "").idle);
  EXPECT_EQ(w.state.floor, at_ms(8000));
  w.step({{.sequence = seq(3), .time = 5000, .topic = "", .offset = 1},
          {.sequence = seq(4), .time = 20'000, .offset = 1}});
  EXPECT_FALSE(w.partition(0, "").idle);
  EXPECT_EQ(w.state.floor, at_ms(8000)) << "held back from here on";
}

TEST(window, starts_from_what_is_stored) {
  floor_of f{2};
  f.partition(0).highest_time = at_ms(9000);
  f.partition(1).highest_time = at_ms(6000);
  window_floor w{f.state, k_window};
  EXPECT_EQ(w.floor(), at_ms(5000));
  w.handled(f.partition(1), at_ms(7000), k_far);
  EXPECT_EQ(w.floor(), at_ms(6000));
}

TEST(window, judges_a_record_by_the_records_before_it) {
  world w{folding{}, order::arrival};
  const auto change = w.step({{.id = id_at(1000, 1), .time = 1000, .offset = 0},
                              {.id = id_at(100, 2), .time = 9000, .offset = 1},
                              {.id = id_at(7999, 3), .time = 9000, .offset = 2},
                              {.id = id_at(8000, 4), .time = 9000, .offset = 3}});
  EXPECT_EQ(testing::verdicts_of(change),
            (std::vector{verdict::applied, verdict::applied, verdict::rejected, verdict::applied}));
  EXPECT_EQ(change.decisions[2].reason, reject_reason::too_old);
}

TEST(window, is_moved_by_every_handled_record_that_has_a_time) {
  for (const decoded_kind kind :
       {decoded_kind::event, decoded_kind::tombstone, decoded_kind::malformed, decoded_kind::ignored}) {
    world w{folding{}};
    w.step({{.time = 5000, .kind = kind}});
    EXPECT_EQ(w.state.floor, at_ms(4000));
  }
}

TEST(window, is_not_moved_by_a_record_without_time_or_read_again) {
  world w{folding{}};
  w.step({{.time = 5000}, {.offset = 1}});
  EXPECT_EQ(w.state.floor, at_ms(4000));
  w.step({{.time = 9000, .offset = 1}});
  EXPECT_EQ(w.state.floor, at_ms(4000)) << "below the position";
}

TEST(window, is_capped_by_the_clock_plus_the_allowed_skew) {
  world w{folding{}};
  w.now = at_ms(6000);
  w.step({{.time = 1'000'000}});
  EXPECT_EQ(w.state.floor, at_ms(6000 + 100 - 1000));
}

TEST(window, stops_growing_when_a_new_partition_appears) {
  world w{folding{}, order::arrival};
  w.step({{.id = id_at(5000, 1), .time = 5000}});
  w.step({{.id = id_at(5000, 2), .partition = 1, .offset = 0},
          {.id = id_at(9000, 3), .time = 9000, .offset = 1}});
  EXPECT_EQ(w.state.floor, at_ms(4000)) << "partition 1 has shown no time";
}

TEST(leave_out, moves_the_floor_without_any_record) {
  world w{folding{}};
  w.step({{.aggregate = "b", .time = 5000, .partition = 1}, {.time = 9000}});
  ASSERT_EQ(w.state.floor, at_ms(4000));
  const topic_partition idle[] = {{"t", partition_id{1}}};
  const stream_state after = leave_out(w.rules, w.state, idle);
  EXPECT_EQ(after.floor, at_ms(8000));
  EXPECT_EQ(after.counters, w.state.counters);
  EXPECT_EQ(after.partitions.at(idle[0]).next_offset, 1) << "nothing else changes";
}

TEST(leave_out, makes_no_partition_up) {
  world w{folding{}};
  w.step({{.time = 9000}});
  const topic_partition unknown[] = {{"t", partition_id{7}}};
  EXPECT_EQ(leave_out(w.rules, w.state, unknown), w.state)
      << "a next offset of 0 would be taken for a position";
}

}  // namespace
}  // namespace ratchet
