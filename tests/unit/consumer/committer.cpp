// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/committer.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ratchet {
namespace {

constexpr const char* k_uuid = "11111111-1111-4111-8111-111111111111";
const topic_partition k_a{"t", partition_id{0}};
const topic_partition k_b{"t", partition_id{1}};

std::vector<position> at(const topic_partition& where, std::int64_t offset) {
  return {{where, offset}};
}

committer assigned_one() {
  committer c{k_uuid, {3, 7}};
  c.assigned(at(k_a, 5));
  return c;
}

TEST(committer, hands_out_an_offset_only_once_its_step_is_durable) {
  committer c = assigned_one();
  c.moved(10, at(k_a, 8));
  c.moved(11, at(k_a, 9));
  EXPECT_TRUE(c.due(9).empty());
  const auto due = c.due(10);
  ASSERT_EQ(due.size(), 1U);
  EXPECT_EQ(due[0].next_offset, 8);
  EXPECT_EQ(c.due(11).at(0).next_offset, 9);
}

TEST(committer, marks_each_offset_with_store_incarnation_and_step) {
  committer c = assigned_one();
  c.moved(10, at(k_a, 8));
  EXPECT_EQ(c.due(10).at(0).metadata, to_metadata({k_uuid, {3, 7}, 10}));
  EXPECT_EQ(c.claim(at(k_b, 1), 4).at(0).metadata, to_metadata({k_uuid, {3, 7}, 4}));
}

TEST(committer, has_nothing_due_while_a_commit_is_under_way) {
  committer c = assigned_one();
  c.moved(10, at(k_a, 8));
  ASSERT_FALSE(c.due(10).empty());
  c.started();
  EXPECT_TRUE(c.due(10).empty());
  EXPECT_FALSE(c.all_due(10).empty()) << "the last one waits for nobody";
}

TEST(committer, tries_again_what_failed_and_nothing_that_landed) {
  committer c = assigned_one();
  c.moved(10, at(k_a, 8));
  ASSERT_FALSE(c.due(10).empty());
  c.started();
  c.finished({}, false);
  EXPECT_EQ(c.due(10).at(0).next_offset, 8);
  c.started();
  c.finished(std::vector<committed_offset>{{k_a, 8, {}}}, true);
  EXPECT_TRUE(c.due(10).empty());
}

TEST(committer, commits_only_partitions_that_moved) {
  committer c{k_uuid, {1, 1}};
  c.assigned(std::vector<position>{{k_a, 5}, {k_b, 6}});
  EXPECT_TRUE(c.due(100).empty()) << "the claim has them already";
  c.moved(1, at(k_b, 7));
  const auto due = c.due(1);
  ASSERT_EQ(due.size(), 1U);
  EXPECT_EQ(due[0].where, k_b);
}

TEST(committer, forgets_everything_when_the_assignment_goes) {
  committer c = assigned_one();
  c.moved(10, at(k_a, 8));
  c.started();
  c.unassigned();
  EXPECT_TRUE(c.all_due(10).empty());
  c.moved(11, at(k_a, 9));
  EXPECT_TRUE(c.all_due(11).empty()) << "not assigned";
  c.assigned(at(k_b, 2));
  c.moved(12, at(k_a, 10));
  EXPECT_TRUE(c.all_due(12).empty()) << "assigned elsewhere";
}

TEST(committer, takes_the_late_end_of_a_commit_for_an_assignment_that_is_no_more) {
  committer c = assigned_one();
  c.moved(10, at(k_a, 8));
  c.started();
  c.unassigned();
  c.assigned(at(k_b, 2));
  c.moved(11, at(k_b, 3));
  EXPECT_TRUE(c.due(11).empty()) << "the client still has that one under way";
  c.finished(std::vector<committed_offset>{{k_a, 8, {}}}, true);
  const auto due = c.due(11);
  ASSERT_EQ(due.size(), 1U);
  EXPECT_EQ(due[0].where, k_b);
}

}  // namespace
}  // namespace ratchet
