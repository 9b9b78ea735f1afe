// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/all_rows.hpp"
#include "testing/memory_store.hpp"

namespace ratchet {
namespace {

const event_id k_early{1, 1};
const event_id k_late{2, 1};

/// A step that sets aggregate "a" to this sequence and files an id of it.
struct small_step {
  explicit small_step(std::uint64_t n, event_id id) {
    plan.add("a");
    plan.ids = {{0, id}};
    aggregate_row row;
    row.last = seq(n);
    row.snapshot = "snapshot " + std::to_string(n);
    change.rows = {{0, row}};
    change.ids = plan.ids;
    change.after.counters.applied = n;
    change.after.partitions[{"t", partition_id{0}}].next_offset = static_cast<std::int64_t>(n);
  }
  [[nodiscard]] step_batch batch(std::uint64_t step) const {
    step_batch b;
    b.step = step;
    b.parts.push_back({.stream = stream_id{0}, .plan = &plan, .change = &change, .rejected = rejected});
    return b;
  }
  step_plan plan;
  stream_change change;
  std::vector<rejected_row> rejected;
};

std::uint64_t last_of(const memory_store& store) {
  const auto row = store.view().value()->get(stream_id{0}, "a");
  return row ? row.value().last.number : 0;
}

TEST(memory_store, keeps_a_step_as_a_whole) {
  memory_store store{{"payments", "refunds"}};
  EXPECT_EQ(store.id_of("refunds"), stream_id{1});
  const small_step one{1, k_early};
  ASSERT_TRUE(store.write(one.batch(1)));
  EXPECT_EQ(store.last_step(), 1U);
  EXPECT_EQ(store.load(stream_id{0}).value(), one.change.after);
  EXPECT_EQ(store.load(stream_id{1}).value(), stream_state{}) << "streams are kept apart";
  EXPECT_EQ(last_of(store), 1U);
}

TEST(memory_store, refuses_a_step_that_is_not_the_next) {
  memory_store store{{"payments"}};
  const small_step one{1, k_early};
  EXPECT_EQ(store.write(one.batch(2)).error(), errc::internal);
  EXPECT_EQ(store.last_step(), 0U);
  EXPECT_EQ(last_of(store), 0U);
}

TEST(memory_store, loses_what_was_not_synced_and_nothing_else) {
  memory_store store{{"payments"}};
  ASSERT_TRUE(store.write(small_step(1, k_early).batch(1)));
  EXPECT_EQ(store.durable_step(), 0U);
  ASSERT_TRUE(store.sync());
  EXPECT_EQ(store.durable_step(), 1U);
  ASSERT_TRUE(store.write(small_step(2, k_late).batch(2)));
  EXPECT_EQ(last_of(store), 2U);
  store.lose_unsynced();
  EXPECT_EQ(store.last_step(), 1U);
  EXPECT_EQ(last_of(store), 1U);
  step_rows rows;
  const small_step probe{0, k_late};
  ASSERT_TRUE(store.lookup(stream_id{0}, probe.plan, rows));
  EXPECT_EQ(rows.id_stored, std::vector<std::uint8_t>{0}) << "the id is lost with its step";
  ASSERT_TRUE(store.write(small_step(3, k_late).batch(2))) << "the step's number is free again";
}

TEST(memory_store, looks_up_rows_ids_and_snapshots_where_they_are_needed) {
  memory_store store{{"payments"}};
  ASSERT_TRUE(store.write(small_step(1, k_early).batch(1)));
  step_plan plan;
  plan.add("b");
  plan.add("a");
  plan.ids = {{1, k_early}, {0, k_early}, {1, k_late}};
  step_rows rows;
  ASSERT_TRUE(store.lookup(stream_id{0}, plan, rows));
  EXPECT_FALSE(rows.aggregates.at(0));
  EXPECT_EQ(rows.aggregates.at(1)->snapshot, "") << "a full-state reducer does not read it";
  EXPECT_EQ(rows.id_stored, (std::vector<std::uint8_t>{1, 0, 0})) << "an id belongs to its aggregate";
  plan.needs_snapshots = true;
  ASSERT_TRUE(store.lookup(stream_id{0}, plan, rows));
  EXPECT_EQ(rows.aggregates.at(1)->snapshot, "snapshot 1");
}

TEST(memory_store, shows_a_consistent_view_while_it_is_written) {
  memory_store store{{"payments"}};
  ASSERT_TRUE(store.write(small_step(1, k_late).batch(1)));
  const auto view = store.view().value();
  ASSERT_TRUE(store.write(small_step(2, k_early).batch(2)));
  EXPECT_EQ(view->step(), 1U);
  EXPECT_EQ(view->get(stream_id{0}, "a").value().last, seq(1));
  EXPECT_EQ(view->get(stream_id{0}, "b").error(), errc::not_found);

  std::vector<event_id> ids;
  ASSERT_TRUE(store.view().value()->scan_ids(stream_id{0}, [&ids](std::string_view, event_id id, timestamp) {
    ids.push_back(id);
    return true;
  }));
  EXPECT_EQ(ids, (std::vector{k_early, k_late})) << "in the order of time";
}

TEST(memory_store, lists_rejected_records_newest_first_and_each_once) {
  memory_store store{{"payments"}};
  small_step step{1, k_early};
  const topic_partition where{"t", partition_id{0}};
  for (const std::int64_t offset : {4, 5}) {
    rejected_row row;
    row.where = where;
    row.offset = offset;
    row.step = 1;
    step.rejected.push_back(row);
  }
  ASSERT_TRUE(store.write(step.batch(1)));
  ASSERT_TRUE(store.write(step.batch(2))) << "the same again";
  const auto view = store.view().value();
  const auto all = support::newest_rejected(*view, stream_id{0}, 10).value();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].offset, 5);
  EXPECT_EQ(support::newest_rejected(*view, stream_id{0}, 1).value().size(), 1U);
}

TEST(memory_store, draws_growing_incarnations_that_survive) {
  memory_store store{{"payments"}};
  EXPECT_EQ(store.draw_incarnation(0, 11).value(), (incarnation{1, 11}));
  EXPECT_EQ(store.draw_incarnation(9, 12).value(), (incarnation{10, 12}));
  store.lose_unsynced();
  EXPECT_EQ(store.incarnations(), (std::vector<incarnation>{{1, 11}, {10, 12}}));
}

}  // namespace
}  // namespace ratchet
