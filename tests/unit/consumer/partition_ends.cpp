// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/partition_ends.hpp"

#include <gmock/gmock.h>

#include "consumer/end_goals.hpp"
#include "consumer/fetch_troubles.hpp"

namespace ratchet::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const topic_partition k_a0{"a", partition_id{0}};
const topic_partition k_a1{"a", partition_id{1}};
constexpr partition_ends::time_point k_now{1h};

TEST(partition_ends, are_quiet_ten_seconds_behind_their_end) {
  partition_ends ends;
  ends.reach(k_a0, 5, k_now);
  ends.reach(k_a0, 5, k_now + 9s);  // told again: it stands there since before
  EXPECT_THAT(ends.quiet(k_now + 9s), IsEmpty());
  EXPECT_THAT(ends.quiet(k_now + 10s), ElementsAre(k_a0));
}

TEST(partition_ends, wait_anew_at_an_end_that_moved) {
  partition_ends ends;
  ends.reach(k_a0, 5, k_now);
  ends.reach(k_a0, 6, k_now + 9s);
  EXPECT_THAT(ends.quiet(k_now + 18s), IsEmpty());
  EXPECT_THAT(ends.quiet(k_now + 19s), ElementsAre(k_a0));
}

TEST(partition_ends, are_quiet_at_once_where_nothing_came_since_they_were_left_out) {
  partition_ends ends;
  ends.reach(k_a0, 5, k_now);
  ends.expect_anew(k_a0, 5);
  EXPECT_THAT(ends.quiet(k_now + 1h), IsEmpty()) << "it may have more to read";
  ends.reach(k_a0, 5, k_now + 1h);
  EXPECT_THAT(ends.quiet(k_now + 1h), ElementsAre(k_a0));
}

TEST(partition_ends, wait_anew_where_something_came_since_they_were_left_out) {
  partition_ends ends;
  ends.expect_anew(k_a0, 5);
  ends.reach(k_a0, 6, k_now);
  ends.reach(k_a0, 6, k_now + 1s);
  EXPECT_THAT(ends.quiet(k_now + 1s), IsEmpty());
}

TEST(partition_ends, wait_anew_where_they_were_not_left_out) {
  partition_ends ends;
  ends.reach(k_a0, 5, k_now);
  ends.expect_anew(k_a0, std::nullopt);
  ends.reach(k_a0, 5, k_now + 20s);
  EXPECT_THAT(ends.quiet(k_now + 20s), IsEmpty());
}

TEST(partition_ends, keep_what_is_said_to_be_there) {
  partition_ends ends;
  ends.reach(k_a0, 5, k_now);
  ends.reach(k_a1, 7, k_now);
  ends.keep([](const topic_partition& where, std::int64_t end) { return where == k_a1 && end == 7; });
  EXPECT_THAT(ends.quiet(k_now + 1h), ElementsAre(k_a1));
  ends.leave(k_a1);
  EXPECT_THAT(ends.quiet(k_now + 1h), IsEmpty());
}

TEST(partition_ends, know_what_was_asked_until_they_are_forgotten) {
  partition_ends ends;
  ends.note_asked(k_a0, 9);
  ends.give_back();
  EXPECT_EQ(ends.asked(k_a0), 9);
  EXPECT_EQ(ends.asked(k_a1), std::nullopt);
  ends.expect_anew(k_a0, 5);
  ends.forget();
  EXPECT_EQ(ends.asked(k_a0), std::nullopt);
  ends.reach(k_a0, 5, k_now);
  EXPECT_THAT(ends.quiet(k_now), IsEmpty()) << "of another assignment";
}

bool nobody(const topic_partition&) {
  return false;
}

TEST(end_goals, are_reached_at_their_offset_and_not_before) {
  end_goals goals;
  EXPECT_TRUE(goals.all_reached(nobody)) << "there are none";
  goals.set(k_a0, 5);
  goals.reach(k_a0, 4);
  EXPECT_FALSE(goals.all_reached(nobody));
  goals.reach(k_a0, 5);
  EXPECT_TRUE(goals.all_reached(nobody));
}

TEST(end_goals, stay_where_they_were_set_first) {
  end_goals goals;
  goals.set(k_a0, 5);
  goals.set(k_a0, 9);
  goals.reach(k_a0, 5);
  EXPECT_TRUE(goals.all_reached(nobody));
  EXPECT_TRUE(goals.has(k_a0));
  EXPECT_FALSE(goals.has(k_a1));
}

TEST(end_goals, excuse_partitions_that_will_not_be_read) {
  end_goals goals;
  goals.set(k_a0, 5);
  goals.set(k_a1, 5);
  goals.reach(k_a1, 5);
  EXPECT_TRUE(goals.all_reached([](const topic_partition& where) { return where == k_a0; }));
  EXPECT_FALSE(goals.all_reached([](const topic_partition& where) { return where == k_a1; }));
}

TEST(fetch_troubles, tell_the_same_offset_twice_from_another_one) {
  fetch_troubles troubles;
  EXPECT_FALSE(troubles.was_read_again(k_a0, 5));
  troubles.note_read_again(k_a0, 5);
  EXPECT_TRUE(troubles.was_read_again(k_a0, 5));
  EXPECT_FALSE(troubles.was_read_again(k_a0, 6));
  EXPECT_FALSE(troubles.was_read_again(k_a1, 5));
  troubles.forget();
  EXPECT_FALSE(troubles.was_read_again(k_a0, 5));
}

TEST(fetch_troubles, count_batches_that_fail_in_a_row_at_one_place) {
  fetch_troubles troubles;
  EXPECT_EQ(troubles.note_unreadable(k_a0, 0), 1);
  EXPECT_EQ(troubles.note_unreadable(k_a0, 0), 2);
  EXPECT_EQ(troubles.note_unreadable(k_a1, 0), 1);
  EXPECT_EQ(troubles.note_unreadable(k_a0, 7), 1) << "it moved on";
}

}  // namespace
}  // namespace ratchet::testing
