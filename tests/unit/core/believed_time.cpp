// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Which times of records are believed: no single clock that is wrong moves a stream's time far.
#include "core/believed_time.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/step.hpp"
#include "core/window.hpp"
#include "model/plain_times.hpp"
#include "support/core_print.hpp"
#include "support/core_world.hpp"

namespace ratchet {
namespace {

using std::chrono::milliseconds;
using testing::at_ms;
using testing::folding;
using testing::replacing;
using testing::spec;
using testing::world;

constexpr milliseconds k_skew{5 * 60'000};
constexpr std::int64_t k_minute = 60'000;
constexpr std::int64_t k_hour = 60 * k_minute;
constexpr std::int64_t k_day = 24 * k_hour;
constexpr std::int64_t k_year = 365 * k_day;
constexpr std::int64_t k_begin = 1'700'000'000'000;
const timestamp k_far = at_ms(k_begin + 100 * k_year);

/// One partition, and its records one by one.
struct partition_of_records {
  std::size_t take(std::int64_t time) {
    return believe_time(state, {at_ms(time), offset++}, cap, k_skew).passed_over;
  }
  void take(int count, std::int64_t time) {
    for (int i = 0; i < count; ++i) (void)take(time);
  }
  /// One a second.
  void take_seconds(int count, std::int64_t from) {
    for (int i = 0; i < count; ++i) (void)take(from + i * 1'000);
  }
  /// Eight records, the last of which is of this time: the first time is the third one's, and what follows
  /// is near to it.
  void begin(std::int64_t at) {
    take(7, at - 5 * k_minute);
    (void)take(at);
  }
  [[nodiscard]] std::int64_t highest() const {
    return state.highest_time ? state.highest_time->time_since_epoch().count() - k_begin : -1;
  }
  partition_state state;
  std::int64_t offset{0};
  timestamp cap{k_far};
};

TEST(believed_time, begins_once_the_first_ones_go_on) {
  partition_of_records p;
  for (int i = 0; i < 7; ++i) (void)p.take(k_begin + i * k_minute);
  EXPECT_FALSE(p.state.highest_time) << "seven are too few, also where they last for long";
  (void)p.take(k_begin + 7 * k_minute);
  EXPECT_EQ(p.highest(), 7 * k_minute) << "those near to the first time count as they would by themselves";
  EXPECT_TRUE(p.state.leaps.empty());
}

TEST(believed_time, begins_behind_clocks_of_long_ago_and_before_those_ahead) {
  partition_of_records p;
  (void)p.take(k_begin + k_year);
  (void)p.take(1'000);
  for (int i = 2; i < 8; ++i)
    EXPECT_EQ(p.take(k_begin + i * k_minute), 0U) << "nothing is wrong before there is a time";
  EXPECT_EQ(p.highest(), 7 * k_minute);
  EXPECT_EQ(p.take(k_begin + 8 * k_minute), 1U) << "the one that is ahead";
}

TEST(believed_time, does_not_begin_with_one_batch_of_a_wrong_clock) {
  partition_of_records p;
  p.take_seconds(200, k_begin + k_year);
  EXPECT_FALSE(p.state.highest_time) << "200 seconds are less than the allowed skew";
  for (int i = 0; i < 400; ++i) (void)p.take(k_begin + i * 1'000);
  EXPECT_EQ(p.highest(), 399'000);
}

TEST(believed_time, begins_with_a_thousand_records_of_one_moment) {
  partition_of_records p;
  p.take(999, k_begin);
  EXPECT_FALSE(p.state.highest_time);
  (void)p.take(k_begin);
  EXPECT_EQ(p.highest(), 0);
  EXPECT_EQ(p.state.leaps.size(), 0U);
}

TEST(believed_time, is_not_moved_by_one_batch_of_a_wrong_clock) {
  for (const int in_a_row : {40, 250, 999}) {
    partition_of_records p;
    p.begin(k_begin);
    for (int i = 0; i < in_a_row; ++i) (void)p.take(k_begin + 300 * k_day + i * 100);
    EXPECT_EQ(p.highest(), 0) << in_a_row;
    for (int i = 0; i < 2'000; ++i) (void)p.take(k_begin + i * 1'000);
    EXPECT_EQ(p.highest(), 1'999'000) << in_a_row;
    EXPECT_TRUE(p.state.leaps.empty());
  }
}

TEST(believed_time, follows_a_thousand_in_a_row_or_what_goes_on_for_long) {
  partition_of_records p;
  p.begin(k_begin);
  p.take(999, k_begin + k_year);
  EXPECT_EQ(p.highest(), 0);
  (void)p.take(k_begin + k_year);
  EXPECT_EQ(p.highest(), k_year);
  EXPECT_TRUE(p.state.leaps.empty());

  partition_of_records q;
  q.begin(k_begin);
  q.take_seconds(300, k_begin + k_day);
  EXPECT_EQ(q.highest(), 0) << "299 seconds are less than the allowed skew";
  (void)q.take(k_begin + k_day + 300'000);
  EXPECT_EQ(q.highest(), k_day + 300'000);
}

TEST(believed_time, asks_leaps_to_go_on_for_a_part_of_their_distance) {
  using std::chrono::hours;
  EXPECT_EQ(lasting(hours{24}, k_skew), k_skew);
  EXPECT_EQ(lasting(hours{10'240}, k_skew), hours{10});
  EXPECT_EQ(lasting(milliseconds::max(), milliseconds{1}), milliseconds::max() / 1024);
}

TEST(believed_time, follows_at_once_where_it_is_near) {
  partition_of_records p;
  p.begin(k_begin);
  (void)p.take(k_begin + 5 * k_minute);
  EXPECT_EQ(p.highest(), 5 * k_minute);
  (void)p.take(k_begin + 10 * k_minute + 1);
  EXPECT_EQ(p.highest(), 5 * k_minute) << "a millisecond too far ahead";
  (void)p.take(k_begin + k_minute);
  EXPECT_EQ(p.highest(), 5 * k_minute) << "it never goes back";
}

TEST(believed_time, passes_over_a_clock_that_is_ahead) {
  partition_of_records p;
  p.begin(k_begin);
  for (int i = 0; i < 1000; ++i) {
    p.take(20, k_begin + k_year + i * k_minute);  // a third of all, twenty at a time
    for (int n = 0; n < 10; ++n) EXPECT_EQ(p.take(k_begin + i * k_minute), 2U);
    p.take(30, k_begin + i * k_minute);
  }
  EXPECT_EQ(p.highest(), 999 * k_minute);
}

TEST(believed_time, wants_more_records_the_further_ahead_they_are) {
  using std::chrono::days;
  using std::chrono::hours;
  using std::chrono::minutes;
  EXPECT_EQ(leaps_needed(minutes{5}, k_skew), 0U);
  EXPECT_EQ(leaps_needed(minutes{5} + milliseconds{1}, k_skew), 2U);
  EXPECT_EQ(leaps_needed(minutes{10}, k_skew), 2U);
  EXPECT_EQ(leaps_needed(minutes{10} + milliseconds{1}, k_skew), 4U);
  EXPECT_EQ(leaps_needed(hours{1}, k_skew), 8U);
  EXPECT_EQ(leaps_needed(days{1}, k_skew), 18U);
  EXPECT_EQ(leaps_needed(days{365}, k_skew), 34U);
  EXPECT_EQ(leaps_needed(milliseconds::max(), milliseconds{1}), k_most_leaps_needed);
}

TEST(believed_time, goes_on_behind_a_quiet_night) {
  partition_of_records p;
  p.begin(k_begin);
  for (int i = 0; i < 13; ++i) (void)p.take(k_begin + 8 * k_hour + i * k_minute);
  EXPECT_EQ(p.highest(), 0) << "eight hours want fourteen";
  (void)p.take(k_begin + 8 * k_hour + 13 * k_minute);
  EXPECT_EQ(p.highest(), 8 * k_hour + 13 * k_minute)
      << "and what is near to the first of them counts with it";
  EXPECT_TRUE(p.state.leaps.empty());
}

TEST(believed_time, follows_rare_records_a_few_behind) {
  partition_of_records p;
  p.begin(k_begin);
  for (int i = 1; i <= 48; ++i) (void)p.take(k_begin + i * k_hour);
  EXPECT_EQ(p.highest(), 41 * k_hour) << "one an hour: eight at or above each";
}

TEST(believed_time, passes_over_a_clock_that_is_ahead_among_rare_records) {
  partition_of_records p;
  p.begin(k_begin);
  std::size_t passed_over = 0;
  for (int i = 1; i <= 500; ++i) {  // one an hour, and as many of the other clock
    passed_over += p.take(k_begin + k_year + i * k_hour);
    passed_over += p.take(k_begin + i * k_hour);
  }
  EXPECT_LE(p.highest(), 500 * k_hour);
  EXPECT_GT(p.highest(), 490 * k_hour);
  EXPECT_EQ(passed_over, 500U) << "each of them once";
}

TEST(believed_time, goes_on_behind_a_quiet_night_in_any_order) {
  partition_of_records p;
  p.begin(k_begin);
  for (int i = 0; i < 40; ++i) (void)p.take(k_begin + 8 * k_hour + (i * 37 % 60) * k_minute);
  EXPECT_GE(p.highest(), 8 * k_hour);
}

TEST(believed_time, is_not_held_back_by_a_clock_that_is_behind) {
  for (const std::int64_t lag : {10 * k_hour, 5 * k_hour, k_hour}) {
    partition_of_records p;
    for (int i = 0; i < 100; ++i) (void)p.take(k_begin + i * 1'000);
    for (int i = 0; i < 1'000; ++i) (void)p.take(k_begin + 10 * k_hour + i * 1'000 - (i % 4 == 3 ? lag : 0));
    EXPECT_GT(p.highest(), 10 * k_hour + 900'000) << "a quarter of all lags by " << lag;
  }
}

TEST(believed_time, leaves_1970_behind_where_the_first_records_say_so) {
  partition_of_records p;
  for (int i = 0; i < 400; ++i) (void)p.take(i % 10 == 5 ? 1'000 : k_begin + i * 1'000);
  EXPECT_EQ(p.highest(), 399'000);
}

TEST(believed_time, is_not_held_back_by_records_from_long_ago) {
  partition_of_records p;
  p.begin(k_begin);
  for (int i = 0; i < 20; ++i) {
    (void)p.take(k_begin + k_day + i * k_minute);
    (void)p.take(k_begin - k_year);  // of a producer whose clock begins at 1970
  }
  EXPECT_EQ(p.highest(), k_day + 19 * k_minute);
}

TEST(believed_time, never_passes_the_cap) {
  partition_of_records p;
  p.cap = at_ms(k_begin + k_minute);
  p.begin(k_begin);
  (void)p.take(k_begin + 2 * k_minute);
  EXPECT_EQ(p.highest(), k_minute);
  p.take(1'200, k_begin + k_year);
  EXPECT_EQ(p.highest(), k_minute);
  EXPECT_LT(p.state.leaps.size(), k_most_leaps);
}

TEST(believed_time, takes_any_number_for_a_time) {
  partition_of_records p;
  p.begin(k_begin);
  for (const std::int64_t time :
       {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min(), std::int64_t{0},
        std::int64_t{-1}}) {
    (void)p.take(time);
  }
  EXPECT_EQ(p.highest(), 0);
  p.take(1'000, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(p.state.highest_time, k_far);
}

TEST(believed_time, is_what_the_plain_rule_says) {
  EXPECT_TRUE(rc::check("plain", [] {
    const auto drawn = *rc::gen::scale(
        3.0, rc::gen::container<std::vector<std::pair<int, int>>>(rc::gen::pair(
                 rc::gen::weightedElement<int>({{6, 0}, {2, 1}, {2, 2}, {1, 3}, {1, 4}, {1, 5}}),
                 rc::gen::inRange(0, 60))));
    constexpr std::int64_t k_units[] = {1'000, 60'000, 300'000, 3'600'000, -600'000, 86'400'000'000};
    const std::int64_t skew = *rc::gen::element<std::int64_t>(0, 500, 60'000, 300'000);
    partition_state state;
    testing::plain_times plain;
    std::uint64_t passed_over = 0;
    std::int64_t offset = 0;
    const std::int64_t of_one_moment = *rc::gen::element<std::int64_t>(0, 0, 0, 1'100);
    for (std::int64_t i = 0; i < of_one_moment; ++i) {
      (void)believe_time(state, {at_ms(k_begin), offset}, at_ms(k_begin + k_day), milliseconds{skew});
      plain.take(k_begin, k_begin + k_day - skew, skew);
      ++offset;
    }
    for (const auto& [unit, count] : drawn) {
      const std::int64_t now = k_begin + offset * 60'000;
      const std::int64_t time = k_begin + offset * 5'000 + k_units[unit] * count;
      passed_over +=
          believe_time(state, {at_ms(time), offset}, at_ms(now + skew), milliseconds{skew}).passed_over;
      plain.take(time, now, skew);
      ++offset;
      RC_ASSERT(state.highest_time.has_value() == plain.highest.has_value());
      if (plain.highest) RC_ASSERT(*state.highest_time == at_ms(*plain.highest));
      RC_ASSERT(state.leaps.size() == plain.pending.size());
      RC_ASSERT(passed_over == plain.passed_over);
    }
  }));
}

/// A stream in the default settings.
world checking(reducer r, order o) {
  world w{std::move(r), o};
  w.rules.opaque_ids = true;
  w.rules.checks_times = true;
  w.rules.window = std::chrono::hours{24};
  w.rules.max_skew = k_skew;
  w.now = k_far;
  return w;
}

spec record_of(const std::string& aggregate, std::int64_t number, std::int64_t time, std::int64_t offset) {
  spec e;
  e.aggregate = aggregate;
  e.sequence = {0, static_cast<std::uint64_t>(number)};
  e.id = event_id{static_cast<std::uint64_t>(offset) + 1, 7};
  e.payload = std::to_string(number);
  e.time = time;
  e.offset = offset;
  return e;
}

TEST(wrong_clocks, do_not_make_others_events_too_old) {
  world w = checking(folding{}, order::arrival);
  std::vector<spec> backlog;
  for (int i = 0; i < 120; ++i) {
    const std::int64_t time =
        i == 0 || i % 20 == 5 || i % 20 == 6 ? k_begin + k_year * 90 : k_begin + i * k_hour;
    backlog.push_back(record_of("a" + std::to_string(i), 1, time, i));
  }
  const stream_change change = w.step(backlog);
  EXPECT_EQ(w.state.counters.applied, 120U);
  EXPECT_EQ(w.state.counters.rejected(), 0U);
  EXPECT_GT(w.state.counters.times_passed_over, 0U);
  ASSERT_TRUE(w.state.floor) << "others moved it";
  EXPECT_LT(*w.state.floor, at_ms(k_begin + 120 * k_hour));
}

TEST(wrong_clocks, do_not_close_others_gaps) {
  world w = checking(folding{}, order::strict);
  w.rules.gap = {gap_policy::skip, std::chrono::hours{1}};
  std::int64_t offset = 0;
  for (; offset < 20; ++offset)
    (void)w.step({record_of("b", offset + 1, k_begin - (20 - offset) * k_minute, offset)});
  ASSERT_TRUE(w.state.floor);
  (void)w.step({record_of("a", 1, k_begin + 100, offset++)});
  (void)w.step({record_of("a", 3, k_begin + 600, offset++)});
  for (int i = 1; i < 6; ++i) (void)w.step({record_of("z", i, k_begin + 90 * k_year, offset++)});
  (void)w.step({record_of("a", 2, k_begin + 1'000, offset++)});
  EXPECT_EQ(w.snapshot("a"), "1;2;3;");
  EXPECT_EQ(w.state.counters.rejected(), 0U);
}

TEST(wrong_clocks, are_told_of_with_the_first_records_place) {
  world w = checking(replacing{}, order::arrival);
  std::vector<spec> records;
  for (int i = 0; i < 10; ++i) records.push_back(record_of("a", 1, k_begin - (9 - i) * k_minute, i));
  records.push_back(record_of("z", 1, k_begin + k_year, 10));
  records.push_back(record_of("z", 1, k_begin + k_year, 11));
  (void)w.step(records);
  EXPECT_EQ(w.state.counters.times_passed_over, 0U) << "nothing has spoken against it";

  const std::vector<spec> good = {record_of("a", 2, k_begin + 1, 12)};
  const testing::batch after{good};
  const step_plan plan = plan_step(w.rules, w.reduce.traits(), after.events);
  const stream_change change =
      run_step(w.rules, w.reduce, w.state, after.events, plan, w.look_up(plan), w.now);
  ASSERT_TRUE(change.passed_over);
  EXPECT_EQ(change.passed_over->of, (time_leap{at_ms(k_begin + k_year), 10}));
  EXPECT_EQ(change.passed_over->believed, at_ms(k_begin + 1));
  EXPECT_EQ(change.after.counters.times_passed_over, 2U);
}

/// What one step says of all these records; the world stays as it is.
stream_change said_of(world& w, const std::vector<spec>& records) {
  const testing::batch all{records};
  const step_plan plan = plan_step(w.rules, w.reduce.traits(), all.events);
  return run_step(w.rules, w.reduce, w.state, all.events, plan, w.look_up(plan), w.now);
}

TEST(wrong_clocks, of_a_whole_topic_are_followed) {
  world w = checking(replacing{}, order::arrival);
  std::vector<spec> records;
  for (int i = 0; i < 10; ++i) records.push_back(record_of("a", 1, k_begin + i * k_minute, i));
  for (int i = 10; i < 170; ++i) records.push_back(record_of("a", 1, k_begin + k_year + i * 4 * k_minute, i));
  const stream_change change = said_of(w, records);
  EXPECT_EQ(change.after.counters.times_passed_over, 0U);
  EXPECT_EQ(change.after.floor, at_ms(k_begin + k_year + 169 * 4 * k_minute - k_day));
  ASSERT_TRUE(change.jumped) << "and somebody is told, as it may be a batch of a wrong clock";
  EXPECT_EQ(change.jumped->believed, at_ms(k_begin + 9 * k_minute)) << "the time before";
  EXPECT_FALSE(change.behind);
}

TEST(wrong_clocks, that_moved_a_partition_all_the_same_are_told_by_who_is_behind) {
  world w = checking(replacing{}, order::arrival);
  std::vector<spec> records;
  for (int i = 0; i < 10; ++i) records.push_back(record_of("a", 1, k_begin + i * k_minute, i));
  for (int i = 10; i < 1'010; ++i) records.push_back(record_of("b", 1, k_begin + k_year, i));
  records.push_back(record_of("a", 1, k_begin + 11 * k_minute, 1'010));
  records.push_back(record_of("a", 1, k_begin + k_year - k_hour, 1'011));
  const stream_change change = said_of(w, records);
  ASSERT_TRUE(change.jumped);
  EXPECT_EQ(change.jumped->of, (time_leap{at_ms(k_begin + k_year), 1'009}));
  ASSERT_TRUE(change.behind);
  EXPECT_EQ(change.behind->of, (time_leap{at_ms(k_begin + 11 * k_minute), 1'010}));
  EXPECT_EQ(change.behind->believed, at_ms(k_begin + k_year));
  EXPECT_EQ(change.after.counters.times_behind, 1U) << "an hour is within the window";
}

}  // namespace
}  // namespace ratchet
