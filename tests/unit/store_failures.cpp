// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <atomic>

#include "store_support.hpp"

namespace ratchet {
namespace {

using store_support::fixture;
using store_support::must;

/// Lets write-ahead logs fail when told: appends before or after the bytes reached the file, or syncs.
struct switches {
  std::atomic<bool> fail_append{false};
  std::atomic<bool> append_reaches_the_file{false};
  std::atomic<bool> fail_sync{false};
};

class failing_log final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  failing_log(std::unique_ptr<rocksdb::FSWritableFile> file, switches& s)
      : FSWritableFileOwnerWrapper(std::move(file)), switches_{&s} {}
  using FSWritableFileOwnerWrapper::Append;
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& o,
                           rocksdb::IODebugContext* d) override {
    if (!switches_->fail_append) return FSWritableFileOwnerWrapper::Append(data, o, d);
    if (switches_->append_reaches_the_file)
      FSWritableFileOwnerWrapper::Append(data, o, d).PermitUncheckedError();
    return rocksdb::IOStatus::IOError("told to fail");
  }
  rocksdb::IOStatus Sync(const rocksdb::IOOptions& o, rocksdb::IODebugContext* d) override {
    if (switches_->fail_sync) return rocksdb::IOStatus::IOError("told to fail");
    return FSWritableFileOwnerWrapper::Sync(o, d);
  }
  rocksdb::IOStatus Fsync(const rocksdb::IOOptions& o, rocksdb::IODebugContext* d) override {
    if (switches_->fail_sync) return rocksdb::IOStatus::IOError("told to fail");
    return FSWritableFileOwnerWrapper::Fsync(o, d);
  }

 private:
  switches* switches_;
};

class failing_file_system final : public rocksdb::FileSystemWrapper {
 public:
  explicit failing_file_system(switches& s)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), switches_{&s} {}
  const char* Name() const override { return "failing_file_system"; }
  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& o,
                                    std::unique_ptr<rocksdb::FSWritableFile>* out,
                                    rocksdb::IODebugContext* d) override {
    const rocksdb::IOStatus s = FileSystemWrapper::NewWritableFile(name, o, out, d);
    if (s.ok() && name.ends_with(".log")) *out = std::make_unique<failing_log>(std::move(*out), *switches_);
    return s;
  }

 private:
  switches* switches_;
};

class a_failed_write : public fixture {
 protected:
  /// A store over files that fail when told, with one step written and synced.
  std::unique_ptr<store> open_failing() {
    auto s = must(open_store(options(), env_.get()));
    write(*s, s->id_of("payments"), {{"p1", seq(1), "one"}});
    must(s->sync());
    return s;
  }
  static result<void> try_step(store& s) {
    step_batch batch;
    batch.step = s.last_step() + 1;
    batch.audits.push_back({batch.step, timestamp{}, "test", "", "second"});
    return s.write(batch);
  }
  static void expect_that_everything_is_refused(store& s) {
    const std::error_code want = make_error_code(errc::write_indeterminate);
    EXPECT_EQ(try_step(s).error(), want);
    EXPECT_EQ(s.sync().error(), want);
    EXPECT_EQ(s.load(s.id_of("payments")).error(), want);
    EXPECT_EQ(s.view().error(), want);
    EXPECT_EQ(s.draw_incarnation(0, 1).error(), want);
    EXPECT_EQ(s.set_cluster_id("c").error(), want);
    EXPECT_EQ(s.durable_step(), 1U);
  }

  switches switches_;
  std::unique_ptr<rocksdb::Env> env_{
      rocksdb::NewCompositeEnv(std::make_shared<failing_file_system>(switches_))};
};

TEST_F(a_failed_write, stops_the_store_and_reopening_reads_that_it_is_not_there) {
  auto s = open_failing();
  switches_.fail_append = true;
  EXPECT_EQ(try_step(*s).error(), make_error_code(errc::write_indeterminate));
  switches_.fail_append = false;
  expect_that_everything_is_refused(*s);
  s.reset();
  s = open();
  EXPECT_EQ(s->last_step(), 1U);
  EXPECT_TRUE(try_step(*s));
}

TEST_F(a_failed_write, stops_the_store_and_reopening_reads_that_it_is_there_after_all) {
  auto s = open_failing();
  switches_.append_reaches_the_file = true;
  switches_.fail_append = true;
  EXPECT_EQ(try_step(*s).error(), make_error_code(errc::write_indeterminate));
  switches_.fail_append = false;
  expect_that_everything_is_refused(*s);
  s.reset();
  s = open();
  EXPECT_EQ(s->last_step(), 2U);
  EXPECT_EQ(must(must(s->view())->audits()).size(), 1U);
}

TEST_F(a_failed_write, that_was_a_sync_is_never_tried_again) {
  auto s = open_failing();
  must(try_step(*s));
  switches_.fail_sync = true;
  EXPECT_EQ(s->sync().error(), make_error_code(errc::write_indeterminate));
  switches_.fail_sync = false;
  expect_that_everything_is_refused(*s);
  s.reset();
  EXPECT_EQ(open()->last_step(), 2U);
}

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
  for (const rejected_row& r : must(must(s->view())->rejected(stream, 10))) seen.push_back(r.offset);
  EXPECT_EQ(seen, (std::vector<std::int64_t>{5, 7, 9}));
  EXPECT_EQ(must(must(s->view())->rejected(stream, 1)).size(), 1U);
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
    EXPECT_EQ(must(must(s->view())->rejected(stream, 5000)).size(), 1000U);
  }
  auto s = open();
  reject(*s, 1500, 10);
  const auto rows = must(must(s->view())->rejected(stream, 5000));
  ASSERT_EQ(rows.size(), 1000U);
  EXPECT_EQ(rows.front().offset, 1509);
  EXPECT_EQ(rows.back().offset, 510);
}

}  // namespace
}  // namespace ratchet
