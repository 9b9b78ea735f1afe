// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/files/private_directory.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string>

#include "store/files/file_problem.hpp"

namespace ratchet {

namespace {

constexpr ::mode_t k_of_others = S_IRWXG | S_IRWXO;

std::error_code errno_code() {
  return {errno, std::generic_category()};
}

/// Whoever owns a link on the way says where the state is, and may say something else tomorrow. Root's and
/// our own links are somebody's decision.
std::optional<problem> find_link_of_others(const std::filesystem::path& path) {
  std::error_code code;
  std::filesystem::path way;
  for (const std::filesystem::path& part : std::filesystem::absolute(path, code)) {
    way /= part;
    struct ::stat info {};
    if (::lstat(way.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) continue;
    if (info.st_uid == 0 || info.st_uid == ::geteuid()) continue;
    problem refused = file_problem("use the state directory", path,
                                   std::make_error_code(std::errc::operation_not_permitted));
    refused.message = "the state directory " + path.string() + " lies behind the link " + way.string() +
                      ", which belongs to user " + std::to_string(info.st_uid);
    refused.hint = "name the directory itself as state.path; or remove the link if you did not make it";
    return refused;
  }
  return std::nullopt;
}

}  // namespace

reported<bool> make_private_directory(const std::filesystem::path& path) {
  std::error_code code;
  if (std::filesystem::exists(path, code)) return false;
  std::filesystem::path name = std::filesystem::absolute(path);
  if (!name.has_filename()) name = name.parent_path();  // a slash at the end
  std::filesystem::create_directories(name.parent_path(), code);
  if (!code && ::mkdir(name.c_str(), S_IRWXU) != 0) {
    if (errno == EEXIST) return false;  // somebody was quicker: whose it is, others ask
    code = errno_code();
  }
  if (code) return file_problem("make the state directory", path, code);
  return true;
}

namespace {

/// Root met what is another user's, whose service most likely works there: to take it over would lock that
/// service out. Else empty.
std::string hint_for_root(::uid_t owner) {
  if (::geteuid() != 0) return {};
  std::array<char, 4096> room{};
  ::passwd entry{};
  ::passwd* known = nullptr;
  if (::getpwuid_r(owner, &entry, room.data(), room.size(), &known) != 0 || known == nullptr) return {};
  return std::string{"if a service runs as that user, run this as that user, too: `runuser -u "} +
         known->pw_name + " -- ratchet …`; else: ";
}

}  // namespace

reported<void> check_owner(const std::filesystem::path& path) {
  if (auto refused = find_link_of_others(path)) return std::move(*refused);
  struct ::stat info {};
  if (::stat(path.c_str(), &info) != 0)
    return file_problem("inspect the state directory", path, errno_code());
  if (info.st_uid == ::geteuid()) return BOOST_OUTCOME_V2_NAMESPACE::success();
  problem refused =
      file_problem("use the state directory", path, std::make_error_code(std::errc::operation_not_permitted));
  refused.message = "the state directory " + path.string() + " belongs to user " +
                    std::to_string(info.st_uid) + ", who could read and change all of the state";
  refused.hint =
      hint_for_root(info.st_uid) + refused.hint +
      "; if it is a mounted volume, use a directory in it: `state.path: " + (path / "state").string() + "`";
  return refused;
}

reported<void> close_to_others(const std::filesystem::path& path) {
  struct ::stat info {};
  if (::stat(path.c_str(), &info) != 0)
    return file_problem("inspect the state directory", path, errno_code());
  if ((info.st_mode & k_of_others) == 0) return BOOST_OUTCOME_V2_NAMESPACE::success();
  if (::chmod(path.c_str(), info.st_mode & 07777U & ~k_of_others) != 0)
    return file_problem("keep others out of the state directory", path, errno_code());
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

std::optional<std::string> mode_open_to_others(const std::filesystem::path& path) {
  struct ::stat info {};
  if (::stat(path.c_str(), &info) != 0 || (info.st_mode & k_of_others) == 0) return std::nullopt;
  char octal[8];
  std::snprintf(octal, sizeof octal, "%03o", static_cast<unsigned>(info.st_mode & 07777U));
  return std::string{octal};
}

}  // namespace ratchet
