// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "store/recent_ids.hpp"
#include "store/recent_rows.hpp"
#include "store_support.hpp"

namespace ratchet {
namespace {

using store_support::fixture;
using store_support::id_for;
using store_support::must;
using store_support::plan_of;

TEST(recent_ids, never_calls_an_id_absent_that_was_added_however_many_came_after) {
  constexpr std::uint64_t k_little = 1;  // the least memory there is: it must rotate many times
  recent_ids ids{std::nullopt, k_little};
  for (std::uint64_t i = 0; i < 50'000; ++i) ids.add({i * 7919 % 50'000, i}, "p", {});
  for (std::uint64_t i = 0; i < 50'000; ++i)
    ASSERT_FALSE(ids.surely_absent({i * 7919 % 50'000, i}, "p")) << i;
  EXPECT_TRUE(ids.surely_absent({50'001, 0}, "p"));
}

TEST(recent_ids, knows_nothing_of_what_was_stored_before_it) {
  const recent_ids ids{event_id{5, 5}, 1 << 20};
  EXPECT_FALSE(ids.surely_absent({5, 5}, "p"));
  EXPECT_FALSE(ids.surely_absent({4, 9}, "p"));
  EXPECT_TRUE(ids.surely_absent({5, 6}, "p"));
}

TEST(recent_ids, tells_the_same_id_of_two_aggregates_apart) {
  recent_ids ids{std::nullopt, 1 << 20};
  ids.add({1, 1}, "p", {});
  EXPECT_FALSE(ids.surely_absent({1, 1}, "p"));
  EXPECT_TRUE(ids.surely_absent({1, 1}, "q"));
}

TEST(recent_ids, stays_useful_after_ids_that_are_far_ahead) {
  constexpr std::uint64_t k_little = 1;
  recent_ids ids{std::nullopt, k_little};
  const std::optional<event_id> horizon = event_id{100'000, 0};
  const event_id far{900'000, 1};
  ids.add(far, "p", horizon);
  for (std::uint64_t i = 0; i < 50'000; ++i) ids.add({i, i}, "p", horizon);  // it rotates many times
  EXPECT_TRUE(ids.surely_absent({50'001, 0}, "p"));
  EXPECT_FALSE(ids.surely_absent(far, "p"));
}

TEST(recent_ids, forgets_no_id_however_many_are_far_ahead) {
  constexpr std::uint64_t k_little = 1;
  recent_ids ids{std::nullopt, k_little};
  const std::optional<event_id> horizon = event_id{10, 0};
  for (std::uint64_t i = 0; i < 50'000; ++i) ids.add({1'000 + i % 7, i}, "p", horizon);
  for (std::uint64_t i = 0; i < 50'000; ++i) ASSERT_FALSE(ids.surely_absent({1'000 + i % 7, i}, "p")) << i;
}

row_head row_head_at(sequence last) {
  row_head head;
  head.last = last;
  return head;
}

TEST(recent_rows, forgets_the_oldest_and_never_answers_with_an_old_row) {
  recent_rows rows{20'000};
  for (std::uint64_t round = 1; round <= 3; ++round) {
    for (int i = 0; i < 200; ++i) rows.put("p" + std::to_string(i), row_head_at(seq(round)));
  }
  int known = 0;
  for (int i = 0; i < 200; ++i) {
    const row_head* head = rows.find("p" + std::to_string(i));
    if (!head) continue;
    ++known;
    EXPECT_EQ(head->last, seq(3));
  }
  EXPECT_GT(known, 0);
  EXPECT_LT(known, 200);
}

class a_reopened_store : public fixture {};

TEST_F(a_reopened_store, still_sees_ids_and_rows_of_before) {
  {
    auto s = open();
    write(*s, s->id_of("payments"), {{"p1", seq(1), "one"}});
    write(*s, s->id_of("payments"), {{"p1", seq(5), "five"}});
  }
  auto s = open();
  step_plan plan = plan_of({"p1"});
  plan.ids = {{0, id_for("p1", 1)}, {0, id_for("p1", 5)}, {0, id_for("p1", 3)}, {0, id_for("p1", 6)}};
  step_rows rows;
  for (int i = 0; i < 2; ++i) {  // from the database, then from memory
    must(s->lookup(s->id_of("payments"), plan, rows));
    EXPECT_EQ(rows.id_stored, (std::vector<std::uint8_t>{1, 1, 0, 0}));
    ASSERT_TRUE(rows.aggregates[0]);
    EXPECT_EQ(rows.aggregates[0]->last, seq(5));
    EXPECT_EQ(rows.aggregates[0]->id, id_for("p1", 5));
  }
}

}  // namespace
}  // namespace ratchet
