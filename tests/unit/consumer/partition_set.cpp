// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/partition_set.hpp"

#include <gmock/gmock.h>

namespace ratchet::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

const topic_partition k_a0{"a", partition_id{0}};
const topic_partition k_a1{"a", partition_id{1}};
const topic_partition k_b0{"b", partition_id{0}};
constexpr partition_set::time_point k_now{1h};

TEST(partition_set, keeps_all_in_order_whatever_is_added) {
  partition_set set;
  set.know({k_b0, k_a0});
  const std::vector<topic_partition> more{k_a1, k_b0};
  set.know_more(more);
  EXPECT_THAT(set.all(), ElementsAre(k_a0, k_a1, k_b0));
  EXPECT_EQ(set.missing(), 3U);
}

TEST(partition_set, counts_what_is_not_assigned_as_missing) {
  partition_set set;
  set.know({k_a0, k_a1});
  set.assign({k_a0, 5});
  EXPECT_EQ(set.missing(), 1U);
  (void)set.hold(k_a0, "away", k_now);
  EXPECT_EQ(set.missing(), 2U);
}

TEST(partition_set, notes_the_next_offset_of_one_that_is_assigned) {
  partition_set set;
  set.assign({k_a0, 5});
  set.note({k_a0, 7});
  EXPECT_THAT(set.assigned(), ElementsAre(Pair(k_a0, 7)));
}

TEST(partition_set, ends_the_process_at_a_next_offset_of_one_that_is_not_assigned) {
  partition_set set;
  EXPECT_DEATH(set.note({k_a0, 7}), "assigned_");
}

TEST(partition_set, takes_what_is_held_out_of_what_is_assigned_and_back) {
  partition_set set;
  set.assign({k_a0, 5});
  EXPECT_EQ(set.hold(k_a0, "away", k_now), partition_set::was::assigned);
  EXPECT_FALSE(set.is_assigned(k_a0));
  EXPECT_TRUE(set.is_held(k_a0));
  set.assign({k_a0, 5});
  EXPECT_TRUE(set.is_assigned(k_a0));
  EXPECT_FALSE(set.is_held(k_a0));
}

TEST(partition_set, asks_anew_about_one_that_is_held_again_and_keeps_since_when) {
  partition_set set;
  EXPECT_EQ(set.hold(k_a0, "away", k_now), partition_set::was::neither);
  set.note_answer(k_a0);
  EXPECT_EQ(set.hold(k_a0, "still away", k_now + 1min), partition_set::was::held);
  EXPECT_THAT(set.take_answered(), IsEmpty());
  EXPECT_THAT(set.held_since(k_now), ElementsAre(k_a0));
  EXPECT_THAT(set.held_since(k_now - 1s), IsEmpty());
  EXPECT_EQ(set.release(k_a0), "away");
  EXPECT_EQ(set.release(k_a0), "");
}

TEST(partition_set, takes_each_answer_once) {
  partition_set set;
  (void)set.hold(k_a0, "away", k_now);
  (void)set.hold(k_a1, "away", k_now);
  set.note_answer(k_a1);
  set.note_answer(k_b0);  // is not held
  EXPECT_FALSE(set.all_held_answered());
  EXPECT_THAT(set.take_answered(), ElementsAre(k_a1));
  EXPECT_THAT(set.take_answered(), IsEmpty());
  set.note_answer(k_a0);
  set.note_answer(k_a1);
  EXPECT_TRUE(set.all_held_answered());
}

TEST(partition_set, says_whether_a_reason_is_news) {
  partition_set set;
  EXPECT_FALSE(set.set_why(k_a0, "away"));
  (void)set.hold(k_a0, "away", k_now);
  EXPECT_FALSE(set.set_why(k_a0, "away"));
  EXPECT_TRUE(set.set_why(k_a0, "no leader"));
  EXPECT_EQ(set.release(k_a0), "no leader");
}

TEST(partition_set, does_not_read_what_is_stopped_though_it_is_assigned) {
  partition_set set;
  set.assign({k_a0, 5});
  EXPECT_TRUE(set.is_read(k_a0));
  set.stop(k_a0);
  EXPECT_TRUE(set.is_assigned(k_a0));
  EXPECT_FALSE(set.is_read(k_a0));
}

TEST(partition_set, goes_on_asking_for_one_that_is_stopped_while_it_is_held) {
  partition_set set;
  (void)set.hold(k_a0, "away", k_now);
  set.stop(k_a0);
  set.note_answer(k_a0);
  EXPECT_THAT(set.take_answered(), ElementsAre(k_a0));
}

TEST(partition_set, forgets_an_assignment_but_what_is_held) {
  partition_set set;
  set.assign({k_a0, 5});
  set.stop(k_a0);
  (void)set.hold(k_b0, "away", k_now);
  set.forget();
  EXPECT_THAT(set.given(), ElementsAre(k_b0));
}

TEST(partition_set, shows_stops_when_all_was_given_back) {
  partition_set set;
  set.assign({k_a0, 5});
  set.assign({k_a1, 5});
  set.stop(k_a0);
  (void)set.hold(k_b0, "away", k_now);
  EXPECT_THAT(set.given(), ElementsAre(k_a0, k_a1, k_b0));
  set.give_back();
  EXPECT_THAT(set.given(), ElementsAre(k_a0));
  EXPECT_THAT(set.names_of_assigned(), IsEmpty());
}

}  // namespace
}  // namespace ratchet::testing
