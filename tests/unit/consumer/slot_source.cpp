// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/slot_source.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <variant>

#include "support/fake_source.hpp"

namespace ratchet::testing {
namespace {

using std::chrono::milliseconds;

const std::array<std::string, 1> k_topics{"t"};

struct slot_source_test : ::testing::Test {
  slot_source_test() {
    group.logs[at("t", 0)];
    group.logs[at("t", 1)];
    group.assigns_at_join = false;
  }
  journal calls;
  fake_clock clock;
  fake_source group{calls, clock};
  bool goes_on{true};
  slot_source from{group, at("log", 0), clock, [this] { return goes_on; }};
};

TEST_F(slot_source_test, a_session_is_given_all_partitions_once) {
  ASSERT_TRUE(from.join(k_topics));
  EXPECT_EQ(calls.count("join"), 0U) << "the group is joined already";
  const auto first = from.poll(1, milliseconds{0});
  ASSERT_TRUE(first);
  ASSERT_EQ(first.value().notices.size(), 1U);
  EXPECT_EQ(std::get<notice::assigned>(first.value().notices.front()).partitions,
            (std::vector<topic_partition>{at("t", 0), at("t", 1)}));
  const auto second = from.poll(1, milliseconds{0});
  ASSERT_TRUE(second);
  EXPECT_TRUE(second.value().notices.empty());
}

TEST_F(slot_source_test, the_session_ends_where_the_lead_is_lost) {
  ASSERT_TRUE(from.join(k_topics));
  goes_on = false;
  EXPECT_EQ(from.poll(1, milliseconds{0}).error(), errc::source_fatal);
  EXPECT_FALSE(from.was_given_back());
}

TEST_F(slot_source_test, a_slot_that_is_taken_back_is_given_back_by_the_session) {
  ASSERT_TRUE(from.join(k_topics));
  ASSERT_TRUE(from.poll(1, milliseconds{0}));
  group.say(notice::revoked{{at("log", 0)}, false});
  const auto told = from.poll(1, milliseconds{0});
  ASSERT_TRUE(told);
  EXPECT_EQ(std::get<notice::revoked>(told.value().notices.front()).partitions.size(), 2U) << "of the inputs";
  EXPECT_TRUE(from.owes_answer());
  ASSERT_TRUE(from.unassign());
  EXPECT_TRUE(from.was_given_back());
  EXPECT_FALSE(from.was_lost());
}

TEST_F(slot_source_test, a_slot_that_comes_back_lets_the_session_go_on) {
  ASSERT_TRUE(from.join(k_topics));
  ASSERT_TRUE(from.poll(1, milliseconds{0}));
  group.say(notice::revoked{{at("log", 0)}, false});
  ASSERT_TRUE(from.poll(1, milliseconds{0}));
  ASSERT_TRUE(from.unassign());
  ASSERT_TRUE(from.poll(1, milliseconds{0})) << "the lead is the log's to take";
  group.say(notice::assigned{{at("log", 0)}});
  const auto told = from.poll(1, milliseconds{0});
  ASSERT_TRUE(told);
  EXPECT_EQ(std::get<notice::assigned>(told.value().notices.front()).partitions,
            (std::vector<topic_partition>{at("t", 0), at("t", 1)}));
  EXPECT_FALSE(from.was_given_back());
  EXPECT_FALSE(from.owes_answer());
}

TEST_F(slot_source_test, a_slot_that_moves_to_another_member_ends_the_session) {
  ASSERT_TRUE(from.join(k_topics));
  ASSERT_TRUE(from.poll(1, milliseconds{0}));
  group.say(notice::revoked{{at("log", 0)}, false});
  ASSERT_TRUE(from.poll(1, milliseconds{0}));
  ASSERT_TRUE(from.unassign());
  group.say(notice::assigned{{}});
  EXPECT_EQ(from.poll(1, milliseconds{0}).error(), errc::source_fatal);
  EXPECT_TRUE(from.was_given_back());
  EXPECT_EQ(calls.count("assign"), 1U) << "the group has its answer";
  EXPECT_EQ(from.poll(1, milliseconds{0}).error(), errc::source_fatal);
}

TEST_F(slot_source_test, a_member_that_the_group_went_on_without_does_not_answer) {
  ASSERT_TRUE(from.join(k_topics));
  ASSERT_TRUE(from.poll(1, milliseconds{0}));
  group.say(notice::revoked{{at("log", 0)}, true});
  EXPECT_EQ(from.poll(1, milliseconds{0}).error(), errc::source_fatal);
  EXPECT_TRUE(from.was_lost());
  EXPECT_EQ(calls.count("unassign"), 0U) << "it would join again, before whoever owns the slot by now";
}

TEST_F(slot_source_test, partitions_that_are_added_are_given_to_the_session) {
  ASSERT_TRUE(from.join(k_topics));
  ASSERT_TRUE(from.poll(1, milliseconds{0}));
  group.logs[at("t", 2)];
  EXPECT_TRUE(from.poll(1, milliseconds{0}).value().notices.empty()) << "not at each poll";
  clock.advance(std::chrono::seconds{6});
  const auto told = from.poll(1, milliseconds{0});
  ASSERT_TRUE(told);
  ASSERT_EQ(told.value().notices.size(), 2U);
  const auto& taken = std::get<notice::revoked>(told.value().notices.front());
  EXPECT_EQ(taken.partitions, (std::vector<topic_partition>{at("t", 0), at("t", 1)}));
  EXPECT_FALSE(taken.lost);
  EXPECT_EQ(std::get<notice::assigned>(told.value().notices.back()).partitions,
            (std::vector<topic_partition>{at("t", 0), at("t", 1), at("t", 2)}));
  ASSERT_TRUE(from.unassign());
  EXPECT_EQ(calls.count("unassign"), 0U) << "the group has not asked for the slot";
  EXPECT_FALSE(from.was_given_back());
  clock.advance(std::chrono::seconds{6});
  EXPECT_TRUE(from.poll(1, milliseconds{0}).value().notices.empty()) << "once";
}

TEST_F(slot_source_test, partitions_are_not_looked_for_while_the_group_asks_for_the_slot) {
  ASSERT_TRUE(from.join(k_topics));
  ASSERT_TRUE(from.poll(1, milliseconds{0}));
  group.say(notice::revoked{{at("log", 0)}, false});
  ASSERT_TRUE(from.poll(1, milliseconds{0}));
  group.logs[at("t", 2)];
  clock.advance(std::chrono::seconds{6});
  EXPECT_TRUE(from.poll(1, milliseconds{0}).value().notices.empty());
  ASSERT_TRUE(from.unassign());
  EXPECT_TRUE(from.was_given_back());
}

TEST_F(slot_source_test, followers_are_no_rivals) {
  group.others = {{"1", "ratchet-1", "host", false}};
  EXPECT_TRUE(from.members(milliseconds{0}).value().empty());
}

}  // namespace
}  // namespace ratchet::testing
