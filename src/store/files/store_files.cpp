// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/files/store_files.hpp"

#include <sys/stat.h>

#include <cerrno>

#include "store/files/synced_file.hpp"

namespace ratchet {

namespace {

/// CURRENT holds a name, and is read whole.
constexpr ::off_t k_most_of_current = 4096;

[[nodiscard]] const char* kind_of(::mode_t mode) noexcept {
  switch (mode & S_IFMT) {
    case S_IFIFO:
      return "a FIFO";
    case S_IFLNK:
      return "a symbolic link";
    case S_IFCHR:
    case S_IFBLK:
      return "a device";
    case S_IFSOCK:
      return "a socket";
    case S_IFDIR:
      return "a directory";
    default:
      return "something else";
  }
}

}  // namespace

bool is_of_a_store(std::string_view name) noexcept {
  for (const std::string_view whole :
       {std::string_view{"CURRENT"}, std::string_view{"IDENTITY"}, std::string_view{"LOCK"},
        std::string_view{"LOG"}, std::string_view{synced_file::k_unfinished_name},
        std::string_view{synced_file::k_name}}) {
    if (name == whole) return true;
  }
  for (const std::string_view begin : {"LOG.old.", "MANIFEST-", "OPTIONS-"}) {
    if (name.starts_with(begin)) return true;
  }
  for (const std::string_view end : {".log", ".sst", ".dbtmp"}) {
    const bool is_numbered =
        name.size() > end.size() && name.find_first_not_of("0123456789") == name.size() - end.size();
    if (is_numbered && name.ends_with(end)) return true;
  }
  return false;
}

result<std::string> find_irregular_file(const std::filesystem::path& directory) {
  std::error_code code;
  for (std::filesystem::directory_iterator at{directory, code}, end; !code && at != end; at.increment(code)) {
    const std::string name = at->path().filename().string();
    if (!is_of_a_store(name)) continue;
    struct ::stat info {};
    if (::lstat(at->path().c_str(), &info) != 0) {
      if (errno == ENOENT) continue;  // gone since: RocksDB has removed it
      return std::error_code{errno, std::generic_category()};
    }
    if (!S_ISREG(info.st_mode)) return name + " is " + kind_of(info.st_mode) + ", not a regular file";
    if (name == "CURRENT" && info.st_size > k_most_of_current)
      return "CURRENT has " + std::to_string(info.st_size) + " bytes, but should hold a name only";
  }
  if (code && code != std::errc::no_such_file_or_directory) return code;
  return std::string{};
}

}  // namespace ratchet
