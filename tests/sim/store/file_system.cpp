// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sim/store/file_system.hpp"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

// What a status of RocksDB holds is freed by the status; the analyzer does not see that over the library's
// border. NOLINTBEGIN(clang-analyzer-cplusplus.NewDeleteLeaks)
namespace ratchet::store_sim {

namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

/// As RocksDB's own file system reports it.
IOStatus failure(int code, const std::string& where) {
  if (code != ENOSPC) return IOStatus::IOError(where, std::strerror(code));
  IOStatus status = IOStatus::NoSpace(where, std::strerror(code));
  status.SetRetryable(true);
  return status;
}

class faulty_writable_file final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  faulty_writable_file(std::unique_ptr<rocksdb::FSWritableFile> file, faulty_disk& disk, node_id node,
                       bool is_log)
      : FSWritableFileOwnerWrapper(std::move(file)), disk_{&disk}, node_{node}, is_log_{is_log} {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    const order what = disk_->ask(io::append, node_, data.size());
    if (what.perform && what.bytes > 0) {
      const unobserved here;
      const Slice part{data.data(), what.bytes};
      if (const IOStatus s = FSWritableFileOwnerWrapper::Append(part, options, debug); !s.ok()) return s;
      disk_->appended(node_, part.ToStringView());
    }
    return what.error == 0 ? IOStatus::OK() : failure(what.error, "append");
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo&,
                  IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  IOStatus PositionedAppend(const Slice&, std::uint64_t, const IOOptions&, IODebugContext*) override {
    return IOStatus::NotSupported("only direct I/O uses it");
  }
  IOStatus PositionedAppend(const Slice&, std::uint64_t, const IOOptions&,
                            const rocksdb::DataVerificationInfo&, IODebugContext*) override {
    return IOStatus::NotSupported("only direct I/O uses it");
  }
  IOStatus Truncate(std::uint64_t size, const IOOptions& options, IODebugContext* debug) override {
    const unobserved here;
    const IOStatus s = FSWritableFileOwnerWrapper::Truncate(size, options, debug);
    if (s.ok()) disk_->resized(node_, size);
    return s;
  }
  IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
    const unobserved here;
    return FSWritableFileOwnerWrapper::Close(options, debug);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return sync([&] { return FSWritableFileOwnerWrapper::Sync(options, debug); });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return sync([&] { return FSWritableFileOwnerWrapper::Fsync(options, debug); });
  }
  /// Starts writing out, and promises nothing.
  IOStatus RangeSync(std::uint64_t, std::uint64_t, const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }
  /// Space that is set aside shows in no size.
  IOStatus Allocate(std::uint64_t, std::uint64_t, const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }
  void PrepareWrite(std::size_t, std::size_t, const IOOptions&, IODebugContext*) override {}

 private:
  template <class F>
  IOStatus sync(const F& real) {
    if (is_log_) disk_->log_sync_begins();
    const order what = disk_->ask(io::sync, node_);
    if (what.perform) {
      const unobserved here;
      if (const IOStatus s = real(); !s.ok()) return s;
      disk_->synced(node_);
    } else {
      disk_->sync_failed(node_);
    }
    return what.error == 0 ? IOStatus::OK() : failure(what.error, "sync");
  }

  faulty_disk* disk_;
  node_id node_;
  bool is_log_;
};

class faulty_directory final : public rocksdb::FSDirectoryWrapper {
 public:
  faulty_directory(std::unique_ptr<rocksdb::FSDirectory> directory, faulty_disk& disk, std::string path)
      : FSDirectoryWrapper(std::move(directory)), disk_{&disk}, path_{std::move(path)} {}

  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return sync(); }
  IOStatus FsyncWithDirOptions(const IOOptions&, IODebugContext*, const rocksdb::DirFsyncOptions&) override {
    return sync();
  }

 private:
  IOStatus sync() {
    const order what = disk_->ask(io::sync_directory, path_);
    if (what.perform) disk_->directory_synced(path_);
    return what.error == 0 ? IOStatus::OK() : failure(what.error, path_);
  }

  faulty_disk* disk_;
  std::string path_;
};

class faulty_sequential_file final : public rocksdb::FSSequentialFileOwnerWrapper {
 public:
  faulty_sequential_file(std::unique_ptr<rocksdb::FSSequentialFile> file, faulty_disk& disk, std::string path)
      : FSSequentialFileOwnerWrapper(std::move(file)), disk_{&disk}, path_{std::move(path)} {}

  IOStatus Read(std::size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* debug) override {
    if (const order what = disk_->ask(io::read, path_); what.error != 0) return failure(what.error, path_);
    const unobserved here;
    return FSSequentialFileOwnerWrapper::Read(n, options, result, scratch, debug);
  }

 private:
  faulty_disk* disk_;
  std::string path_;
};

class faulty_random_access_file final : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  faulty_random_access_file(std::unique_ptr<rocksdb::FSRandomAccessFile> file, faulty_disk& disk,
                            std::string path)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), disk_{&disk}, path_{std::move(path)} {}

  IOStatus Read(std::uint64_t offset, std::size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* debug) const override {
    if (const order what = disk_->ask(io::read, path_); what.error != 0) return failure(what.error, path_);
    const unobserved here;
    return FSRandomAccessFileOwnerWrapper::Read(offset, n, options, result, scratch, debug);
  }
  IOStatus MultiRead(rocksdb::FSReadRequest* requests, std::size_t count, const IOOptions& options,
                     IODebugContext* debug) override {
    for (std::size_t i = 0; i < count; ++i) {
      rocksdb::FSReadRequest& r = requests[i];
      r.status = Read(r.offset, r.len, options, &r.result, r.scratch, debug);
    }
    return IOStatus::OK();
  }
  IOStatus Prefetch(std::uint64_t, std::size_t, const IOOptions&, IODebugContext*) override {
    return IOStatus::NotSupported("reads do without");
  }

 private:
  faulty_disk* disk_;
  std::string path_;
};

class faulty_file_system final : public rocksdb::FileSystemWrapper {
 public:
  explicit faulty_file_system(faulty_disk& disk)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), disk_{&disk} {}
  const char* Name() const override { return "faulty_file_system"; }

  IOStatus NewSequentialFile(const std::string& name, const rocksdb::FileOptions& options,
                             std::unique_ptr<rocksdb::FSSequentialFile>* out,
                             IODebugContext* debug) override {
    const unobserved here;
    const IOStatus s = FileSystemWrapper::NewSequentialFile(name, options, out, debug);
    if (s.ok() && disk_->holds(name))
      *out = std::make_unique<faulty_sequential_file>(std::move(*out), *disk_, name);
    return s;
  }
  IOStatus NewRandomAccessFile(const std::string& name, const rocksdb::FileOptions& options,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* out,
                               IODebugContext* debug) override {
    const unobserved here;
    const IOStatus s = FileSystemWrapper::NewRandomAccessFile(name, options, out, debug);
    if (s.ok() && disk_->holds(name))
      *out = std::make_unique<faulty_random_access_file>(std::move(*out), *disk_, name);
    return s;
  }
  IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* out, IODebugContext* debug) override {
    constexpr bool k_truncates = true;
    return open_for_writing(name, k_truncates, out,
                            [&] { return FileSystemWrapper::NewWritableFile(name, options, out, debug); });
  }
  IOStatus ReopenWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* out, IODebugContext* debug) override {
    constexpr bool k_truncates = false;
    return open_for_writing(name, k_truncates, out,
                            [&] { return FileSystemWrapper::ReopenWritableFile(name, options, out, debug); });
  }
  IOStatus ReuseWritableFile(const std::string& name, const std::string&, const rocksdb::FileOptions&,
                             std::unique_ptr<rocksdb::FSWritableFile>*, IODebugContext*) override {
    return IOStatus::NotSupported("logs are not recycled", name);
  }
  IOStatus NewRandomRWFile(const std::string& name, const rocksdb::FileOptions&,
                           std::unique_ptr<rocksdb::FSRandomRWFile>*, IODebugContext*) override {
    return IOStatus::NotSupported("not modelled", name);
  }
  IOStatus NewDirectory(const std::string& name, const IOOptions& options,
                        std::unique_ptr<rocksdb::FSDirectory>* out, IODebugContext* debug) override {
    const unobserved here;
    const IOStatus s = FileSystemWrapper::NewDirectory(name, options, out, debug);
    if (s.ok() && disk_->holds(name))
      *out = std::make_unique<faulty_directory>(std::move(*out), *disk_, name);
    return s;
  }
  IOStatus DeleteFile(const std::string& name, const IOOptions& options, IODebugContext* debug) override {
    return act(
        io::remove, name, [&] { return FileSystemWrapper::DeleteFile(name, options, debug); },
        [&] { disk_->removed(name); });
  }
  IOStatus DeleteDir(const std::string& name, const IOOptions& options, IODebugContext* debug) override {
    return act(
        io::remove, name, [&] { return FileSystemWrapper::DeleteDir(name, options, debug); },
        [&] { disk_->removed(name); });
  }
  IOStatus Truncate(const std::string& name, std::size_t size, const IOOptions& options,
                    IODebugContext* debug) override {
    return act(
        io::truncate, name, [&] { return FileSystemWrapper::Truncate(name, size, options, debug); },
        [&] { disk_->resized(disk_->find(name), size); });
  }
  IOStatus CreateDir(const std::string& name, const IOOptions& options, IODebugContext* debug) override {
    return act(
        io::make_directory, name, [&] { return FileSystemWrapper::CreateDir(name, options, debug); },
        [&] { disk_->made_directory(name); });
  }
  IOStatus CreateDirIfMissing(const std::string& name, const IOOptions& options,
                              IODebugContext* debug) override {
    if (FileSystemWrapper::FileExists(name, options, debug).ok()) return IOStatus::OK();
    return CreateDir(name, options, debug);
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* debug) override {
    return act(
        io::rename, to, [&] { return FileSystemWrapper::RenameFile(from, to, options, debug); },
        [&] { disk_->renamed(from, to); });
  }
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                    IODebugContext* debug) override {
    return act(
        io::link, to, [&] { return FileSystemWrapper::LinkFile(from, to, options, debug); },
        [&] { disk_->linked(from, to); });
  }
  IOStatus LockFile(const std::string& name, const IOOptions& options, rocksdb::FileLock** lock,
                    IODebugContext* debug) override {
    if (!disk_->holds(name)) return FileSystemWrapper::LockFile(name, options, lock, debug);
    const order what = disk_->ask(io::create, name);
    if (what.error != 0) return failure(what.error, name);
    const unobserved here;
    const IOStatus s = FileSystemWrapper::LockFile(name, options, lock, debug);
    if (s.ok()) disk_->opened(name, false);
    return s;
  }
  IOStatus UnlockFile(rocksdb::FileLock* lock, const IOOptions& options, IODebugContext* debug) override {
    const unobserved here;
    return FileSystemWrapper::UnlockFile(lock, options, debug);
  }

 private:
  template <class Real, class Note>
  IOStatus act(io kind, const std::string& name, const Real& real, const Note& note) {
    if (!disk_->holds(name)) return real();
    const order what = disk_->ask(kind, name);
    if (what.perform) {
      const unobserved here;
      if (const IOStatus s = real(); !s.ok()) return s;
      note();
    }
    return what.error == 0 ? IOStatus::OK() : failure(what.error, name);
  }

  template <class Real>
  IOStatus open_for_writing(const std::string& name, bool truncates,
                            std::unique_ptr<rocksdb::FSWritableFile>* out, const Real& real) {
    if (!disk_->holds(name)) return real();
    const order what = disk_->ask(io::create, name);
    if (what.perform) {
      const unobserved here;
      if (const IOStatus s = real(); !s.ok()) return s;
      const node_id node = disk_->opened(name, truncates);
      *out = std::make_unique<faulty_writable_file>(std::move(*out), *disk_, node, name.ends_with(".log"));
    }
    if (what.error == 0) return IOStatus::OK();
    const unobserved here;
    out->reset();
    return failure(what.error, name);
  }

  faulty_disk* disk_;
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> make_faulty_file_system(faulty_disk& disk) {
  return std::make_shared<faulty_file_system>(disk);
}

}  // namespace ratchet::store_sim
// NOLINTEND(clang-analyzer-cplusplus.NewDeleteLeaks)
