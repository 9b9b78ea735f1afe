// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "replicate/log_owner.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/replicate_owner.hpp"
#include "support/replicate_records.hpp"

/// The rules of an owner in docs/internals/replicated-log.md.
namespace ratchet::replicate {
namespace {

using testing::an_owner;
using testing::author;
using testing::k_layout;
using testing::k_lineage;
using testing::k_other_lineage;
using testing::put_row;

TEST_F(an_owner, confirms_what_is_acknowledged_behind_its_fence_without_a_gap) {
  lead();
  const auto first = make_one();
  const auto second = make_one();
  EXPECT_EQ(owner_.made_step(), 2U);
  EXPECT_EQ(owner_.pending_steps(), 2U);
  append_acknowledged(first);
  EXPECT_EQ(confirmed_, steps{1});
  append_acknowledged(second);
  EXPECT_EQ(confirmed_, (steps{1, 2}));
  EXPECT_EQ(own_, (std::vector<bool>{true, true}));
  EXPECT_EQ(rows_, put_row("k", ""));
  EXPECT_EQ(owner_.pending_steps(), 0U);
  EXPECT_EQ(owner_.pending_bytes(), 0U);
  EXPECT_EQ(owner_.wants(), std::nullopt);
}

TEST_F(an_owner, confirms_a_step_when_its_last_part_is_there) {
  lead();
  const std::string rows = put_row("key", std::string(40, 'x'));
  const auto parts = make(rows);
  ASSERT_EQ(parts.size(), 4U);
  for (std::size_t i = 0; i < 3; ++i) append_acknowledged(parts[i]);
  EXPECT_EQ(confirmed_, steps{});
  EXPECT_EQ(owner_.pending_bytes(), rows.size());
  append_acknowledged(parts[3]);
  EXPECT_EQ(confirmed_, steps{1});
  EXPECT_EQ(rows_, rows);
}

TEST_F(an_owner, confirms_a_step_without_rows) {
  lead();
  const auto parts = make("");
  ASSERT_EQ(parts.size(), 1U);
  append_acknowledged(parts.front());
  EXPECT_EQ(confirmed_, steps{1});
}

TEST_F(an_owner, reads_a_gap_before_it_confirms) {
  lead();
  const auto first = make_one();
  append("hello");
  const auto offset = append(first.record);
  owner_.acknowledged(first.ticket, offset);
  EXPECT_EQ(confirmed_, steps{});
  EXPECT_EQ(owner_.wants(), (read_range{1, offset - 1}));
  EXPECT_EQ(owner_.read(offset, first.record), std::nullopt) << "not more than it asks for";
  read();
  EXPECT_EQ(confirmed_, steps{1});
}

TEST_F(an_owner, may_be_told_that_a_gap_holds_no_records) {
  lead();
  const auto first = make_one();
  owner_.acknowledged(first.ticket, 5);
  EXPECT_EQ(owner_.wants(), (read_range{1, 4}));
  owner_.read_through(2, 4);
  EXPECT_EQ(owner_.wants(), (read_range{1, 4})) << "not from where it is asked for";
  owner_.read_through(1, 9);
  EXPECT_EQ(confirmed_, steps{1});
}

TEST_F(an_owner, confirms_nothing_behind_anothers_fence) {
  lead(3);
  const auto first = make_one();
  const auto second = make_one();
  append(author{{4, 0}, 9}.fence());
  append_acknowledged(first);
  append_acknowledged(second);
  EXPECT_EQ(confirmed_, steps{});
  read();
  EXPECT_EQ(confirmed_, steps{});
  EXPECT_EQ(dropped_, (steps{1, 2}));
  EXPECT_EQ(phase(), "claiming") << "the group has not said anything";
  EXPECT_EQ(owner_.made_step(), 0U);
  owner_.claim_answered(false);
  EXPECT_EQ(phase(), "late");
  owner_.unassigned();
  EXPECT_EQ(phase(), "standby");
}

TEST_F(an_owner, goes_on_behind_a_zombies_fence) {
  lead(3);
  const auto first = make_one();
  append(author{{2, 0}, 9}.fence());
  append(testing::step_record(author{{2, 0}, 9}, 1));
  append(author{{3, 0}, 9}.fence());
  append_acknowledged(first);
  read();
  EXPECT_EQ(confirmed_, steps{1});
  EXPECT_EQ(phase(), "leading");
}

TEST_F(an_owner, reads_until_it_meets_a_record_whose_offset_is_unknown) {
  lead();
  const auto first = make_one();
  const auto second = make_one();
  append("hello");
  append(first.record);
  owner_.acknowledged(first.ticket, std::nullopt);
  EXPECT_EQ(owner_.wants(), (read_range{1, std::nullopt}));
  read();
  EXPECT_EQ(confirmed_, steps{1});
  EXPECT_EQ(owner_.wants(), std::nullopt);
  append_acknowledged(second);
  EXPECT_EQ(confirmed_, (steps{1, 2}));
}

TEST_F(an_owner, does_not_mind_records_that_stand_in_the_log_twice) {
  lead();
  const auto first = make_one();
  const auto second = make_one();
  append(first.record);
  owner_.acknowledged(first.ticket, append(first.record));  // the second of them
  read();
  EXPECT_EQ(confirmed_, steps{1});
  append_acknowledged(second);
  read();
  EXPECT_EQ(confirmed_, (steps{1, 2}));
  EXPECT_EQ(phase(), "leading");
}

TEST_F(an_owner, keeps_reports_in_the_order_of_its_records) {
  lead();
  const auto first = make_one();
  const auto second = make_one();
  const auto at_first = append(first.record);
  const auto at_second = append(second.record);
  owner_.acknowledged(second.ticket, at_second);
  EXPECT_EQ(confirmed_, steps{});
  owner_.acknowledged(first.ticket, at_first);
  EXPECT_EQ(confirmed_, (steps{1, 2}));
}

TEST_F(an_owner, fences_again_when_a_record_fails_for_good) {
  lead();
  append_acknowledged(make_one());
  const auto failing = make_one();
  const auto behind = make_one();
  const auto at_behind = append(behind.record);
  owner_.failed(failing.ticket);
  EXPECT_EQ(dropped_, (steps{2, 3}));
  owner_.acknowledged(behind.ticket, at_behind);  // of an attempt that is over
  EXPECT_EQ(phase(), "claiming");
  EXPECT_EQ(owner_.made_step(), 1U);
  owner_.claim_answered(true);
  const auto fence = make_fence();
  log_record record;
  ASSERT_EQ(decode_record(fence.record, record), record_fault::none);
  EXPECT_EQ(record.head.epoch, (log_epoch{1, 1}));
  EXPECT_EQ(record.fence.known_step, 1U);
  append_acknowledged(fence);
  read();
  EXPECT_EQ(phase(), "leading");
  append_acknowledged(make_one());
  EXPECT_EQ(confirmed_, (steps{1, 2}));
}

TEST_F(an_owner, fences_again_when_it_meets_a_step_of_its_own_behind_a_gap) {
  lead();
  const auto first = make_one();
  const auto second = make_one();
  append(second.record);
  owner_.acknowledged(first.ticket, append(first.record));
  ASSERT_TRUE(owner_.read(1, log_[1]));
  EXPECT_EQ(phase(), "claiming");
  EXPECT_EQ(confirmed_, steps{}) << "the log decides what became of them";
  read();
  EXPECT_EQ(confirmed_, steps{1});
  EXPECT_EQ(own_, std::vector<bool>{false});
}

TEST_F(an_owner, takes_what_counts_of_an_attempt_that_is_over) {
  lead();
  const auto first = make_one();
  append(first.record);
  owner_.failed(first.ticket);
  EXPECT_EQ(dropped_, steps{1});
  owner_.claim_answered(true);
  append_acknowledged(make_fence());
  read();
  EXPECT_EQ(confirmed_, steps{1});
  EXPECT_EQ(own_, std::vector<bool>{false});
  EXPECT_EQ(owner_.made_step(), 1U);
}

TEST_F(an_owner, leads_when_it_has_read_up_to_its_fence) {
  const author other{{1, 0}, 9};
  append(other.fence());
  append(testing::step_record(other, 1));
  owner_.assigned(2);
  append_acknowledged(make_fence());
  append(testing::step_record(other, 2));
  EXPECT_EQ(owner_.wants(), (read_range{0, 2}));
  read();
  EXPECT_EQ(phase(), "leading");
  EXPECT_EQ(confirmed_, steps{1}) << "the other's second step is a zombie's";
  EXPECT_EQ(owner_.made_step(), 1U);
}

TEST_F(an_owner, fences_again_where_its_fence_is_not_the_highest) {
  owner_.assigned(2);
  const auto fence = make_fence();
  append(author{{2, 3}, 9}.fence());
  append_acknowledged(fence);
  read();
  EXPECT_EQ(phase(), "claiming");
  owner_.claim_answered(true);
  const auto again = make_fence();
  log_record record;
  ASSERT_EQ(decode_record(again.record, record), record_fault::none);
  EXPECT_EQ(record.head.epoch, (log_epoch{2, 4}));
}

TEST_F(an_owner, needs_a_claim_where_the_log_has_its_generation) {
  append(author{{5, 0}, 9}.fence());
  read();
  owner_.assigned(5);
  EXPECT_EQ(phase(), "claiming");
  owner_.assigned(6);
  EXPECT_EQ(phase(), "must_fence");
  append(author{{6, 0}, 9}.fence());
  read();
  EXPECT_EQ(phase(), "claiming") << "it has met a fence meanwhile";
  owner_.claim_answered(true);
  EXPECT_EQ(phase(), "must_fence");
  append(author{{6, 1}, 9}.fence());
  read();
  EXPECT_EQ(phase(), "must_fence") << "the group has said so";
}

TEST_F(an_owner, needs_another_claim_for_another_attempt) {
  lead();
  owner_.failed(make_one().ticket);
  owner_.claim_answered(true);
  append_acknowledged(make_fence());
  read();
  EXPECT_EQ(phase(), "leading");
  owner_.failed(make_one().ticket);
  EXPECT_EQ(phase(), "claiming");
}

TEST_F(an_owner, does_not_hear_reports_of_an_attempt_that_is_over) {
  lead();
  const auto before = make_one();
  owner_.failed(before.ticket);
  owner_.claim_answered(true);
  append_acknowledged(make_fence());
  read();
  const auto now = make_one();
  EXPECT_EQ(now.ticket.step, before.ticket.step);
  owner_.acknowledged(before.ticket, 2);
  EXPECT_EQ(confirmed_, steps{});
  owner_.failed(before.ticket);
  EXPECT_EQ(phase(), "leading");
  append_acknowledged(now);
  EXPECT_EQ(confirmed_, steps{1});
}

TEST_F(an_owner, reads_the_record_at_its_position_again_before_it_fences_again) {
  lead();
  append_acknowledged(make_one());
  owner_.unassigned();
  log_.back() = author{{2, 0}, 9}.fence();
  append("hello");
  owner_.assigned(3);
  append_acknowledged(make_fence());
  read();
  EXPECT_EQ(phase(), "stopped");
  EXPECT_EQ(refused(), "other_record");
}

TEST_F(an_owner, waits_for_the_report_of_a_fence_that_it_has_met) {
  owner_.assigned(1);
  const auto fence = make_fence();
  const auto offset = append(fence.record);
  read();
  EXPECT_EQ(phase(), "fencing");
  owner_.acknowledged(fence.ticket, offset);
  EXPECT_EQ(phase(), "leading");
}

TEST_F(an_owner, meets_a_fence_whose_offset_is_unknown) {
  owner_.assigned(1);
  const auto fence = make_fence();
  owner_.acknowledged(fence.ticket, std::nullopt);
  EXPECT_EQ(phase(), "fencing");
  append("hello");
  append(fence.record);
  read();
  EXPECT_EQ(phase(), "leading");
}

TEST_F(an_owner, fences_again_when_the_fence_fails) {
  owner_.assigned(1);
  const auto fence = make_fence();
  owner_.failed(fence.ticket);
  const auto again = make_fence();
  append(fence.record);  // it lands all the same, and has the epoch
  append_acknowledged(again);
  read();
  EXPECT_EQ(phase(), "claiming");
  EXPECT_EQ(owner_.reader().count_of(fate::rival), 1U);
}

TEST_F(an_owner, joins_the_history_that_another_has_begun_first) {
  owner_.assigned(2);
  const auto fence = make_fence();
  append(author{{1, 0}, 9, k_other_lineage}.fence());
  append_acknowledged(fence);
  read();
  EXPECT_EQ(owner_.reader().count_of(fate::foreign), 1U);
  append_acknowledged(make_fence());
  read();
  EXPECT_EQ(phase(), "leading");
  EXPECT_EQ(owner_.reader().position().lineage, k_other_lineage);
}

TEST_F(an_owner, drops_what_is_not_confirmed_when_the_slot_is_taken_back) {
  lead();
  append_acknowledged(make_one());
  const auto second = make_one();
  owner_.unassigned();
  EXPECT_EQ(phase(), "standby");
  EXPECT_EQ(dropped_, steps{2});
  append_acknowledged(second);
  read();
  EXPECT_EQ(confirmed_, (steps{1, 2})) << "nobody has fenced, so it counts";
}

TEST_F(an_owner, that_has_nothing_to_do_learns_of_anothers_fence) {
  lead();
  append_acknowledged(make_one());
  EXPECT_EQ(owner_.wants(), std::nullopt);
  owner_.look(owner_.reader().known_offset(), 0, 2);
  EXPECT_EQ(owner_.wants(), std::nullopt);
  append(author{{2, 0}, 9}.fence());
  owner_.look(owner_.reader().known_offset(), 0, 3);
  EXPECT_EQ(owner_.wants(), (read_range{2, 2}));
  read();
  EXPECT_EQ(phase(), "claiming");
}

TEST_F(an_owner, says_in_each_record_what_is_confirmed) {
  lead();
  append_acknowledged(make_one());
  const auto second = make_one();
  log_record record;
  ASSERT_EQ(decode_record(second.record, record), record_fault::none);
  EXPECT_EQ(record.chunk.confirmed, 1U);
  EXPECT_EQ(record.chunk.step, 2U);
}

TEST_F(an_owner, makes_no_step_that_is_too_long) {
  lead();
  std::vector<append_request> out;
  EXPECT_FALSE(owner_.append_step(std::string(std::size_t{16} * 65536, 'x'), out));
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(owner_.made_step(), 0U);
}

TEST_F(an_owner, comes_back_at_the_position_of_its_store) {
  lead();
  append_acknowledged(make_one());
  const log_position position = owner_.reader().position();
  append_acknowledged(make_one());
  owner_ = log_owner{options(), position};
  EXPECT_EQ(owner_.made_step(), 1U);
  owner_.look(owner_.reader().known_offset(), 0, 3);
  confirmed_.clear();
  read();
  EXPECT_EQ(confirmed_, steps{2});
  lead(2);
  append_acknowledged(make_one());
  EXPECT_EQ(confirmed_, (steps{2, 3}));
}

TEST_F(an_owner, takes_nothing_more_of_what_was_fetched_before_its_attempt_ended) {
  lead();
  append_acknowledged(make_one());
  owner_.assigned(1);  // it was thrown out, and is back
  owner_.claim_answered(true);
  append(make_fence().record);
  append(author{{3, 0}, 9}.fence());
  for (std::int64_t offset = 1; offset <= 3; ++offset) {
    ASSERT_TRUE(owner_.read(offset, log_[static_cast<std::size_t>(offset)]));
  }
  owner_.failed({writer_, 0, 0});
  EXPECT_EQ(owner_.wants(), (read_range{3, std::nullopt})) << "the fence that it has met";
  append("hello");
  EXPECT_EQ(owner_.read(4, log_[4]), std::nullopt);
  owner_.read_through(4, 4);
  EXPECT_EQ(refused(), "no");
  read();
  EXPECT_EQ(refused(), "no");
}

}  // namespace
}  // namespace ratchet::replicate
