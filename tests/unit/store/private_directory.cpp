// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/files/private_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "support/temporary_directory.hpp"

namespace ratchet {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class private_directory : public ::testing::TestWithParam<::mode_t> {
 protected:
  static unsigned mode_of(const fs::path& path) {
    struct ::stat info {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
    return info.st_mode & 07777U;
  }
  support::temporary_directory files_;
  const std::filesystem::path& root_{files_.path()};
};

TEST_P(private_directory, is_made_for_its_owner_whatever_the_umask) {
  const ::mode_t before = ::umask(GetParam());
  const auto made = make_private_directory(root_ / "a" / "b" / "state/");
  ::umask(before);
  ASSERT_TRUE(made.has_value()) << to_text(made.error());
  EXPECT_TRUE(made.value());
  EXPECT_EQ(mode_of(root_ / "a/b/state"), 0700U);
  EXPECT_EQ(mode_open_to_others(root_ / "a/b/state"), std::nullopt);
}
INSTANTIATE_TEST_SUITE_P(umasks, private_directory, ::testing::Values(0U, 022U, 027U, 077U));

using a_private_directory = private_directory;

TEST_F(a_private_directory, that_is_there_is_left_alone_until_it_is_known_to_be_ours) {
  fs::create_directory(root_ / "state");
  ::chmod((root_ / "state").c_str(), 0755);
  const auto made = make_private_directory(root_ / "state");
  ASSERT_TRUE(made.has_value());
  EXPECT_FALSE(made.value());
  EXPECT_EQ(mode_of(root_ / "state"), 0755U);
}

TEST_F(a_private_directory, is_closed_to_others_whatever_mode_it_has) {
  const fs::path path = root_ / "state";
  fs::create_directory(path);
  for (const ::mode_t mode : {0755U, 0777U, 0770U, 0710U, 0701U, 0704U, 0720U, 01777U, 02750U}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    EXPECT_NE(mode_open_to_others(path), std::nullopt) << std::oct << mode;
    ASSERT_TRUE(close_to_others(path).has_value());
    EXPECT_EQ(mode_of(path) & 0777U, 0700U) << std::oct << mode;
    EXPECT_EQ(mode_open_to_others(path), std::nullopt) << std::oct << mode;
  }
  ::chmod(path.c_str(), 0500);
  ASSERT_TRUE(close_to_others(path).has_value());
  EXPECT_EQ(mode_of(path), 0500U) << "what its owner has is the owner's business";
}

TEST_F(a_private_directory, tells_its_mode_as_a_shell_writes_it) {
  ::chmod(root_.c_str(), 0755);
  EXPECT_EQ(mode_open_to_others(root_), "755");
  ::chmod(root_.c_str(), 01777);
  EXPECT_EQ(mode_open_to_others(root_), "1777");
  EXPECT_EQ(mode_open_to_others(root_ / "missing"), std::nullopt);
}

TEST_F(a_private_directory, of_somebody_else_is_refused) {
  EXPECT_TRUE(check_owner(root_).has_value());
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  ASSERT_EQ(::chown(root_.c_str(), 65534, 65534), 0);
  const auto checked = check_owner(root_);
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(exit_code(checked.error().code), 74);
  EXPECT_THAT(checked.error().message, HasSubstr(root_.string() + " belongs to user 65534"));
  EXPECT_THAT(checked.error().hint, HasSubstr("run this as that user, too: `runuser -u nobody -- ratchet"));
  EXPECT_THAT(checked.error().hint, HasSubstr("chown -R 0 " + root_.string()));
  EXPECT_THAT(checked.error().hint, HasSubstr("`state.path: " + root_.string() + "/state`"));
}

TEST_F(a_private_directory, is_not_looked_for_behind_a_link_of_somebody_else) {
  fs::create_directories(root_ / "spool" / "state");
  fs::create_directory_symlink(root_ / "spool", root_ / "link");
  for (const fs::path& path : {root_ / "link", root_ / "link/", root_ / "link/state"})
    EXPECT_TRUE(check_owner(path).has_value()) << path << ": a link of one's own";
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a link away";
  ASSERT_EQ(::lchown((root_ / "link").c_str(), 65534, 65534), 0);
  for (const fs::path& path : {root_ / "link", root_ / "link/", root_ / "link/state"}) {
    const auto checked = check_owner(path);
    ASSERT_FALSE(checked.has_value()) << path;
    EXPECT_EQ(exit_code(checked.error().code), 74);
    EXPECT_THAT(checked.error().message,
                HasSubstr("behind the link " + (root_ / "link").string() + ", which belongs to user 65534"));
  }
}

TEST_F(a_private_directory, that_is_not_there_is_no_secret) {
  EXPECT_FALSE(check_owner(root_ / "missing").has_value());
  EXPECT_FALSE(close_to_others(root_ / "missing").has_value());
}

}  // namespace
}  // namespace ratchet
