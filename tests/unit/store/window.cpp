// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <set>

#include "store/layout/layout.hpp"
#include "store/open/read_only.hpp"
#include "store/open/verify.hpp"
#include "store/step/sync_thread.hpp"
#include "support/store_support.hpp"
#include "unit/store/faults.hpp"

namespace ratchet {
namespace {

using store_support::failing_file_system;
using store_support::fixture;
using store_support::must;
using store_support::plan_of;
using store_support::switches;

/// The narrowest span: runs of it are dropped one by one.
constexpr std::int64_t k_span = std::int64_t{1} << layout::k_span_bits.front();
constexpr std::int64_t k_widest = std::int64_t{1} << layout::k_span_bits.back();
constexpr std::int64_t k_base = k_widest * 100'000'000;

timestamp at_millisecond(std::int64_t milliseconds) {
  return timestamp{std::chrono::milliseconds{k_base + milliseconds}};
}

event_id id_at_millisecond(std::int64_t milliseconds, std::uint64_t low = 1) {
  return {static_cast<std::uint64_t>(k_base + milliseconds) << 16U | 0x7000U, low};
}

/// Times count in spans: ids of two times never share a run.
timestamp at(std::int64_t spans) {
  return at_millisecond(spans * k_span);
}

event_id id_at(std::int64_t spans) {
  return id_at_millisecond(spans * k_span);
}

/// Ids are filed at 0, 10, 20, … spans of the aggregate "p".
class ids_below_the_floor : public fixture {
 protected:
  static void step(store& s, const std::vector<event_id>& ids, std::optional<timestamp> floor) {
    const stream_id stream = s.id_of("payments");
    const step_plan plan = plan_of({"p"});
    stream_change change;
    change.after = must(s.load(stream));
    change.rows = {{0, {}}};
    for (const event_id& id : ids) change.ids.push_back({0, id});
    if (floor) change.after.floor = floor;
    change.after.counters.applied += 1;
    change.after.counters.consumed += 1;
    const topic_partition where{"t", partition_id{0}};
    change.after.partitions[where].highest_time = at(1'000'000);
    change.touched = {where};
    step_batch batch;
    batch.step = s.last_step() + 1;
    batch.parts.push_back({stream, &plan, &change, {}});
    must(s.write(batch));
  }
  static void flush(store& s) {
    database& db = database_of(s);
    ASSERT_TRUE(db.db().Flush({}, db.handle(family::dedup)).ok());
  }
  static void compact(store& s) {
    flush(s);
    database& db = database_of(s);
    rocksdb::CompactRangeOptions o;
    o.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    ASSERT_TRUE(db.db().CompactRange(o, db.handle(family::dedup), nullptr, nullptr).ok());
  }
  /// Rewrites everything into files of about so many bytes, below level 0.
  static void split(store& s, std::uint64_t bytes) {
    compact(s);
    database& db = database_of(s);
    rocksdb::ColumnFamilyMetaData meta;
    db.db().GetColumnFamilyMetaData(db.handle(family::dedup), &meta);
    std::vector<std::string> files;
    for (const auto& level : meta.levels) {
      for (const auto& file : level.files) files.push_back(file.name);
    }
    rocksdb::CompactionOptions o;
    o.output_file_size_limit = bytes;
    const rocksdb::Status done = db.db().CompactFiles(o, db.handle(family::dedup), files, 6);
    ASSERT_TRUE(done.ok()) << done.ToString();
  }
  static std::size_t files_of(store& s) {
    database& db = database_of(s);
    rocksdb::ColumnFamilyMetaData meta;
    db.db().GetColumnFamilyMetaData(db.handle(family::dedup), &meta);
    return meta.file_count;
  }
  static std::set<std::uint64_t> times(const store& s) {
    std::set<std::uint64_t> out;
    must(must(s.view())->scan_ids(s.id_of("payments"), [&](std::string_view, event_id id, timestamp) {
      out.insert(((id.high >> 16U) - static_cast<std::uint64_t>(k_base)) /
                 static_cast<std::uint64_t>(k_span));
      return true;
    }));
    return out;
  }
};

TEST_F(ids_below_the_floor, go_by_compaction_and_the_id_at_the_floor_stays) {
  auto s = open();
  step(*s, {id_at(0), id_at_millisecond(10 * k_span - 1), id_at(10), id_at(20)}, at(10));
  must(s->sync());
  compact(*s);
  EXPECT_EQ(times(*s), (std::set<std::uint64_t>{10, 20}));
  s.reset();
  EXPECT_TRUE(must(verify_store(path())).empty());
  EXPECT_EQ(open()->last_step(), 1U) << "the step's row went with the ids";
}

TEST_F(ids_below_the_floor, stay_while_their_span_reaches_over_it) {
  auto s = open();
  step(*s, {id_at_millisecond(0), id_at_millisecond(k_span - 1)}, at_millisecond(k_span - 1));
  must(s->sync());
  compact(*s);
  std::size_t ids = 0;
  must(must(s->view())->scan_ids(s->id_of("payments"), [&](std::string_view, event_id, timestamp) {
    ++ids;
    return true;
  }));
  EXPECT_EQ(ids, 2U) << "the one inside the window went with the one before it";
}

TEST_F(ids_below_the_floor, stay_until_the_step_that_moved_it_is_durable) {
  auto s = open();
  step(*s, {id_at(0), id_at(10), id_at(20)}, at(10));
  must(s->sync());
  step(*s, {id_at(30)}, at(20));  // written, not synced
  compact(*s);
  EXPECT_EQ(times(*s), (std::set<std::uint64_t>{10, 20, 30}));
  must(s->sync());
  compact(*s);
  EXPECT_EQ(times(*s), (std::set<std::uint64_t>{20, 30}));
}

TEST_F(ids_below_the_floor, stay_where_the_sync_of_its_step_failed) {
  switches faults;
  const std::unique_ptr<rocksdb::Env> env =
      rocksdb::NewCompositeEnv(std::make_shared<failing_file_system>(faults));
  auto s = must(open_store(options(), env.get()));
  step(*s, {id_at(0), id_at(10)}, std::nullopt);
  compact(*s);
  step(*s, {}, at(10));
  faults.fail_sync = true;
  EXPECT_FALSE(s->sync());
  faults.fail_sync = false;
  database& db = database_of(*s);
  // RocksDB itself may refuse to compact after the error; what counts is that nothing went.
  db.db().CompactRange({}, db.handle(family::dedup), nullptr, nullptr).PermitUncheckedError();
  s.reset();
  const auto again = must(open_store_read_only(path()));
  std::size_t ids = 0;
  must(must(again->view())->scan_ids(again->streams()[0].id, [&](std::string_view, event_id, timestamp) {
    ++ids;
    return true;
  }));
  EXPECT_EQ(ids, 2U);
}

TEST_F(ids_below_the_floor, stay_where_a_sync_ended_that_began_before_the_step_that_moved_it) {
  switches faults;
  const std::unique_ptr<rocksdb::Env> env =
      rocksdb::NewCompositeEnv(std::make_shared<failing_file_system>(faults));
  auto s = must(open_store(options(), env.get()));
  step(*s, {id_at(0), id_at(10)}, std::nullopt);
  faults.on_sync = [&] { step(*s, {}, at(10)); };
  must(s->sync());
  ASSERT_EQ(s->durable_step(), 1U);
  compact(*s);
  EXPECT_EQ(times(*s), (std::set<std::uint64_t>{0, 10}));
  must(s->sync());
  compact(*s);
  EXPECT_EQ(times(*s), (std::set<std::uint64_t>{10}));
}

TEST_F(ids_below_the_floor, go_after_a_restart_by_the_floor_that_was_recovered) {
  {
    auto s = open();
    step(*s, {id_at(0), id_at(10)}, at(10));
  }
  auto s = open();
  compact(*s);
  EXPECT_EQ(times(*s), (std::set<std::uint64_t>{10}));
}

TEST_F(ids_below_the_floor, of_another_stream_are_judged_by_its_own_floor) {
  store_options o = options();
  o.streams.push_back({"refunds", {}});
  auto s = must(open_store(o));
  step(*s, {id_at(0), id_at(10)}, at(10));
  write(*s, s->id_of("refunds"), {}, [](step_batch& batch, stream_change& change) {
    static const step_plan plan = plan_of({"r"});
    batch.parts[0].plan = &plan;
    change.ids = {{0, id_at(0)}};
  });
  must(s->sync());
  compact(*s);
  int refunds = 0;
  must(must(s->view())->scan_ids(s->id_of("refunds"), [&](std::string_view, event_id, timestamp) {
    ++refunds;
    return true;
  }));
  EXPECT_EQ(refunds, 1);
  EXPECT_EQ(times(*s), (std::set<std::uint64_t>{10}));
}

/// Ids of 4,000 spans, four each, in many small files of a lower level.
class whole_files_of_ids : public ids_below_the_floor {
 protected:
  static constexpr std::int64_t k_spans = 4'000;
  static constexpr std::int64_t k_spans_of_a_step = 50;  // so few that narrow runs are chosen
  static void fill(store& s) {
    std::vector<event_id> ids;
    for (std::int64_t i = 0; i < k_spans; ++i) {
      for (std::int64_t n = 0; n < 4; ++n)
        ids.push_back(
            id_at_millisecond(i * k_span + n, static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15ULL));
      if ((i + 1) % k_spans_of_a_step != 0) continue;
      step(s, ids, std::nullopt);
      ids.clear();
    }
    must(s.sync());
    split(s, 8192);
    ASSERT_GT(files_of(s), 5U);
  }
};

TEST_F(whole_files_of_ids, below_the_floor_are_dropped_and_no_id_inside_the_window_goes_with_them) {
  auto s = open();
  fill(*s);
  const std::size_t before = files_of(*s);
  database& db = database_of(*s);
  const stream_id stream = s->id_of("payments");
  for (std::int64_t floor = 0; floor <= k_spans; floor += 200) {
    drop_id_files(db.db(), db.handle(family::dedup), {{static_cast<std::uint32_t>(stream), at(floor)}});
    const std::set<std::uint64_t> left = times(*s);
    for (std::int64_t i = floor; i < k_spans; ++i) ASSERT_TRUE(left.contains(static_cast<std::uint64_t>(i)));
  }
  EXPECT_LT(files_of(*s), before / 2);
  EXPECT_LT(times(*s).size(), static_cast<std::size_t>(k_spans) / 4);
  must(s->sync());
  const std::uint64_t last = s->last_step();
  s.reset();
  EXPECT_EQ(open()->last_step(), last) << "the step's row went with the files";
}

TEST_F(whole_files_of_ids, stay_where_the_widest_span_that_they_may_hold_reaches_over_the_floor) {
  auto s = open();
  fill(*s);
  database& db = database_of(*s);
  const stream_id stream = s->id_of("payments");
  rocksdb::ColumnFamilyMetaData meta;
  db.db().GetColumnFamilyMetaData(db.handle(family::dedup), &meta);
  std::set<std::int64_t> last_starts;
  for (const auto& level : meta.levels) {
    for (const auto& file : level.files) {
      const auto start =
          static_cast<std::int64_t>(must(layout::parse_id_run_key(file.largestkey)).span.start);
      last_starts.insert(start - k_base);
    }
  }
  ASSERT_GT(last_starts.size(), 5U);
  for (const std::int64_t start : last_starts) {
    const timestamp floor = at_millisecond(start + k_widest - 1);
    drop_id_files(db.db(), db.handle(family::dedup), {{static_cast<std::uint32_t>(stream), floor}});
    ASSERT_TRUE(times(*s).contains(static_cast<std::uint64_t>(start / k_span))) << start;
  }
}

TEST_F(whole_files_of_ids, go_when_the_floor_is_durable_and_not_before) {
  auto s = open();
  fill(*s);
  const std::size_t before = files_of(*s);
  step(*s, {}, at(3'000));
  EXPECT_EQ(files_of(*s), before);
  must(s->sync());  // returns after the files went: no compaction ran
  EXPECT_LT(files_of(*s), before / 2);
  const std::set<std::uint64_t> left = times(*s);
  for (std::uint64_t i = 3'000; i < static_cast<std::uint64_t>(k_spans); ++i) ASSERT_TRUE(left.contains(i));
}

TEST_F(whole_files_of_ids, stay_where_no_floor_is_known_or_it_lies_before_1970) {
  auto s = open();
  fill(*s);
  const std::size_t before = files_of(*s);
  database& db = database_of(*s);
  drop_id_files(db.db(), db.handle(family::dedup), {});
  drop_id_files(db.db(), db.handle(family::dedup),
                {{static_cast<std::uint32_t>(s->id_of("payments")), timestamp{std::chrono::hours{-1}}}});
  drop_id_files(
      db.db(), db.handle(family::dedup),
      {{static_cast<std::uint32_t>(s->id_of("payments")), timestamp{std::chrono::milliseconds{9}}}});
  EXPECT_EQ(files_of(*s), before);
}

class a_floor : public fixture {};

TEST_F(a_floor, is_published_with_its_step_and_never_before) {
  auto s = open();
  write(*s, s->id_of("payments"), {});
  must(s->sync());
  s.reset();
  database_settings settings;
  settings.path = path();
  std::unique_ptr<database> db;
  ASSERT_TRUE(database::open(settings, recovery_filter{1}, false, db).ok());
  auto floors = std::make_shared<durable_floors>();
  durable_signal signal;
  sync_thread syncs{*db, must(synced_file::open(path())), floors, 1, signal};
  syncs.note_floor(2, stream_id{1}, at(20));
  syncs.note_floor(3, stream_id{1}, at(30));
  must(syncs.sync_and_wait());
  EXPECT_TRUE(floors->read()->empty());
  syncs.wrote(2);
  must(syncs.sync_and_wait());
  EXPECT_EQ(*floors->read(), (floor_map{{1, at(20)}}));
  syncs.wrote(3);
  must(syncs.sync_and_wait());
  EXPECT_EQ(*floors->read(), (floor_map{{1, at(30)}}));
}

TEST(durable_floors, only_grow) {
  durable_floors floors;
  floors.raise(stream_id{1}, at(5));
  floors.raise(stream_id{1}, at(4));
  EXPECT_EQ(*floors.read(), (floor_map{{1, at(5)}}));
}

}  // namespace
}  // namespace ratchet
