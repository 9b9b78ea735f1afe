// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What becomes of exceptions on the store's threads: a write or a sync that nobody knows the end of.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "support/store_support.hpp"
#include "unit/store/faults.hpp"

namespace ratchet {
namespace {

using store_support::fixture;
using store_support::must;

std::atomic<bool> append_throws{false};
std::atomic<bool> sync_throws{false};

class throwing_log final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  using FSWritableFileOwnerWrapper::Append;
  using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& o,
                           rocksdb::IODebugContext* d) override {
    if (append_throws.exchange(false)) throw std::runtime_error{"out of a write"};
    return FSWritableFileOwnerWrapper::Append(data, o, d);
  }
  rocksdb::IOStatus Sync(const rocksdb::IOOptions& o, rocksdb::IODebugContext* d) override {
    if (sync_throws.exchange(false)) throw std::runtime_error{"out of a sync"};
    return FSWritableFileOwnerWrapper::Sync(o, d);
  }
  rocksdb::IOStatus Fsync(const rocksdb::IOOptions& o, rocksdb::IODebugContext* d) override {
    return Sync(o, d);
  }
};

class throwing_file_system final : public rocksdb::FileSystemWrapper {
 public:
  throwing_file_system() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "throwing_file_system"; }
  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& o,
                                    std::unique_ptr<rocksdb::FSWritableFile>* out,
                                    rocksdb::IODebugContext* d) override {
    const rocksdb::IOStatus s = FileSystemWrapper::NewWritableFile(name, o, out, d);
    if (s.ok() && name.ends_with(".log")) *out = std::make_unique<throwing_log>(std::move(*out));
    return s;
  }
};

class an_exception : public fixture {
 protected:
  void SetUp() override {
    store_ = must(open_store(options(), env_.get()));
    stream_ = store_->id_of("payments");
    write(*store_, stream_, {{"p1", seq(1), "one"}});
    must(store_->sync());
  }

  std::unique_ptr<rocksdb::Env> env_{rocksdb::NewCompositeEnv(std::make_shared<throwing_file_system>())};
  std::unique_ptr<store> store_;
  stream_id stream_{0};
};

TEST_F(an_exception, of_a_sync_stops_the_store_as_a_failed_one_does) {
  write(*store_, stream_, {{"p2", seq(2), "two"}});
  must(store_->view());  // the write has ended
  sync_throws = true;
  EXPECT_EQ(store_->sync().error(), make_error_code(errc::write_indeterminate));
  EXPECT_EQ(store_->failure(), "out of a sync");
  EXPECT_EQ(store_->durable_step(), 1U);
  store_.reset();
  EXPECT_EQ(open()->last_step(), 2U);
}

TEST_F(an_exception, of_a_write_stops_the_store_as_a_failed_one_does) {
  append_throws = true;
  write(*store_, stream_, {{"p2", seq(2), "two"}});
  EXPECT_EQ(store_->view().error(), make_error_code(errc::write_indeterminate));
  EXPECT_EQ(store_->failure(), "out of a write");
  store_.reset();
  const auto again = open();  // whether it is there nobody knew
  EXPECT_GE(again->last_step(), 1U);
  write(*again, stream_, {{"p3", seq(3), "three"}});
  must(again->sync());
}

}  // namespace
}  // namespace ratchet
