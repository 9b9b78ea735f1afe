// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Records that are large, as `kcat -C -J` prints them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "decode/decoder.hpp"
#include "unit/app_apply_world.hpp"

namespace ratchet {
namespace {

const topic_partition k_topic{"t", partition_id{0}};

/// A record of aggregate "b" whose value has this many bytes, half of them quotes that its line escapes.
std::string large(int offset, std::uint64_t bytes) {
  const std::string begins = R"({\"p\":\"b\",\"n\":1,\"v\":2,\"w\":[)";
  const std::string ends = "]}";
  const std::uint64_t escapes = 10;
  std::uint64_t left = bytes - (begins.size() - escapes) - ends.size();
  std::string line = R"({"topic":"t","partition":0,"offset":)" + std::to_string(offset) +
                     R"(,"tstype":"create","ts":1704110400000,"key":null,"payload":")" + begins + R"(\"\")";
  line.reserve(bytes * 2);
  left -= 2;
  for (; left > 2; left -= 3) line += R"(,\"\")";
  line.append(left, ' ');
  return line + ends + "\"}\n";
}

class apply_records : public apply_command {
 protected:
  apply_records() {
    settings_.memory_limit = std::uint64_t{512} << 20;
    request_.explain = [this](const stream_runtime&, const decoded_event& e, decision d) {
      const std::string where = e.from->where->topic.empty() ? "line" : e.from->where->topic + "/0";
      told_ += where + "@" + std::to_string(e.from->offset) + " " + name_of(d.verdict);
      if (d.verdict == verdict::rejected) {
        told_ +=
            std::string{" "} + name_of(e.malformed.reason) + " " + std::to_string(e.malformed.byte_offset);
      }
      told_ += "; ";
    };
  }
  std::string told() { return std::exchange(told_, {}); }

 private:
  std::string told_;
};

TEST_F(apply_records, are_bounded_by_themselves_and_not_by_their_line) {
  const std::string input = file("in", kcat("t", 0, 0, "a", 1) + large(1, k_apply_value_bytes));
  ASSERT_GT(std::filesystem::file_size(input), k_apply_value_bytes * 3 / 2);
  expect_applied({input}, true);
  EXPECT_EQ(told(), "t/0@0 applied; t/0@1 applied; ");
  EXPECT_EQ(read("b"), "2");
  EXPECT_EQ(state().partitions.at(k_topic).next_offset, 2);
}

TEST_F(apply_records, keep_their_position_where_they_are_too_large) {
  const std::string input = file("in", large(0, k_apply_value_bytes + 1) + kcat("t", 0, 1, "a", 1));
  expect_applied({input}, true);
  EXPECT_EQ(told(), "t/0@0 rejected too_large 67108864; t/0@1 applied; ");
  EXPECT_EQ(state().partitions.at(k_topic).next_offset, 2);
  ASSERT_EQ(rejected().size(), 1U);
  EXPECT_EQ(rejected().front().where, k_topic);
  EXPECT_EQ(rejected().front().offset, 0);
  expect_applied({input}, true);
  EXPECT_EQ(told(), "t/0@0 duplicate; t/0@1 duplicate; ");
  EXPECT_EQ(counted().rejected_malformed, 1U) << "it is counted once";
}

/// A line that no record below the limit can have is read past, but for its beginning.
TEST_F(apply_records, keep_their_position_where_their_line_is_not_held) {
  for (const bool says_position : {true, false}) {
    const std::string head = says_position
                                 ? R"({"topic":"t","partition":0,"offset":0,"ts":1704110460000,"payload":")"
                                 : R"({"payload":")";
    const std::string input = file("in", head);
    std::filesystem::resize_file(input, std::uint64_t{420} << 20);  // a hole: it takes no room
    std::ofstream{input, std::ios::binary | std::ios::app} << "\n" << kcat("t", 0, 1, "a", 1);
    expect_applied({input}, true);
    const counters now = counted();
    EXPECT_EQ(now.rejected_malformed, says_position ? 1U : 2U);
    EXPECT_EQ(told(), says_position ? "t/0@0 rejected too_large 67108864; t/0@1 applied; "
                                    : "line@1 rejected too_large 67108864; t/0@1 duplicate; ");
    EXPECT_EQ(state().partitions.at(k_topic).next_offset, 2);
    if (says_position) {
      EXPECT_EQ(state().floor, k_noon_time + std::chrono::minutes{1} - opened().streams()[0]->rules.window)
          << "its time counts, too";
    }
  }
}

}  // namespace
}  // namespace ratchet
