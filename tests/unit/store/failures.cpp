// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "store/files/synced_file.hpp"
#include "store/layout/layout.hpp"
#include "support/all_rows.hpp"
#include "support/store_support.hpp"
#include "unit/store/faults.hpp"

namespace ratchet {
namespace {

using store_support::failing_file_system;
using store_support::fixture;
using store_support::must;
using store_support::plan_of;
using store_support::switches;

/// In both places where a step may be written.
class a_failed_write : public fixture, public testing::WithParamInterface<write_on> {
 protected:
  [[nodiscard]] store_options options() const {
    store_options o = fixture::options();
    o.writes = GetParam();
    return o;
  }
  [[nodiscard]] std::unique_ptr<store> open() const { return must(open_store(options())); }
  /// A store over files that fail when told, with one step written and synced.
  std::unique_ptr<store> open_failing() {
    auto s = must(open_store(options(), env_.get()));
    write(*s, s->id_of("payments"), {{"p1", seq(1), "one"}});
    must(s->sync());
    return s;
  }
  /// Writes a step, and waits for it.
  static result<void> try_step(store& s) {
    step_batch batch;
    batch.step = s.last_step() + 1;
    batch.audits.push_back({batch.step, timestamp{}, "test", "", "second"});
    RATCHET_TRY(s.write(batch));
    RATCHET_TRY(s.load(s.id_of("payments")));
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }
  static void expect_that_everything_is_refused(store& s) {
    const std::error_code want = make_error_code(errc::write_indeterminate);
    // Reading comes first: it needs no word of RocksDB's, which refuses writes by itself.
    EXPECT_EQ(s.load(s.id_of("payments")).error(), want);
    EXPECT_EQ(s.view().error(), want);
    EXPECT_EQ(try_step(s).error(), want);
    EXPECT_EQ(s.sync().error(), want);
    EXPECT_EQ(s.draw_incarnation(0, 1).error(), want);
    EXPECT_EQ(s.set_cluster_id("c").error(), want);
    EXPECT_EQ(s.durable_step(), 1U);
  }

  switches switches_;
  std::unique_ptr<rocksdb::Env> env_{
      rocksdb::NewCompositeEnv(std::make_shared<failing_file_system>(switches_))};
};

TEST_P(a_failed_write, stops_the_store_and_reopening_reads_that_it_is_not_there) {
  auto s = open_failing();
  switches_.fail_append = true;
  EXPECT_EQ(s->failure(), "");
  EXPECT_EQ(try_step(*s).error(), make_error_code(errc::write_indeterminate));
  EXPECT_NE(s->failure().find("told to fail"), std::string::npos) << s->failure();
  switches_.fail_append = false;
  expect_that_everything_is_refused(*s);
  s.reset();
  s = open();
  EXPECT_EQ(s->last_step(), 1U);
  EXPECT_TRUE(try_step(*s));
}

TEST_P(a_failed_write, stops_the_store_and_reopening_reads_that_it_is_there_after_all) {
  auto s = open_failing();
  switches_.append_reaches_the_file = true;
  switches_.fail_append = true;
  EXPECT_EQ(try_step(*s).error(), make_error_code(errc::write_indeterminate));
  switches_.fail_append = false;
  expect_that_everything_is_refused(*s);
  s.reset();
  s = open();
  EXPECT_EQ(s->last_step(), 2U);
  EXPECT_EQ(must(support::all_audits(*must(s->view()))).size(), 1U);
}

TEST_P(a_failed_write, that_was_a_sync_is_never_tried_again) {
  auto s = open_failing();
  must(try_step(*s));
  switches_.fail_sync = true;
  EXPECT_EQ(s->sync().error(), make_error_code(errc::write_indeterminate));
  EXPECT_NE(s->failure().find("told to fail"), std::string::npos) << s->failure();
  switches_.fail_sync = false;
  expect_that_everything_is_refused(*s);
  EXPECT_EQ(must(synced_file::read(path())), 1U);
  s.reset();
  EXPECT_EQ(open()->last_step(), 2U);
}

TEST_P(a_failed_write, that_a_background_sync_met_stops_the_store) {
  auto s = open_failing();
  must(try_step(*s));
  switches_.fail_sync = true;
  s->request_sync();
  EXPECT_EQ(s->sync().error(), make_error_code(errc::write_indeterminate));
  switches_.fail_sync = false;
  expect_that_everything_is_refused(*s);
}

TEST_P(a_failed_write, that_was_a_sync_is_not_repeated_though_somebody_asks_for_it) {
  auto s = open_failing();
  must(try_step(*s));
  switches_.fail_sync = true;
  EXPECT_EQ(s->sync().error(), make_error_code(errc::write_indeterminate));
  switches_.fail_sync = false;  // as where the kernel calls the lost pages clean
  s->request_sync();
  for (int i = 0; i < 20 && s->durable_step() == 1; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  EXPECT_EQ(s->durable_step(), 1U);
  EXPECT_EQ(must(synced_file::read(path())), 1U);
}

TEST_P(a_failed_write, keeps_the_steps_before_it_from_being_synced_in_the_same_log) {
  auto s = open_failing();
  must(try_step(*s));
  switches_.fail_append = true;
  EXPECT_EQ(try_step(*s).error(), make_error_code(errc::write_indeterminate));
  switches_.fail_append = false;
  s->request_sync();
  for (int i = 0; i < 20 && s->durable_step() == 1; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  EXPECT_EQ(s->durable_step(), 1U);
  EXPECT_EQ(must(synced_file::read(path())), 1U);
}

TEST_P(a_failed_write, that_was_the_sync_of_a_log_before_a_flush_is_not_tried_again_by_a_sync_of_ours) {
  auto s = open_failing();
  must(try_step(*s));
  switches_.fail_sync = true;
  database& db = database_of(*s);
  EXPECT_FALSE(db.db().Flush({}, db.handle(family::sequences)).ok());
  switches_.fail_sync = false;
  EXPECT_EQ(s->sync().error(), make_error_code(errc::write_indeterminate));
  EXPECT_NE(s->failure().find("told to fail"), std::string::npos) << s->failure();
  expect_that_everything_is_refused(*s);
  EXPECT_EQ(must(synced_file::read(path())), 1U);
}

TEST_P(a_failed_write, of_an_incarnation_or_a_cluster_is_told) {
  {
    auto s = open_failing();
    switches_.fail_sync = true;
    EXPECT_EQ(s->draw_incarnation(0, 1).error(), make_error_code(errc::write_indeterminate));
    EXPECT_TRUE(s->incarnations().empty());
    switches_.fail_sync = false;
  }
  auto s = must(open_store(options(), env_.get()));
  switches_.fail_sync = true;
  EXPECT_EQ(s->set_cluster_id("c").error(), make_error_code(errc::write_indeterminate));
  EXPECT_EQ(s->cluster_id(), "");
}

TEST_P(a_failed_write, of_the_identity_stops_the_creation) {
  switches_.fail_sync = true;
  const auto refused = open_store(options(), env_.get());
  ASSERT_FALSE(refused);
  EXPECT_STREQ(refused.error().code.category().name(), "rocksdb");
  EXPECT_EQ(exit_code(refused.error().code), 74);
  switches_.fail_sync = false;
  EXPECT_EQ(open()->last_step(), 0U);
}

TEST_P(a_failed_write, whose_rows_cannot_be_read_first_stops_the_store) {
  open_failing().reset();
  auto s = open();  // nothing is remembered: the write must look the row up
  const stream_id stream = s->id_of("payments");
  database& db = database_of(*s);
  std::string key;
  layout::append_aggregate_key(key, stream, k_instance_slot, "p1");
  ASSERT_TRUE(db.db().Put({}, db.handle(family::sequences), key, "damaged").ok());
  const step_plan plan = plan_of({"p0", "p1"});
  stream_change change;
  change.after = must(s->load(stream));
  change.rows = {{0, {}}, {1, {}}};
  step_batch batch;
  batch.step = 2;
  batch.parts.push_back({stream, &plan, &change, {}});
  EXPECT_EQ(s->write(batch).error(), make_error_code(errc::state_damaged));
  expect_that_everything_is_refused(*s);
}

class a_sync : public a_failed_write {};

TEST_P(a_sync, does_not_cover_a_step_that_was_written_while_it_ran) {
  auto s = open_failing();
  must(try_step(*s));
  switches_.on_sync = [&] { must(try_step(*s)); };
  must(s->sync());
  EXPECT_EQ(s->last_step(), 3U);
  EXPECT_EQ(s->durable_step(), 2U);
  EXPECT_EQ(must(synced_file::read(path())), 2U);
  must(s->sync());
  EXPECT_EQ(s->durable_step(), 3U);
}

TEST_P(a_sync, of_a_recovery_is_written_to_the_file_synced) {
  {
    auto s = open();
    write(*s, s->id_of("payments"), {{"p1", seq(1), "one"}});
    EXPECT_EQ(must(synced_file::read(path())), 0U);
  }
  open().reset();
  EXPECT_EQ(must(synced_file::read(path())), 1U);
}

INSTANTIATE_TEST_SUITE_P(on, a_failed_write, ::testing::Values(write_on::own_thread, write_on::owner_thread));
INSTANTIATE_TEST_SUITE_P(on, a_sync, ::testing::Values(write_on::own_thread, write_on::owner_thread));

class rejected_records : public fixture {};

TEST_F(rejected_records, are_listed_newest_first_and_a_position_is_kept_once) {
  auto s = open();
  const stream_id stream = s->id_of("payments");
  const auto reject = [&](std::vector<std::int64_t> offsets) {
    write(*s, stream, {}, [&](step_batch& batch, stream_change&) {
      for (const std::int64_t offset : offsets) {
        rejected_row r;
        r.where = {"t", partition_id{0}};
        r.offset = offset;
        batch.parts[0].rejected.push_back(r);
      }
    });
  };
  reject({5, 9});
  reject({7, 5});
  std::vector<std::int64_t> seen;
  for (const rejected_row& r : must(support::newest_rejected(*must(s->view()), stream, 10)))
    seen.push_back(r.offset);
  EXPECT_EQ(seen, (std::vector<std::int64_t>{5, 7, 9}));
  EXPECT_EQ(must(support::newest_rejected(*must(s->view()), stream, 1)).size(), 1U);
}

TEST_F(rejected_records, that_are_rejected_again_take_no_second_place_of_the_thousand) {
  auto s = open();
  const stream_id stream = s->id_of("payments");
  const auto reject = [&](std::int64_t from, std::int64_t to) {
    write(*s, stream, {}, [&](step_batch& batch, stream_change&) {
      for (std::int64_t offset = from; offset < to; ++offset) {
        rejected_row r;
        r.where = {"t", partition_id{0}};
        r.offset = offset;
        batch.parts[0].rejected.push_back(r);
      }
    });
  };
  reject(0, 1);
  reject(0, 1);
  reject(1, 1000);
  const auto kept = must(support::newest_rejected(*must(s->view()), stream, 2000));
  ASSERT_EQ(kept.size(), 1000U);
  EXPECT_EQ(kept.back().offset, 0);
  EXPECT_EQ(kept.back().step, 2U);
}

TEST_F(rejected_records, are_kept_up_to_the_newest_thousand_over_a_restart_too) {
  stream_id stream{0};
  const auto reject = [&](store& s, std::int64_t from, std::int64_t count) {
    write(s, stream, {}, [&](step_batch& batch, stream_change&) {
      for (std::int64_t i = 0; i < count; ++i) {
        rejected_row r;
        r.where = {"t", partition_id{0}};
        r.offset = from + i;
        batch.parts[0].rejected.push_back(r);
      }
    });
  };
  {
    auto s = open();
    stream = s->id_of("payments");
    reject(*s, 0, 1500);
    EXPECT_EQ(must(support::newest_rejected(*must(s->view()), stream, 5000)).size(), 1000U);
  }
  auto s = open();
  reject(*s, 1500, 10);
  const auto rows = must(support::newest_rejected(*must(s->view()), stream, 5000));
  ASSERT_EQ(rows.size(), 1000U);
  EXPECT_EQ(rows.front().offset, 1509);
  EXPECT_EQ(rows.back().offset, 510);
}

}  // namespace
}  // namespace ratchet
