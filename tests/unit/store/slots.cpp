// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <array>

#include "store/open/rocks_view.hpp"
#include "store/step/row_lookup.hpp"
#include "store/step/step_writer.hpp"
#include "store/step/sync_thread.hpp"
#include "unit/store/waiting_support.hpp"

/// Two slots of one stream with the same aggregates: neither sees a row of the other's.
namespace ratchet {
namespace {

using store_support::at_second;
using store_support::id_of_number;
using store_support::must;
using store_support::waiting_at;

constexpr slot k_slots[] = {slot{0}, slot{7}};

/// Steps for two slots, put straight into a store's database.
class slots_of_a_stream : public store_support::fixture {
 protected:
  void SetUp() override {
    store_ = open();
    stream_ = store_->id_of("payments");
    const std::array<stream_slot, 2> both{place(0), place(1)};
    constexpr std::uint64_t k_bytes = std::uint64_t{1} << 20U;
    memory_ = must(make_memory(db(), both, k_bytes));
    std::filesystem::create_directory(path().parent_path() / "synced");
    sync_.emplace(db(), must(synced_file::open(path().parent_path() / "synced")),
                  std::make_shared<durable_floors>(), 0, signal_);
    writes_.emplace(db(), *sync_, write_on::owner_thread);
    lookup_.emplace(db(), *writes_, memory_);
    writer_.emplace(db());
  }

  [[nodiscard]] stream_slot place(std::size_t which) const { return {stream_, k_slots[which]}; }
  [[nodiscard]] database& db() { return database_of(*store_); }
  [[nodiscard]] std::unique_ptr<rocks_view> view() { return must(rocks_view::open(db(), true)); }

  /// One step; `fill` makes the part of the slot that it is given.
  void write(const std::function<void(std::size_t which, step_plan&, stream_change&)>& fill) {
    step_batch batch;
    batch.step = ++step_;
    std::array<step_plan, 2> plans;
    std::array<stream_change, 2> changes;
    for (std::size_t i = 0; i < 2; ++i) {
      fill(i, plans.at(i), changes.at(i));
      batch.parts.push_back({.stream = stream_,
                             .plan = &plans.at(i),
                             .change = &changes.at(i),
                             .rejected = {},
                             .slot = k_slots[i]});
    }
    rocksdb::WriteBatch* made = must(writer_->build(batch, *lookup_, memory_, rejected_, {}));
    must(writes_->start(*made, batch.step));
    must(writes_->wait_for_write());
  }

  [[nodiscard]] step_rows look_up(std::size_t which, const step_plan& plan) {
    step_rows rows;
    must(lookup_->run(place(which), plan, rows));
    return rows;
  }

  std::unique_ptr<store> store_;
  stream_id stream_{0};
  memory_by_slot memory_;
  durable_signal signal_;
  std::optional<sync_thread> sync_;
  std::optional<write_thread> writes_;
  std::optional<row_lookup> lookup_;
  std::optional<step_writer> writer_;
  rejected_index rejected_;
  std::uint64_t step_{0};
};

/// The number of the slot's own events.
constexpr std::uint64_t number_of(std::size_t which) {
  return which == 0 ? 5 : 9;
}

TEST_F(slots_of_a_stream, keep_rows_ids_and_tables_apart) {
  write([](std::size_t which, step_plan& plan, stream_change& change) {
    plan.add("a");
    aggregate_row row;
    row.last = seq(number_of(which));
    // The second one is so long that it lies in `snapshots`.
    row.snapshot = std::string(which == 0 ? 1 : 100'000, which == 0 ? 'x' : 'y');
    change.rows.push_back({0, row});
    change.ids.push_back({0, id_of_number(number_of(which))});
    change.tables.push_back({0, 0, "t", "key", std::string(1, which == 0 ? 'x' : 'y')});
  });
  const auto seen = view();
  for (std::size_t i = 0; i < 2; ++i) {
    SCOPED_TRACE(i);
    const char own = i == 0 ? 'x' : 'y';
    step_plan plan = store_support::plan_of({"a"});
    plan.needs_snapshots = true;
    plan.ids = {{0, id_of_number(5)}, {0, id_of_number(9)}};
    const step_rows rows = look_up(i, plan);
    ASSERT_TRUE(rows.aggregates.at(0));
    EXPECT_EQ(rows.aggregates[0]->last, seq(number_of(i)));
    EXPECT_EQ(std::string_view{rows.aggregates[0]->snapshot}.front(), own);
    EXPECT_EQ(rows.id_stored, (std::vector<std::uint8_t>{i == 0, i == 1}));
    EXPECT_EQ(must(seen->get(place(i), "a")).last, seq(number_of(i)));
    EXPECT_EQ(must(seen->table_row(place(i), "t", "key")), std::string(1, own));
    std::size_t scanned = 0;
    must(seen->scan(place(i), [&](const scanned_row& row) {
      ++scanned;
      EXPECT_EQ(row.row.last, seq(number_of(i)));
      return true;
    }));
    EXPECT_EQ(scanned, 1U);
    std::vector<event_id> ids;
    must(seen->scan_ids(place(i), [&](std::string_view, event_id id, timestamp) {
      ids.push_back(id);
      return true;
    }));
    EXPECT_EQ(ids, std::vector<event_id>{id_of_number(number_of(i))});
    EXPECT_EQ(must(seen->aggregates_with(place(i), id_of_number(5), 9)).size(), i == 0 ? 1U : 0U);
  }
}

TEST_F(slots_of_a_stream, keep_what_waits_apart) {
  write([](std::size_t which, step_plan& plan, stream_change& change) {
    plan.add("a");
    plan.order = order::strict;
    aggregate_row row;
    row.last = seq(1);
    row.waits = true;
    change.rows.push_back({0, row});
    backlog_change& waits = change.backlogs.emplace_back();
    backlog& after = waits.after.emplace();
    after.parked = 1;
    after.highest = seq(number_of(which));
    // The slot whose time is later is not hidden by the other one, nor the other way round.
    after.wake = at_second(static_cast<std::int64_t>(number_of(which)));
    after.gap_since = at_second(10 - static_cast<std::int64_t>(number_of(which)));
    waits.puts.push_back(waiting_at(seq(number_of(which))));
  });
  const auto seen = view();
  for (std::size_t i = 0; i < 2; ++i) {
    SCOPED_TRACE(i);
    step_plan plan = store_support::plan_of({"a"});
    plan.order = order::strict;
    plan.resumes = true;
    const step_rows rows = look_up(i, plan);
    ASSERT_EQ(rows.backlogs.size(), 1U);
    ASSERT_EQ(rows.backlogs[0].second.queue.size(), 1U);
    EXPECT_EQ(rows.backlogs[0].second.queue[0].head.sequence, seq(number_of(i)));

    due_bounds bounds;
    const auto wake = at_second(static_cast<std::int64_t>(number_of(i)));
    const auto gap = at_second(10 - static_cast<std::int64_t>(number_of(i)));
    const auto none = must(find_due(db(), place(i), bounds, at_second(0), std::nullopt, 9));
    EXPECT_TRUE(none.names.empty());
    EXPECT_EQ(none.next_wake, wake);
    EXPECT_EQ(none.next_gap, gap);
    EXPECT_EQ(must(find_due(db(), place(i), bounds, wake, std::nullopt, 9)).names.size(), 1U);
    EXPECT_EQ(must(find_due_behind(db(), place(i), at_second(8), 9)).size(), i == 0 ? 0U : 1U);

    std::vector<sequence> listed;
    must(seen->waiting(place(i), {}, [&](std::string_view, const waiting_event& e) {
      listed.push_back(e.head.sequence);
      return true;
    }));
    EXPECT_EQ(listed, std::vector<sequence>{seq(number_of(i))});
    EXPECT_EQ(must(seen->backlog_of(place(i), "a"))->highest, seq(number_of(i)));
    EXPECT_EQ(must(seen->oldest_gap(place(i))), "a");
    std::size_t backlogs = 0;
    must(seen->backlogs(place(i), [&](std::string_view, const backlog&) { return ++backlogs > 0; }));
    EXPECT_EQ(backlogs, 1U);
  }
  EXPECT_EQ(must(seen->oldest_gap({stream_, slot{3}})), std::nullopt) << "a slot that holds nothing";
  const auto missing = seen->get({stream_, slot{3}}, "a");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error(), make_error_code(errc::not_found));
}

}  // namespace
}  // namespace ratchet
