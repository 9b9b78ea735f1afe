// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/index_table.hpp"
#include "store/engine/huge_pages.hpp"
#include "store/layout/layout.hpp"
#include "store/step/evicted_ids.hpp"
#include "store/step/id_cache.hpp"
#include "support/store_support.hpp"
#include "unit/store/mapping.hpp"

namespace ratchet {
namespace {

using store_support::fixture;
using store_support::id_for;
using store_support::must;
using store_support::plan_of;

using answer = id_cache::answer;

constexpr std::uint64_t k_little = 1;  // the least memory there is: it must rotate many times

/// With the aggregate's name as its own hash.
struct memory_of_ids {
  explicit memory_of_ids(std::uint64_t bytes, std::optional<event_id> stored = {}) : ids{stored, bytes} {}
  static id_mark mark(const event_id& id, char aggregate) {
    const std::uint64_t name = static_cast<unsigned char>(aggregate);
    return mark_of(id, {name << 32U, name});
  }
  void add(const event_id& id, char aggregate = 'p', const std::optional<event_id>& horizon = {}) {
    ids.add(id, mark(id, aggregate), horizon);
  }
  [[nodiscard]] answer find(const event_id& id, char aggregate = 'p') const {
    return ids.find(id, mark(id, aggregate));
  }
  id_cache ids;
};

TEST(id_cache, never_calls_an_id_absent_that_was_added_however_many_came_after) {
  memory_of_ids m{k_little};
  for (std::uint64_t i = 0; i < 50'000; ++i) m.add({i * 7919 % 50'000, i});
  int stored = 0;
  for (std::uint64_t i = 0; i < 50'000; ++i) {
    const answer found = m.find({i * 7919 % 50'000, i});
    ASSERT_NE(found, answer::absent) << i;
    stored += found == answer::stored ? 1 : 0;
  }
  EXPECT_GT(stored, 100);
  EXPECT_LT(stored, 1'000) << "it is bounded";
  EXPECT_EQ(m.find({50'001, 0}), answer::absent);
}

/// As a partition that is read behind the others has them: new, but lower than what was forgotten.
TEST(id_cache, calls_most_ids_absent_that_were_not_added_though_higher_ones_are_forgotten) {
  memory_of_ids m{k_little};
  constexpr std::uint64_t k_added = 5'000;
  for (std::uint64_t i = 0; i < k_added; ++i) m.add({i, 0});
  int stored = 0;
  int unknown = 0;
  for (std::uint64_t i = 0; i < k_added; ++i) {
    stored += m.find({i, 0}) == answer::stored ? 1 : 0;
    const answer other = m.find({i, 1});
    ASSERT_NE(other, answer::stored) << i;
    unknown += other == answer::unknown ? 1 : 0;
  }
  EXPECT_LT(stored, k_added / 10) << "they are not forgotten";
  EXPECT_LT(unknown, k_added / 25);
}

TEST(evicted_ids, have_all_that_were_added_and_few_others) {
  constexpr std::uint64_t k_bytes = 1 << 16;
  evicted_ids ids{k_bytes};
  EXPECT_FALSE(ids.has_any());
  EXPECT_FALSE(ids.may_have(0));
  ids.prefetch(0);
  const auto hash = [](std::uint64_t n) { return mix_bits(n * 0x9E3779B97F4A7C15ULL + 1); };
  std::uint64_t added = 0;
  for (; ids.has_room_for(1); ++added) ids.add(hash(added));
  EXPECT_EQ(added, k_bytes * 8 / 10);
  EXPECT_TRUE(ids.has_any());
  for (std::uint64_t n = 0; n < added; ++n) ASSERT_TRUE(ids.may_have(hash(n))) << n;
  std::uint64_t wrong = 0;
  for (std::uint64_t n = added; n < 3 * added; ++n) wrong += ids.may_have(hash(n)) ? 1U : 0U;
  EXPECT_LT(wrong, 2 * added / 60);
  EXPECT_GT(wrong, 0U) << "they are not bounded";
}

TEST(id_cache, never_calls_an_id_stored_that_was_not_added) {
  memory_of_ids m{1 << 22};
  for (std::uint64_t i = 0; i < 50'000; ++i) m.add({i, i * 2});
  for (std::uint64_t i = 0; i < 50'000; ++i) {
    ASSERT_EQ(m.find({i, i * 2}), answer::stored) << i;
    ASSERT_EQ(m.find({i, i * 2 + 1}), answer::absent) << i;
  }
}

TEST(id_cache, knows_nothing_of_what_was_stored_before_it) {
  const memory_of_ids m{1 << 20, event_id{5, 5}};
  EXPECT_EQ(m.find({5, 5}), answer::unknown);
  EXPECT_EQ(m.find({4, 9}), answer::unknown);
  EXPECT_EQ(m.find({5, 6}), answer::absent);
}

TEST(id_cache, remembers_late_ones_too) {
  memory_of_ids m{1 << 20, event_id{5, 5}};
  m.add({4, 4});
  EXPECT_EQ(m.find({4, 4}), answer::stored);
  EXPECT_EQ(m.find({4, 5}), answer::unknown);
}

TEST(id_cache, starts_above_the_highest_of_all_it_is_told) {
  memory_of_ids m{1 << 20};
  m.ids.start_above({7, 0});
  m.ids.start_above({3, 0});
  EXPECT_EQ(m.find({7, 0}), answer::unknown);
  EXPECT_EQ(m.find({7, 1}), answer::absent);
}

TEST(id_cache, tells_the_same_id_of_two_aggregates_apart) {
  memory_of_ids m{1 << 20};
  m.add({1, 1});
  EXPECT_EQ(m.find({1, 1}), answer::stored);
  EXPECT_EQ(m.find({1, 1}, 'q'), answer::absent);
}

TEST(id_cache, keeps_an_id_whose_mark_is_all_zeros) {
  memory_of_ids m{1 << 20};
  const event_id id{std::uint64_t{'p'} << 32U, 'p'};
  EXPECT_EQ(m.find(id), answer::absent);
  m.add(id);
  EXPECT_EQ(m.find(id), answer::stored);
}

TEST(id_cache, stays_useful_after_ids_that_are_far_ahead) {
  memory_of_ids m{k_little};
  const std::optional<event_id> horizon = event_id{100'000, 0};
  const event_id far{900'000, 1};
  m.add(far, 'p', horizon);
  for (std::uint64_t i = 0; i < 50'000; ++i) m.add({i, i}, 'p', horizon);  // it rotates many times
  EXPECT_EQ(m.find({50'001, 0}), answer::absent);
  EXPECT_EQ(m.find(far), answer::stored);
}

TEST(id_cache, forgets_no_id_however_many_are_far_ahead) {
  memory_of_ids m{k_little};
  const std::optional<event_id> horizon = event_id{10, 0};
  for (std::uint64_t i = 0; i < 50'000; ++i) m.add({1'000 + i % 7, i}, 'p', horizon);
  for (std::uint64_t i = 0; i < 50'000; ++i) ASSERT_NE(m.find({1'000 + i % 7, i}), answer::absent) << i;
}

/// So that rows can have the rest.
TEST(id_cache, remember_as_many_in_what_they_take_as_in_what_they_were_given) {
  constexpr std::uint64_t k_given = 700'000;
  const std::uint64_t taken = id_cache::taken_of(k_given);
  EXPECT_GT(taken, k_given / 2);
  EXPECT_LE(taken, k_given);
  memory_of_ids all{k_given};
  memory_of_ids less{taken};
  memory_of_ids too_little{taken - 1};
  constexpr std::uint64_t k_added = 40'000;
  for (std::uint64_t i = 0; i < k_added; ++i) {
    for (memory_of_ids* m : {&all, &less, &too_little}) m->add({i, i});
  }
  const auto stored = [](const memory_of_ids& m) {
    int count = 0;
    for (std::uint64_t i = 0; i < k_added; ++i) count += m.find({i, i}) == answer::stored ? 1 : 0;
    return count;
  };
  EXPECT_EQ(stored(less), stored(all));
  EXPECT_LT(stored(too_little), stored(all));
}

class a_reopened_store : public fixture {};

TEST_F(a_reopened_store, knows_of_an_id_in_a_wide_run_that_begins_before_the_last_one) {
  constexpr std::uint64_t k_start = std::uint64_t{100'000'000} << layout::k_span_bits.back();
  const auto id_at = [](std::uint64_t milliseconds) {
    return event_id{(k_start + milliseconds) << 16U | 0x7000U, 1};
  };
  const step_plan plan = plan_of({"p1"});
  const auto file = [&](store& s, const std::vector<event_id>& ids) {
    write(s, s.id_of("payments"), {}, [&](step_batch& batch, stream_change& change) {
      batch.parts[0].plan = &plan;
      change.rows = {{0, {}}};
      for (const event_id& id : ids) change.ids.push_back({0, id});
    });
  };
  std::vector<event_id> wide;  // 512 ids, 128 ms between two
  for (std::uint64_t i = 0; i < 512; ++i) wide.push_back(id_at(i * 128));
  {
    auto s = open();
    file(*s, wide);
    file(*s, {id_at(500 * 128)});  // its narrow run begins last
  }
  auto s = open();
  step_plan asked = plan;
  asked.ids = {{0, wide.back()}};
  step_rows rows;
  must(s->lookup(s->id_of("payments"), asked, rows));
  EXPECT_EQ(rows.id_stored, (std::vector<std::uint8_t>{1}));
}

TEST_F(a_reopened_store, does_not_take_what_it_does_not_remember_for_new) {
  open().reset();
  {
    auto s = open();
    write(*s, s->id_of("payments"), {{"p1", seq(4), "four"}});
  }
  auto s = open();
  write(*s, s->id_of("payments"), {{"p2", seq(1), "one"}});
  for (const bool needs_snapshots : {false, true}) {
    step_plan plan = plan_of({"p1", "p2", "p3"});
    plan.needs_snapshots = needs_snapshots;
    step_rows rows;
    must(s->lookup(s->id_of("payments"), plan, rows));
    ASSERT_TRUE(rows.aggregates[0]);
    EXPECT_EQ(rows.aggregates[0]->last, seq(4));
    ASSERT_TRUE(rows.aggregates[1]);
    EXPECT_FALSE(rows.aggregates[2]);
  }
}

TEST_F(a_reopened_store, that_was_empty_reads_snapshots_of_rows_that_it_remembers) {
  auto s = open();
  write(*s, s->id_of("payments"), {{"p1", seq(4), "four"}});
  step_plan plan = plan_of({"p1", "p2"});
  plan.needs_snapshots = true;
  step_rows rows;
  must(s->lookup(s->id_of("payments"), plan, rows));
  ASSERT_TRUE(rows.aggregates[0]);
  EXPECT_EQ(rows.aggregates[0]->snapshot, "four");
  EXPECT_FALSE(rows.aggregates[1]);
}

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

TEST(huge_pages, are_asked_for_where_a_table_has_room_for_one) {
  if (!store_support::kernel_has_huge_pages()) GTEST_SKIP() << "this kernel has none";
  std::vector<std::uint64_t, huge_page_allocator<std::uint64_t>> table(1U << 20U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(table.data()) % k_huge_page, 0U);
  EXPECT_TRUE(store_support::is_advised_to_be_huge(table.data()));
}

}  // namespace
}  // namespace ratchet
