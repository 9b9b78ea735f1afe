// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

#include "sim/store/disk.hpp"

/// What the store writes without RocksDB (SYNCED, directories, the names and copies of checkpoints) goes
/// straight to the system. These definitions stand before the C library's in this program, for the store's
/// own code and the C++ library's std::filesystem alike: each asks the disk what is to become of the call,
/// and then calls the real function. Calls that RocksDB's file system makes for the faulty one, and those of
/// the test itself, pass unseen (`unobserved`), as does everything outside the disk. RocksDB's text log is
/// written through stdio and passes too: nothing is ever read from it.
namespace ratchet::store_sim {

namespace {

std::atomic<faulty_disk*> g_disk{nullptr};

struct descriptors {
  std::mutex mutex;
  std::map<int, std::string> directories;
  std::map<int, node_id> files;
};

descriptors& open_ones() {
  static auto* all = new descriptors;  // outlives everything that may still close a file
  return *all;
}

template <class F>
F* real(const char* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

faulty_disk* disk_for(const char* path) {
  faulty_disk* disk = g_disk.load(std::memory_order_acquire);
  return disk && path && unobserved::depth() == 0 && disk->holds(path) ? disk : nullptr;
}

std::optional<node_id> file_of(int fd) {
  if (!g_disk.load(std::memory_order_acquire) || unobserved::depth() > 0) return std::nullopt;
  const std::scoped_lock lock{open_ones().mutex};
  const auto at = open_ones().files.find(fd);
  if (at == open_ones().files.end()) return std::nullopt;
  return at->second;
}

std::optional<std::string> directory_of(int fd) {
  if (!g_disk.load(std::memory_order_acquire) || unobserved::depth() > 0) return std::nullopt;
  const std::scoped_lock lock{open_ones().mutex};
  const auto at = open_ones().directories.find(fd);
  if (at == open_ones().directories.end()) return std::nullopt;
  return at->second;
}

int fail(int code) {
  errno = code;
  return -1;
}

/// Where `name` lies below an open directory.
std::string path_below(int directory, const char* name) {
  if (name[0] == '/' || directory == AT_FDCWD) return name;
  std::string link(PATH_MAX, '\0');
  const std::string at = "/proc/self/fd/" + std::to_string(directory);
  const ssize_t length = ::readlink(at.c_str(), link.data(), link.size());
  if (length <= 0) return name;
  link.resize(static_cast<std::size_t>(length));
  return link + '/' + name;
}

void remember(faulty_disk& disk, int fd, const std::string& path, int flags) {
  const bool is_directory = (flags & O_DIRECTORY) != 0;
  const node_id node = is_directory                      ? k_no_node
                       : (flags & O_ACCMODE) == O_RDONLY ? disk.find(path)
                                                         : disk.opened(path, (flags & O_TRUNC) != 0);
  const std::scoped_lock lock{open_ones().mutex};
  if (is_directory) {
    open_ones().directories[fd] = path;
  } else if (node != k_no_node) {
    open_ones().files[fd] = node;
  }
}

template <class Real>
int open_file(const char* path, int flags, const Real& really) {
  faulty_disk* disk = disk_for(path);
  if (!disk && g_disk.load() && unobserved::depth() == 0 && (flags & O_DIRECTORY) != 0 &&
      g_disk.load()->root() == path) {
    disk = g_disk.load();
  }
  if (!disk) return really();
  const bool changes = (flags & O_CREAT) != 0;
  const order what = changes ? disk->ask(io::create, path) : order{};
  if (!what.perform) return fail(what.error);
  const int fd = really();
  if (fd < 0) return fd;
  remember(*disk, fd, path, flags);
  if (what.error == 0) return fd;
  ::close(fd);
  return fail(what.error);
}

template <class Real, class Note>
int act(io kind, const std::string& path, const Real& really, const Note& note) {
  faulty_disk* disk = disk_for(path.c_str());
  if (!disk) return really();
  const order what = disk->ask(kind, path);
  if (!what.perform) return fail(what.error);
  if (const int got = really(); got != 0) return got;
  note(*disk);
  return what.error == 0 ? 0 : fail(what.error);
}

template <class Real>
int sync_descriptor(int fd, const Real& really) {
  faulty_disk* disk = g_disk.load(std::memory_order_acquire);
  if (const auto directory = directory_of(fd)) {
    const order what = disk->ask(io::sync_directory, *directory);
    if (what.perform) disk->directory_synced(*directory);
    return what.error == 0 ? 0 : fail(what.error);
  }
  const auto file = file_of(fd);
  if (!file) return really();
  const order what = disk->ask(io::sync, *file);
  if (what.perform) {
    disk->synced(*file);
  } else {
    disk->sync_failed(*file);
  }
  return what.error == 0 ? 0 : fail(what.error);
}

}  // namespace

void observe_system_calls(faulty_disk* disk) {
  g_disk.store(disk, std::memory_order_release);
}

}  // namespace ratchet::store_sim

// The C++ library has to find them too.
#pragma GCC visibility push(default)
extern "C" {

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the C library's are reserved names

using namespace ratchet::store_sim;  // NOLINT(google-build-using-namespace): names of C next to ours

int open(const char* path, int flags, ...) {
  static auto* const next = real<int(const char*, int, ...)>("open");
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_file(path, flags, [&] { return next(path, flags, mode); });
}

int openat(int directory, const char* path, int flags, ...) {
  static auto* const next = real<int(int, const char*, int, ...)>("openat");
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return next(directory, path, flags, mode);
}

int close(int fd) {
  static auto* const next = real<int(int)>("close");
  {
    const std::scoped_lock lock{open_ones().mutex};
    open_ones().directories.erase(fd);
    open_ones().files.erase(fd);
  }
  return next(fd);
}

ssize_t write(int fd, const void* bytes, std::size_t size) {
  static auto* const next = real<ssize_t(int, const void*, std::size_t)>("write");
  const auto file = file_of(fd);
  if (!file) return next(fd, bytes, size);
  faulty_disk& disk = *g_disk.load();
  const order what = disk.ask(io::append, *file, size);
  if (!what.perform || (what.bytes == 0 && size > 0)) return fail(what.error);
  const ssize_t wrote = next(fd, bytes, what.bytes);
  if (wrote > 0) disk.appended(*file, {static_cast<const char*>(bytes), static_cast<std::size_t>(wrote)});
  if (what.error == 0 || what.bytes < size) return wrote;  // a short write says no more than its length
  return fail(what.error);
}

ssize_t pwrite(int fd, const void* bytes, std::size_t size, off_t offset) {
  static auto* const next = real<ssize_t(int, const void*, std::size_t, off_t)>("pwrite");
  const auto file = file_of(fd);
  if (!file) return next(fd, bytes, size, offset);
  faulty_disk& disk = *g_disk.load();
  const order what = disk.ask(io::overwrite, *file, size);
  if (!what.perform || (what.bytes == 0 && size > 0)) return fail(what.error);
  const ssize_t wrote = next(fd, bytes, what.bytes, offset);
  if (wrote > 0) {
    disk.overwrote(*file, static_cast<std::uint64_t>(offset),
                   {static_cast<const char*>(bytes), static_cast<std::size_t>(wrote)});
  }
  if (what.error == 0 || what.bytes < size) return wrote;
  return fail(what.error);
}

ssize_t read(int fd, void* bytes, std::size_t size) {
  static auto* const next = real<ssize_t(int, void*, std::size_t)>("read");
  if (const auto file = file_of(fd)) {
    if (const order what = g_disk.load()->ask(io::read, *file); what.error != 0) return fail(what.error);
  }
  return next(fd, bytes, size);
}

ssize_t pread(int fd, void* bytes, std::size_t size, off_t offset) {
  static auto* const next = real<ssize_t(int, void*, std::size_t, off_t)>("pread");
  if (const auto file = file_of(fd)) {
    if (const order what = g_disk.load()->ask(io::read, *file); what.error != 0) return fail(what.error);
  }
  return next(fd, bytes, size, offset);
}

int fsync(int fd) {
  static auto* const next = real<int(int)>("fsync");
  return sync_descriptor(fd, [&] { return next(fd); });
}

int fdatasync(int fd) {
  static auto* const next = real<int(int)>("fdatasync");
  return sync_descriptor(fd, [&] { return next(fd); });
}

int rename(const char* from, const char* to) noexcept {
  static auto* const next = real<int(const char*, const char*)>("rename");
  return act(
      io::rename, to, [&] { return next(from, to); }, [&](faulty_disk& disk) { disk.renamed(from, to); });
}

int mkdir(const char* path, mode_t mode) noexcept {
  static auto* const next = real<int(const char*, mode_t)>("mkdir");
  return act(
      io::make_directory, path, [&] { return next(path, mode); },
      [&](faulty_disk& disk) { disk.made_directory(path); });
}

int unlinkat(int directory, const char* name, int flags) noexcept {
  static auto* const next = real<int(int, const char*, int)>("unlinkat");
  const std::string path = path_below(directory, name);
  return act(
      io::remove, path, [&] { return next(directory, name, flags); },
      [&](faulty_disk& disk) { disk.removed(path); });
}

// NOLINTEND(readability-inconsistent-declaration-parameter-name)

}  // extern "C"
#pragma GCC visibility pop
