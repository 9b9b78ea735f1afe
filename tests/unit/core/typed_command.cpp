// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/typed_command.hpp"

#include <gtest/gtest.h>

#include "core/program_command_source.hpp"

namespace ratchet {
namespace {

struct typed_commands : ::testing::Test {
  ~typed_commands() override { set_command_source({}); }
};

TEST_F(typed_commands, name_what_was_typed) {
  EXPECT_EQ(typed_command("sinks list"), "`ratchet sinks list`");
  set_command_source("-c r.yaml");
  EXPECT_EQ(typed_command("sinks list"), "`ratchet sinks list -c r.yaml`");
  set_command_source_of_program("/var/lib/payments");
  EXPECT_EQ(typed_command("status", "--audit"), "`ratchet status -c r.yaml --audit`");
}

TEST_F(typed_commands, name_the_state_of_a_program) {
  set_command_source_of_program("/var/lib/my payments");
  EXPECT_EQ(typed_command("sinks list"), "`ratchet sinks list --state '/var/lib/my payments'`");
  EXPECT_EQ(typed_command("run", "--resume rebuild"), "`ratchet run --resume rebuild`")
      << "it takes no --state";
  set_command_source_of_program("/var/lib/my payments");
  EXPECT_EQ(typed_command("status", "--audit"), "`ratchet status --state '/var/lib/my payments' --audit`");
  set_command_source_of_program("/var/lib/orders");
  EXPECT_EQ(typed_command("sinks list"), "`ratchet sinks list`") << "nobody knows of which state it is told";
}

}  // namespace
}  // namespace ratchet
