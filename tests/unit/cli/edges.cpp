// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What a library throws ends a command with a reason, wherever it comes from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "../src/cli/joined_thread.hpp"
#include "support/temporary_directory.hpp"
#include "unit/cli/command.hpp"

namespace ratchet {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(a_command_in_a_directory_that_is_gone, says_so_and_ends) {
  const support::temporary_directory files;
  const std::filesystem::path& dir = files.path();
  const std::string name = dir.string();
  std::ofstream{dir / "r.yaml"} << "version: 1\nstate: {path: state}\nstreams:\n"
                                   "  - {name: a, dedup: off, envelope: {aggregate: /a, sequence: /s}}\n";
  std::ofstream{dir / "e"} << "{\"a\":\"p\",\"s\":1}\n";
  const std::string script = "mkdir '" + name + "/gone' && cd '" + name + "/gone' && rmdir '" + name +
                             "/gone' && '" RATCHET_BINARY "' apply -c '" + name + "/r.yaml' '" + name +
                             "/e' 2>'" + name + "/err'";
  const int status = std::system(script.c_str());  // NOLINT: a shell can leave its directory
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_THAT(WEXITSTATUS(status), ::testing::AnyOf(70, 74));
  EXPECT_THAT(cli_testing::content_of(dir / "err"),
              AllOf(::testing::StartsWith("ratchet: "), HasSubstr("No such file or directory")));
}

TEST(a_thread_of_bench, throws_where_it_is_joined_and_nowhere_else) {
  cli::joined_thread failing{[] { throw std::runtime_error{"out of a thread"}; }};
  EXPECT_THROW(failing.join(), std::runtime_error);
  EXPECT_NO_THROW(failing.join()) << "once";
  {
    const cli::joined_thread forgotten{[] { throw 7; }};
  }
  bool ran = false;
  cli::joined_thread whole{[&ran] { ran = true; }};
  whole.join();
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace ratchet
