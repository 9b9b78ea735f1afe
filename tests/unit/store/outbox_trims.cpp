// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What goes of the outbox, and what it costs whoever reads on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/table_properties.h>

#include "store/open/verify.hpp"
#include "support/store_support.hpp"

namespace ratchet {
namespace {

using store_support::must;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct outbox_trims : store_support::fixture {
  static void put(store& s, std::size_t count) {
    step_batch batch;
    batch.step = s.last_step() + 1;
    for (std::size_t i = 0; i < count; ++i) {
      output_row& row = batch.outbox.puts.emplace_back();
      row.stream = s.id_of("payments");
      row.topic = "sink:a";
      row.value = "v";
    }
    batch.outbox.number(s.outboxes(), 0);
    must(s.write(batch));
  }
  static outbox_change of_lowest(const store& s, std::uint64_t rows) {
    const outbox_state lane = s.outboxes().of("a");
    outbox_change trim;
    trim.trimmed_lane = "a";
    trim.trimmed_rows = rows;
    trim.trimmed_bytes = rows * (lane.bytes / lane.rows());
    return trim;
  }
  static outbox_change of_those_behind(const store& s, std::vector<output_range> ranges) {
    outbox_change trim = of_lowest(s, 0);
    const outbox_state lane = s.outboxes().of("a");
    for (const output_range& range : ranges)
      trim.trimmed_bytes += (range.next - range.first) * (lane.bytes / lane.rows());
    trim.trimmed_behind = std::move(ranges);
    return trim;
  }
  static void write(store& s, outbox_change trim) {
    step_batch batch;
    batch.step = s.last_step() + 1;
    batch.outbox = std::move(trim);
    must(s.write(batch));
    must(s.sync());
  }
  static std::vector<std::uint64_t> positions(const store& s) {
    const outbox_state lane = s.outboxes().of("a");
    std::vector<std::uint64_t> out;
    for (const output_row& row : must(s.outputs("a", lane.first, lane.next, 1000, 1U << 30U)))
      out.push_back(row.position);
    return out;
  }
  /// In the tables on disk, behind a flush.
  static std::uint64_t range_deletions(store& s) {
    database& db = database_of(s);
    EXPECT_TRUE(db.db().Flush({}, db.handle(family::outbox)).ok());
    rocksdb::TablePropertiesCollection tables;
    EXPECT_TRUE(db.db().GetPropertiesOfAllTables(db.handle(family::outbox), &tables).ok());
    std::uint64_t sum = 0;
    for (const auto& [name, properties] : tables) sum += properties->num_range_deletions;
    return sum;
  }
};

TEST_F(outbox_trims, take_single_rows_around_those_that_stay_over_a_restart) {
  auto s = open();
  put(*s, 10);
  write(*s, of_those_behind(*s, {{1, 4}, {6, 7}}));
  for (int opens = 0; opens < 2; ++opens) {
    EXPECT_THAT(positions(*s), ElementsAre(0, 4, 5, 7, 8, 9));
    EXPECT_EQ(s->outboxes().of("a").rows(), 6U);
    EXPECT_EQ(s->outboxes().of("a").gone, 4U);
    EXPECT_EQ(must(must(s->view())->outboxes()), s->outboxes());
    s.reset();
    EXPECT_THAT(must(verify_store(path())), IsEmpty());
    s = open();
  }
  outbox_change all = of_lowest(*s, 10);
  all.trimmed_bytes = s->outboxes().of("a").bytes;
  all.trimmed_gone = 4;
  write(*s, all);
  EXPECT_EQ(s->outboxes().of("a"), (outbox_state{10, 10, 0}));
  EXPECT_THAT(positions(*s), IsEmpty());
  s.reset();
  EXPECT_THAT(must(verify_store(path())), IsEmpty());
}

TEST_F(outbox_trims, cost_whoever_reads_on_nothing) {
  auto s = open();
  put(*s, 2);
  for (int i = 0; i < 300; ++i) {
    put(*s, 1);
    write(*s, of_lowest(*s, 1));
  }
  const outbox_state lane = s->outboxes().of("a");
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
  rocksdb::get_perf_context()->Reset();
  EXPECT_EQ(must(s->outputs("a", lane.first, lane.next, 10, 1U << 20U)).size(), 2U);
  EXPECT_LT(rocksdb::get_perf_context()->internal_delete_skipped_count, 10U);
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
  EXPECT_EQ(range_deletions(*s), 0U) << "all of these are sorted by every read";
}

TEST_F(outbox_trims, take_many_rows_in_one) {
  auto s = open();
  put(*s, 20'000);
  write(*s, of_those_behind(*s, {{10'000, 19'999}}));
  write(*s, of_lowest(*s, 9'999));
  EXPECT_THAT(positions(*s), ElementsAre(9'999, 19'999));
  EXPECT_EQ(range_deletions(*s), 2U);
}

}  // namespace
}  // namespace ratchet
