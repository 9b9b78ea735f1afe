// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Which keys a step asks for: each once, whatever their hashes.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/index_table.hpp"
#include "core/step.hpp"
#include "support/core_print.hpp"
#include "support/core_world.hpp"

namespace ratchet {
namespace {

using testing::bad;
using testing::batch;
using testing::folding;
using testing::id_at;
using testing::replacing;
using testing::spec;
using testing::verdicts_of;
using testing::world;

const event_id k_id1 = id_at(5000, 1);
const event_id k_id2 = id_at(5000, 2);

TEST(plan, names_each_aggregate_and_each_id_of_it_once) {
  const std::vector<spec> events{{.aggregate = "a", .id = k_id1, .offset = 0},
                                 {.aggregate = "b", .id = k_id1, .offset = 1},
                                 {.aggregate = "a", .id = k_id1, .offset = 2},
                                 {.aggregate = "a", .id = k_id2, .offset = 3},
                                 {.aggregate = "a", .offset = 4},
                                 bad(5),
                                 {.kind = decoded_kind::ignored, .offset = 6}};
  const batch b{events};
  world w{folding{}};
  const step_plan plan = plan_step(w.rules, folding::traits, b.events);
  EXPECT_EQ(plan.aggregates, (std::vector<std::string_view>{"a", "b"}));
  EXPECT_EQ(plan.ids.size(), 3U);
  EXPECT_EQ(plan.aggregate_of, (std::vector<std::uint32_t>{0, 1, 0, 0, 0, k_no_index, k_no_index}));
  EXPECT_EQ(plan.id_of, (std::vector<std::uint32_t>{0, 1, 0, 2, k_no_index, k_no_index, k_no_index}));
  EXPECT_TRUE(plan.needs_snapshots);
  EXPECT_FALSE(plan_step(w.rules, replacing::traits, b.events).needs_snapshots);
}

TEST(plan, holds_many_keys_apart) {
  std::vector<spec> events;
  for (int i = 0; i < 20'000; ++i) {
    events.push_back({.aggregate = "payment-" + std::to_string(i % 10'000), .id = id_at(i, 1), .offset = i});
  }
  const batch b{events};
  const step_plan plan = plan_step(world{folding{}}.rules, folding::traits, b.events);
  EXPECT_EQ(plan.aggregates.size(), 10'000U);
  EXPECT_EQ(plan.ids.size(), 20'000U);
  for (std::size_t i = 0; i < events.size(); ++i) {
    ASSERT_EQ(plan.aggregates[plan.aggregate_of[i]], events[i].aggregate);
    ASSERT_EQ(plan.ids[plan.id_of[i]].id, *events[i].id);
  }
}

TEST(step, tells_one_id_on_two_aggregates_apart_where_their_hashes_collide) {
  // Found by search: with the aggregates 0 and 1 of a batch of two, this id has one slot and one tag in the
  // table of ids.
  constexpr event_id k_collides{0x01900004E43A1F15, 0x8000000000000001};
  const auto hash = [&](std::uint64_t aggregate) {
    return mix_bits(k_collides.high ^ mix_bits(k_collides.low + aggregate));
  };
  ASSERT_EQ(hash(0) >> 32U, hash(1) >> 32U);
  ASSERT_EQ(hash(0) & 7U, hash(1) & 7U);
  world w{folding{}, order::arrival};
  const std::vector<spec> both{{.aggregate = "a", .id = k_collides, .payload = "1", .offset = 0},
                               {.aggregate = "b", .id = k_collides, .payload = "2", .offset = 1}};
  EXPECT_EQ(verdicts_of(w.step(both)), (std::vector{verdict::applied, verdict::applied}));
  EXPECT_EQ(w.snapshot("a"), "1;");
  EXPECT_EQ(w.snapshot("b"), "2;");
  const std::vector<spec> again{{.aggregate = "a", .id = k_collides, .payload = "3", .offset = 2},
                                {.aggregate = "b", .id = k_collides, .payload = "4", .offset = 3}};
  EXPECT_EQ(verdicts_of(w.step(again)), (std::vector{verdict::duplicate, verdict::duplicate}));
}

}  // namespace
}  // namespace ratchet
