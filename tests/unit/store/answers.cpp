// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What is kept of transactions, in the rows of their ids.
#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include "store/layout/answer.hpp"
#include "store/step/sync_thread.hpp"
#include "support/store_support.hpp"
#include "unit/store/faults.hpp"

namespace ratchet {
namespace {

using store_support::fixture;
using store_support::must;

timestamp at(std::int64_t ms) {
  return timestamp{std::chrono::milliseconds{1'700'000'000'000 + ms}};
}

constexpr event_id k_one{0, 7};
constexpr event_id k_two{0xFFFFFFFFFFFFFFFF, 7};

class answers : public fixture {
 protected:
  [[nodiscard]] std::unique_ptr<store> open() const {
    store_options o = options();
    o.streams = {{"payments", {{"order", "arrival"}, {"dedup.ids", "opaque"}}}};
    return must(open_store(o));
  }
  static void file(store& s, event_id id, timestamp filed, std::optional<kept_answer> answer,
                   std::optional<timestamp> floor = {}) {
    write(s, s.id_of("payments"), {{"p1", seq(1), "{}"}}, [&](step_batch&, stream_change& change) {
      change.opaque_ids = true;
      change.ids = {{0, id, filed}};
      if (answer) change.answers = {*answer};
      if (floor) change.after.floor = floor;
    });
  }
  static step_rows look_up(store& s, bool wants_answers = true) {
    step_plan plan;
    plan.opaque_ids = true;
    plan.wants_answers = wants_answers;
    plan.add("p1");
    plan.add("p2");
    plan.ids = {{1, k_one, {}}, {0, k_two, {}}, {0, k_one, {}}};
    step_rows rows;
    must(s.lookup(s.id_of("payments"), plan, rows));
    return rows;
  }
};

TEST_F(answers, are_found_with_their_ids_after_a_restart_too) {
  const kept_answer kept{seq(3), hash128{1, 2}, std::string{"reply"}};
  auto s = open();
  file(*s, k_one, at(5), kept);
  file(*s, k_two, at(6), std::nullopt);
  for (const bool again : {false, true}) {
    const step_rows rows = look_up(*s);
    EXPECT_EQ(rows.id_stored, (std::vector<std::uint8_t>{0, 1, 1}));
    EXPECT_EQ(rows.id_filed[2], at(5));
    EXPECT_EQ(rows.answers[0], std::nullopt);
    EXPECT_EQ(rows.answers[1], std::nullopt) << "an event's";
    EXPECT_EQ(rows.answers[2], kept);
    EXPECT_TRUE(look_up(*s, false).answers.empty()) << "whoever handles events needs none";
    EXPECT_EQ(look_up(*s, false).id_filed[2], at(5));
    if (again) break;
    must(s->sync());
    s.reset();
    s = open();
  }
  const auto filed = must(must(s->view())->aggregates_with(s->id_of("payments"), k_one, 10));
  ASSERT_EQ(filed.size(), 1U);
  EXPECT_EQ(filed[0].filed, at(5)) << "explain finds them as any id";
}

/// Who waits for one of the others has another step.
TEST_F(answers, are_looked_up_as_far_as_one_step_holds_them) {
  auto s = open();
  const std::string large(std::size_t{900} << 10U, 'x');
  step_plan plan;
  plan.opaque_ids = true;
  plan.wants_answers = true;
  plan.add("p1");
  for (std::uint64_t i = 0; i < 20; ++i) {
    file(*s, {1, i}, at(5), kept_answer{seq(i + 1), std::nullopt, large});
    plan.ids.push_back({0, {1, 19 - i}, {}});  // not in the order of their keys
  }
  step_rows rows;
  must(s->lookup(s->id_of("payments"), plan, rows));
  EXPECT_EQ(rows.id_stored, std::vector<std::uint8_t>(10, 1)) << "8 MiB of them, and one more";
  for (std::uint64_t i = 0; i < 10; ++i)
    EXPECT_EQ(rows.answers[i], (kept_answer{seq(20 - i), std::nullopt, large}));
}

TEST_F(answers, and_snapshots_are_bounded_in_one_step) {
  auto s = open();
  step_plan plan;
  plan.opaque_ids = true;
  plan.needs_snapshots = true;
  for (std::uint64_t i = 0; i < 6; ++i) {
    const std::string name = "p" + std::to_string(i);
    write(*s, s->id_of("payments"), {{name, seq(1), std::string(std::size_t{3} << 20U, 'x')}},
          [&](step_batch&, stream_change& change) {
            change.opaque_ids = true;
            change.ids = {{0, {1, i}, at(5)}};
          });
  }
  const std::vector<std::string> names{"p5", "p0", "p4", "p1", "p3", "p2"};
  for (std::uint32_t i = 0; i < 6; ++i) {
    plan.add(names[i]);
    plan.ids.push_back({i, {1, static_cast<std::uint64_t>(names[i][1] - '0')}, {}});
  }
  for (const bool wants_answers : {false, true}) {
    plan.wants_answers = wants_answers;
    step_rows rows;
    must(s->lookup(s->id_of("payments"), plan, rows));
    EXPECT_EQ(rows.aggregates.size(), 3U) << "three of three MiB are more than is looked up for one step";
    EXPECT_EQ(rows.id_stored, (std::vector<std::uint8_t>{1, 1, 1, 0, 0, 0}))
        << "those behind are not asked for";
  }
}

TEST_F(answers, go_with_their_ids_when_the_durable_floor_has_passed) {
  auto s = open();
  file(*s, k_one, at(5), kept_answer{seq(1), std::nullopt, std::string(5000, 'x')});
  file(*s, k_two, at(6), kept_answer{seq(2), std::nullopt, std::nullopt}, at(6));
  must(s->sync());
  database& db = database_of(*s);
  ASSERT_TRUE(db.db().Flush({}, db.handle(family::dedup)).ok());
  rocksdb::CompactRangeOptions o;
  o.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  ASSERT_TRUE(db.db().CompactRange(o, db.handle(family::dedup), nullptr, nullptr).ok());
  EXPECT_EQ(look_up(*s).id_stored, (std::vector<std::uint8_t>{0, 1, 0}));
}

}  // namespace
}  // namespace ratchet
