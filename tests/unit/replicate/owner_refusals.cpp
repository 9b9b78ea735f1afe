// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/replicate_owner.hpp"
#include "support/replicate_records.hpp"

/// Where an owner must not go on: the log is not what it was.
namespace ratchet::replicate {
namespace {

using testing::an_owner;
using testing::author;
using testing::k_layout;
using testing::k_lineage;
using testing::put_row;

TEST_F(an_owner, stops_where_the_log_loses_what_was_acknowledged) {
  lead();
  append_acknowledged(make_one());
  const auto second = make_one();
  log_.pop_back();
  append_acknowledged(second);
  EXPECT_EQ(phase(), "stopped");
  EXPECT_EQ(refused(), "offset_back");
  EXPECT_EQ(confirmed_, steps{1});
  EXPECT_EQ(dropped_, steps{2});
  owner_.assigned(9);
  owner_.unassigned();
  EXPECT_EQ(phase(), "stopped");
  EXPECT_EQ(owner_.wants(), std::nullopt);
}

TEST_F(an_owner, stops_where_the_log_has_become_shorter) {
  lead();
  append_acknowledged(make_one());
  const std::int64_t before = owner_.reader().known_offset();
  append_acknowledged(make_one());
  owner_.look(before, 0, 2);
  EXPECT_EQ(phase(), "leading") << "the answer is older than the last step";
  owner_.look(owner_.reader().known_offset(), 0, 2);
  EXPECT_EQ(phase(), "stopped");
  EXPECT_EQ(refused(), "ends_earlier");
}

TEST_F(an_owner, stops_where_its_fence_is_not_where_it_was_acknowledged) {
  owner_.assigned(1);
  const auto fence = make_fence();
  append("hello");
  owner_.acknowledged(fence.ticket, 0);
  read();
  EXPECT_EQ(phase(), "stopped");
  EXPECT_EQ(refused(), "offset_back");
}

TEST_F(an_owner, stops_where_the_log_may_not_be_read_on) {
  lead(3);
  const auto first = make_one();
  append(author{{4, 0}, 9, k_lineage, k_layout + 1}.fence());
  append_acknowledged(first);
  read();
  EXPECT_EQ(phase(), "stopped");
  EXPECT_EQ(refused(), "newer_layout");
  EXPECT_EQ(dropped_, steps{1});
}

TEST_F(an_owner, stops_where_it_could_fence_behind_no_record_of_the_log) {
  append(author{{k_generations_end - 1, 0xFFFFFFFF}, 9}.fence());
  read();
  EXPECT_EQ(phase(), "standby") << "a follower needs no epoch";
  owner_.assigned(3);
  EXPECT_EQ(phase(), "stopped");
  EXPECT_EQ(refused(), "epochs_used_up");
}

TEST_F(an_owner, stops_at_a_fence_of_the_last_epoch) {
  lead(3);
  const auto first = make_one();
  append(author{{k_generations_end, 0xFFFFFFFF}, 9}.fence());
  append_acknowledged(first);
  read();
  EXPECT_EQ(phase(), "stopped");
  EXPECT_EQ(refused(), "epochs_used_up");
  EXPECT_EQ(dropped_, steps{1});
}

TEST(epochs, never_begin_again) {
  constexpr std::uint32_t k_max = 0xFFFFFFFF;
  EXPECT_EQ(next_epoch({3, k_max}, 3), (log_epoch{4, 0}));
  EXPECT_EQ(next_epoch({k_max - 1, k_max}, 3), (log_epoch{k_max, 0}));
  for (const log_epoch highest : {log_epoch{k_max, 0}, log_epoch{k_max, k_max}})
    for (const std::uint32_t generation : {std::uint32_t{0}, k_max})
      EXPECT_GE(next_epoch(highest, generation), highest);
}

TEST_F(an_owner, reads_the_record_at_its_position_again_where_the_log_may_be_another_one) {
  lead();
  append_acknowledged(make_one());
  const auto second = make_one();
  owner_.read_again();
  EXPECT_EQ(phase(), "claiming") << "its attempt is over";
  EXPECT_EQ(dropped_, steps{2});
  EXPECT_EQ(owner_.wants(), (read_range{1, std::nullopt}));
  append(second.record);
  read();
  EXPECT_EQ(confirmed_, (steps{1, 2}));
  owner_.claim_answered(false);
  owner_.read_again();
  EXPECT_EQ(phase(), "late") << "the group has its say all the same";
  log_.back() = author{{1, 0}, 5}.fence();
  read();
  EXPECT_EQ(refused(), "other_record");
  owner_.read_again();
  EXPECT_EQ(phase(), "stopped");
}

TEST_F(an_owner, stops_where_its_store_is_not_of_this_log) {
  lead();
  append_acknowledged(make_one());
  const log_position position = owner_.reader().position();
  owner_ = log_owner{options(), position};
  owner_.look(owner_.reader().known_offset(), 0, 1);
  EXPECT_EQ(refused(), "ends_earlier");
  owner_ = log_owner{options(), position};
  log_.back() = author{{1, 0}, 5}.fence();
  read();
  EXPECT_EQ(refused(), "other_record");
}

}  // namespace
}  // namespace ratchet::replicate
