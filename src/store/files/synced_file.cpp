// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/files/synced_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/byte_io.hpp"
#include "store/engine/crc32c.hpp"

namespace ratchet {

namespace {

constexpr std::size_t k_slot_bytes = 512;
constexpr std::size_t k_file_bytes = 2 * k_slot_bytes;
constexpr std::string_view k_magic{"ratchet\x01", 8};
constexpr std::size_t k_checked_bytes = 24;

using slot_bytes = std::array<char, k_slot_bytes>;

std::error_code last_error() {
  return {errno, std::system_category()};
}

struct slot_content {
  std::uint64_t count{0};
  std::uint64_t step{0};
};

slot_bytes encode(const slot_content& content) {
  slot_bytes bytes{};
  std::memcpy(bytes.data(), k_magic.data(), k_magic.size());
  char* at = layout::put_number<8>(bytes.data() + k_magic.size(), content.count);
  at = layout::put_number<8>(at, content.step);
  layout::put_number<4>(at, extend_crc32c(0, bytes.data(), k_checked_bytes));
  return bytes;
}

std::optional<slot_content> decode(std::string_view bytes) {
  if (bytes.substr(0, k_magic.size()) != k_magic) return std::nullopt;
  layout::byte_reader in{bytes.substr(k_magic.size())};
  slot_content content;
  content.count = in.u64();
  content.step = in.u64();
  if (in.u32() != extend_crc32c(0, bytes.data(), k_checked_bytes)) return std::nullopt;
  return content;
}

result<slot_content> read_slots(int fd) {
  std::array<char, k_file_bytes> bytes{};
  const ssize_t got = ::pread(fd, bytes.data(), bytes.size(), 0);
  if (got < 0) return last_error();
  if (static_cast<std::size_t>(got) != bytes.size()) return make_error_code(errc::state_damaged);
  const std::string_view all{bytes.data(), bytes.size()};
  const auto first = decode(all.substr(0, k_slot_bytes));
  const auto second = decode(all.substr(k_slot_bytes));
  if (!first && !second) return make_error_code(errc::state_damaged);
  if (!first) return *second;
  return second && second->count > first->count ? *second : *first;
}

result<void> write_all(int fd, const char* bytes, std::size_t size, std::size_t offset) {
  while (size > 0) {
    const ssize_t wrote = ::pwrite(fd, bytes, size, static_cast<off_t>(offset));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return last_error();
    bytes += wrote;
    offset += static_cast<std::size_t>(wrote);
    size -= static_cast<std::size_t>(wrote);
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

/// Under another name first: a file with half its bytes is never seen.
result<void> create(const std::filesystem::path& directory) {
  const std::filesystem::path temporary = directory / synced_file::k_unfinished_name;
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return last_error();
  const slot_bytes first = encode({1, 0});
  const slot_bytes empty{};
  auto written = write_all(fd, first.data(), first.size(), 0);
  if (written) written = write_all(fd, empty.data(), empty.size(), k_slot_bytes);
  if (written && ::fsync(fd) != 0) written = last_error();
  ::close(fd);
  RATCHET_TRY(written);
  if (::rename(temporary.c_str(), (directory / synced_file::k_name).c_str()) != 0) return last_error();
  return sync_directory(directory);
}

}  // namespace

result<void> sync_directory(const std::filesystem::path& directory) {
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return last_error();
  const bool synced = ::fsync(fd) == 0;
  const std::error_code code = last_error();
  ::close(fd);
  if (!synced) return code;
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

synced_file::~synced_file() {
  if (fd_ >= 0) ::close(fd_);
}

result<std::uint64_t> synced_file::read(const std::filesystem::path& directory) {
  const int fd = ::open((directory / k_name).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT ? make_error_code(errc::not_found) : last_error();
  const auto content = read_slots(fd);
  ::close(fd);
  if (!content) return content.error();
  return content.assume_value().step;
}

result<synced_file> synced_file::open(const std::filesystem::path& directory) {
  const std::filesystem::path path = directory / k_name;
  int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) {
    RATCHET_TRY(create(directory));
    fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  }
  if (fd < 0) return last_error();
  synced_file file;
  file.fd_ = fd;
  // Where a program was started with closed standard streams, this file would be one of them, and be written
  // over by whatever is printed.
  if (fd <= STDERR_FILENO) {
    file.fd_ = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const std::error_code failed = file.fd_ < 0 ? last_error() : std::error_code{};
    ::close(fd);
    if (failed) return failed;
    fd = file.fd_;
  }
  RATCHET_TRY(const slot_content content, read_slots(fd));
  file.count_ = content.count;
  file.step_ = content.step;
  return file;
}

result<void> synced_file::write(std::uint64_t step) {
  const slot_content next{count_ + 1, step};
  const slot_bytes bytes = encode(next);
  const std::size_t slot_index = (next.count + 1) % 2;  // the first count, 1, lies in slot 0
  RATCHET_TRY(write_all(fd_, bytes.data(), bytes.size(), slot_index * k_slot_bytes));
  if (::fdatasync(fd_) != 0) return last_error();
  count_ = next.count;
  step_ = step;
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

}  // namespace ratchet
