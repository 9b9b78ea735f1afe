// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/delivered_trace.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "support/session_world.hpp"
#include "support/temporary_directory.hpp"

namespace ratchet::testing {
namespace {

TEST(delivered_trace, says_how_far_each_partition_was_delivered_where_it_is_asked_to) {
  const support::temporary_directory files;
  const std::filesystem::path& root = files.path();
  const topic_partition first = at("t", 0);
  fake_batch batch;
  const topic_partition second = at("t", 1);
  batch.add(&first, {4, "x", {}});
  batch.add(&second, {7, "x", {}});
  batch.add(&first, {5, "x", {}});
  delivered_trace{root}.note(batch.records());
  EXPECT_FALSE(std::filesystem::exists(root / "delivered")) << "off by default";
  ::setenv("RATCHET_TRACE_DELIVERED", "1", 1);
  delivered_trace{root}.note(batch.records());
  ::unsetenv("RATCHET_TRACE_DELIVERED");
  std::ifstream file{root / "delivered"};
  std::set<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    EXPECT_EQ(line.size(), 255U);
    lines.insert(line.substr(0, line.find_last_not_of(' ') + 1));
  }
  EXPECT_EQ(lines, (std::set<std::string>{"t 0 6", "t 1 8"}));
}

}  // namespace
}  // namespace ratchet::testing
