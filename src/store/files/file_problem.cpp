// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/files/file_problem.hpp"

#include <unistd.h>

#include <cerrno>

namespace ratchet {

std::string hint_for_file(const std::filesystem::path& path, const std::error_code& code) {
  const std::string name = path.string();
  if (code == std::errc::permission_denied || code == std::errc::operation_not_permitted) {
    const std::string user = std::to_string(::geteuid());
    return "this process runs as user " + user + ": give it the directory, as with `install -d -m 700 -o " +
           user + " " + name + "` (`chown -R " + user + " " + name +
           "` if it holds a state), or name another "
           "`state.path`";
  }
  if (code == std::errc::read_only_file_system) {
    return "it lies on a file system that is mounted read-only: mount it for writing, or name another "
           "`state.path`";
  }
  if (code == std::errc::not_a_directory) {
    return "a file is in the way: `state.path` must be a directory, or a name that is still free";
  }
  if (code == std::errc::no_such_file_or_directory) return "make the directory above it first";
  if (code == std::errc::no_space_on_device)
    return "make room on that disk (`du -xh --max-depth=1 " +
           (path.has_parent_path() ? path.parent_path().string() : ".") +
           "` shows what takes it); nothing was changed";
  if (code == std::errc::filename_too_long) return "name a shorter `state.path`";
  return {};
}

problem file_problem(const std::string& what, const std::filesystem::path& path,
                     const std::error_code& code) {
  return {
      code, "cannot " + what + " " + path.string() + ": " + code.message(), hint_for_file(path, code), {}};
}

reported<void> check_writable(const std::filesystem::path& path) {
  if (::access(path.c_str(), R_OK | W_OK | X_OK) == 0) return BOOST_OUTCOME_V2_NAMESPACE::success();
  return file_problem("write in the state directory", path, {errno, std::generic_category()});
}

}  // namespace ratchet
