// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

/// Write-ahead logs that fail or wait when told.
namespace ratchet::store_support {

/// Lets write-ahead logs fail when told: appends before or after the bytes reached the file, or syncs.
struct switches {
  std::atomic<bool> fail_append{false};
  std::atomic<bool> append_reaches_the_file{false};
  std::atomic<bool> fail_sync{false};
  std::function<void()> on_sync;         ///< called once, while a sync is under way, on its thread
  std::atomic<bool> hold_append{false};  ///< appends wait while this is set; then notify
};

class failing_log final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  failing_log(std::unique_ptr<rocksdb::FSWritableFile> file, switches& s)
      : FSWritableFileOwnerWrapper(std::move(file)), switches_{&s} {}
  using FSWritableFileOwnerWrapper::Append;
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& o,
                           rocksdb::IODebugContext* d) override {
    switches_->hold_append.wait(true);
    if (!switches_->fail_append) return FSWritableFileOwnerWrapper::Append(data, o, d);
    if (switches_->append_reaches_the_file)
      FSWritableFileOwnerWrapper::Append(data, o, d).PermitUncheckedError();
    return rocksdb::IOStatus::IOError("told to fail");
  }
  rocksdb::IOStatus Sync(const rocksdb::IOOptions& o, rocksdb::IODebugContext* d) override {
    if (switches_->on_sync) std::exchange(switches_->on_sync, nullptr)();
    if (switches_->fail_sync) return rocksdb::IOStatus::IOError("told to fail");
    return FSWritableFileOwnerWrapper::Sync(o, d);
  }
  rocksdb::IOStatus Fsync(const rocksdb::IOOptions& o, rocksdb::IODebugContext* d) override {
    if (switches_->on_sync) std::exchange(switches_->on_sync, nullptr)();
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

}  // namespace ratchet::store_support
