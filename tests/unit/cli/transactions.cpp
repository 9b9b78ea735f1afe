// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What the command says of streams that nothing but transactions feed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"
#include "unit/cli/command.hpp"

namespace ratchet::cli_testing {
namespace {

using ::testing::HasSubstr;

class cli_transactions : public ::testing::Test {
 protected:
  cli_transactions() {
    std::ofstream{file()} << "version: 1\nstate: {path: " << (directory_ / "state").string()
                          << "}\nstreams:\n  - {name: payments, order: arrival}\n";
  }
  [[nodiscard]] std::string file() const { return (directory_ / "f.yaml").string(); }
  [[nodiscard]] ended ratchet(const std::vector<std::string>& arguments) const {
    return run_ratchet(directory_, arguments);
  }
  support::temporary_directory files_;
  const std::filesystem::path& directory_{files_.path()};
};

TEST_F(cli_transactions, are_for_programs_alone) {
  EXPECT_EQ(ratchet({"validate", "-c", file()}).status, 0);
  const ended run = ratchet({"run", "-c", file()});
  EXPECT_EQ(run.status, 78);
  EXPECT_THAT(run.err, HasSubstr("no stream has topics"));
  EXPECT_THAT(run.err, HasSubstr("programs that embed Ratchet"));
  std::ofstream{directory_ / "events"} << "{}\n";
  const ended apply = ratchet({"apply", "-c", file(), (directory_ / "events").string()});
  EXPECT_EQ(apply.status, 64);
  EXPECT_THAT(apply.err, HasSubstr("has no envelope"));
}

}  // namespace
}  // namespace ratchet::cli_testing
