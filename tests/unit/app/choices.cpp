// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What is ignored, what deletes, and names of several fields, from a file into the state.
#include <gtest/gtest.h>

#include <string>

#include "unit/app/apply_world.hpp"

namespace ratchet {
namespace {

std::string typed(int offset, const std::string& type, const std::string& aggregate, int n) {
  std::string line = kcat("t", 0, offset, aggregate, n);
  return line.replace(line.find(R"({\"p\")"), 1, R"({\"type\":\")" + type + R"(\",)");
}

class choices : public apply_command {
 protected:
  choices() { settings_.streams[0].envelope.type = "/type"; }
  stream_config& stream() { return settings_.streams[0]; }
};

TEST_F(choices, ignored_records_are_counted_and_move_the_offset_and_never_stop_a_partition) {
  stream().types = {"paid"};
  stream().poison = 2;
  std::string input = typed(0, "paid", "a", 1);
  for (int i = 1; i <= 5; ++i)
    input += R"({"topic":"t","partition":0,"offset":)" + std::to_string(i) +
             R"(,"key":null,"payload":"{\"type\":\"heartbeat\"}"})" + "\n";
  expect_applied({file("in", input)}, true);
  EXPECT_EQ(counted().applied, 1U);
  EXPECT_EQ(counted().ignored, 5U);
  EXPECT_EQ(counted().rejected_malformed, 0U);
  EXPECT_EQ(state().partitions.at({"t", partition_id{0}}).next_offset, 6);
  expect_applied({file("in", input)}, true);
  EXPECT_EQ(counted().duplicate, 6U) << "by their positions";
}

TEST_F(choices, may_be_changed_at_a_start) {
  expect_applied({file("in", typed(0, "paid", "a", 1))}, true);
  reopen();
  stream().types = {"sent"};
  stream().ignore = {"debug.*"};
  expect_applied({file("more", typed(1, "paid", "a", 2))}, true);
  EXPECT_EQ(read("a"), "1");
  EXPECT_EQ(counted().ignored, 1U);
}

TEST_F(choices, deletions_with_a_value_delete_and_keep_the_sequence) {
  stream().envelope.deletes.types = {"removed"};
  expect_applied(
      {file("in", typed(0, "paid", "a", 1) + typed(1, "removed", "a", 3) + typed(2, "paid", "a", 2))}, true);
  EXPECT_EQ(read("a"), "deleted");
  EXPECT_EQ(counted().stale, 1U) << "an older event that comes late does not bring it back";
  expect_applied({file("more", typed(3, "paid", "a", 4))}, true);
  EXPECT_EQ(read("a"), "4");
}

/// They lie in the state first, and are run in a step of their own.
TEST_F(choices, deletions_that_wait_are_still_deletions) {
  stream().envelope.deletes.types = {"removed"};
  stream().order = order::strict;
  expect_applied({file("in", typed(0, "paid", "a", 1) + typed(1, "removed", "a", 3))}, true);
  EXPECT_EQ(read("a"), "1");
  reopen();
  expect_applied({file("more", typed(2, "paid", "a", 2))}, true);
  EXPECT_EQ(read("a"), "deleted");
}

TEST_F(choices, names_of_several_fields_are_asked_for_as_they_are_joined_and_are_part_of_the_meaning) {
  stream().envelope.aggregate_more = {"/type"};
  expect_applied({file("in", typed(0, "x", "a/b", 1) + typed(1, "b/x", "a", 1))}, true);
  EXPECT_EQ(read("a~1b/x"), "1");
  EXPECT_EQ(read("a/b~1x"), "1");
  reopen();
  stream().envelope.aggregate_more = {"/at"};
  const auto made = engine::open(settings_, own_, options_);
  EXPECT_FALSE(made && !apply_files(*made.value(), request_, stop_));
}

}  // namespace
}  // namespace ratchet
