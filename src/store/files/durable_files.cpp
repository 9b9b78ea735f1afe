// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/files/durable_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "store/files/synced_file.hpp"

namespace ratchet {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_piece_bytes = std::size_t{1} << 20U;

std::error_code last_error() {
  return {errno, std::system_category()};
}

class open_file {
 public:
  open_file(const fs::path& path, int flags)
      : fd_{::open(path.c_str(), flags | O_CLOEXEC, S_IRUSR | S_IWUSR)} {}
  ~open_file() {
    if (fd_ >= 0) ::close(fd_);
  }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  [[nodiscard]] int fd() const noexcept { return fd_; }
  [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }

 private:
  int fd_;
};

result<std::vector<fs::path>> files_of(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code code;
  for (fs::directory_iterator at{directory, code}, end; !code && at != end; at.increment(code)) {
    files.push_back(at->path());
  }
  if (code) return code;
  return files;
}

result<void> write_whole(int fd, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t wrote = ::write(fd, bytes, size);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return last_error();
    bytes += wrote;
    size -= static_cast<std::size_t>(wrote);
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

result<void> copy_file(const fs::path& from, const fs::path& to, const std::function<bool()>& cancelled,
                       std::vector<char>& piece) {
  const open_file in{from, O_RDONLY};
  if (!in.is_open()) return last_error();
  const open_file out{to, O_WRONLY | O_CREAT | O_EXCL};
  if (!out.is_open()) return last_error();
  for (;;) {
    if (cancelled && cancelled()) return make_error_code(errc::aborted);
    const ssize_t got = ::read(in.fd(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return last_error();
    if (got == 0) break;
    RATCHET_TRY(write_whole(out.fd(), piece.data(), static_cast<std::size_t>(got)));
  }
  if (::fsync(out.fd()) != 0) return last_error();
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

}  // namespace

result<directory_size> sync_files(const fs::path& directory) {
  RATCHET_TRY(const auto files, files_of(directory));
  directory_size size;
  for (const fs::path& path : files) {
    const open_file file{path, O_RDONLY};
    if (!file.is_open() || ::fsync(file.fd()) != 0) return last_error();
    struct ::stat info {};
    if (::fstat(file.fd(), &info) != 0) return last_error();
    ++size.files;
    size.bytes += static_cast<std::uint64_t>(info.st_size);
  }
  RATCHET_TRY(sync_directory(directory));
  return size;
}

result<void> copy_files(const fs::path& from, const fs::path& to, const std::function<bool()>& cancelled) {
  RATCHET_TRY(const auto files, files_of(from));
  std::vector<char> piece(k_piece_bytes);
  for (const fs::path& path : files) {
    RATCHET_TRY(copy_file(path, to / path.filename(), cancelled, piece));
  }
  return sync_directory(to);
}

}  // namespace ratchet
