// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The unit of systemd that the docs show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/temporary_directory.hpp"
#include "unit/cli/command.hpp"

namespace ratchet {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

std::string unit_of_docs() {
  const std::string page =
      cli_testing::content_of(fs::path{RATCHET_SOURCE_DIR} / "docs" / "operating" / "running.md");
  const std::string fence = "```ini\n";
  const std::size_t begin = page.find(fence);
  if (begin == std::string::npos) return {};
  return page.substr(begin + fence.size(), page.find("```", begin + 3) - begin - fence.size());
}

TEST(systemd_unit, keeps_the_state_to_its_owner_and_does_not_repeat_a_refusal) {
  const std::string unit = unit_of_docs();
  EXPECT_THAT(unit, HasSubstr("\nStateDirectoryMode=0700\n"));
  EXPECT_THAT(unit, HasSubstr("\nUMask=0077\n"));
  EXPECT_THAT(unit, HasSubstr("\nRestartPreventExitStatus=64 78\n"));
  EXPECT_THAT(unit, Not(HasSubstr("\nExecStartPre="))) << "RestartPreventExitStatus does not hold for it";
}

TEST(systemd_unit, is_one_that_systemd_takes) {
  if (std::system("command -v systemd-analyze >/dev/null") != 0) GTEST_SKIP() << "systemd-analyze is missing";
  std::string unit = unit_of_docs();
  const std::string installed = "/usr/local/bin/ratchet ";
  const std::size_t at = unit.find(installed);
  ASSERT_NE(at, std::string::npos);
  unit.replace(at, installed.size(), std::string{RATCHET_BINARY} + " ");
  const support::temporary_directory files;
  const fs::path file = files.path() / "ratchet.service";
  std::ofstream{file} << unit;
  const std::string said = (files.path() / "said").string();
  const std::string command = "systemd-analyze verify --man=no " + file.string() + " >" + said + " 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << cli_testing::content_of(said);
  EXPECT_EQ(cli_testing::content_of(said), "") << "it is taken, and something of it is not";
}

}  // namespace
}  // namespace ratchet
