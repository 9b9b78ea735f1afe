// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Records that hold several events, from files into the state.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/app/apply_world.hpp"

namespace ratchet {
namespace {

/// A line as `kcat -C -J` prints it.
std::string record_line(int offset, const std::string& value) {
  std::string payload;
  for (const char c : value) {
    if (c == '"') payload += '\\';
    if (c == '\n') payload += "\\n";
    if (c != '\n') payload += c;
  }
  return R"({"topic":"t","partition":0,"offset":)" + std::to_string(offset) +
         R"(,"tstype":"create","ts":1704110400000,"broker":0,"key":null,"payload":")" + payload + "\"}\n";
}
std::string of(const std::string& aggregate, int n, const std::string& time = k_noon) {
  std::string text = line(aggregate, n, time);
  text.pop_back();
  return text;
}
std::string list_of(const std::vector<std::string>& events) {
  std::string text;
  for (const std::string& e : events) text += (text.empty() ? "" : ",") + e;
  return R"({"records":[)" + text + "]}";
}

class several_events : public apply_command {
 protected:
  several_events() { stream().envelope.each = {each_kind::array, "/records"}; }
  stream_config& stream() { return settings_.streams[0]; }
};

TEST_F(several_events, of_lines_are_all_applied) {
  expect_applied({file("in", list_of({of("a", 1), of("b", 2), of("a", 3)}) + "\n" + list_of({}) + "\n" +
                                 list_of({of("c", 1)}) + "\n")});
  EXPECT_EQ(read("a"), "3");
  EXPECT_EQ(read("b"), "2");
  EXPECT_EQ(read("c"), "1");
  EXPECT_EQ(counted().applied + counted().superseded, 4U);
  EXPECT_EQ(counted().ignored, 1U);
}

TEST_F(several_events, move_the_floor_by_their_own_times_in_plain_files) {
  expect_applied({file("in", list_of({of("a", 1, "2024-01-02T12:00:00Z"), of("b", 2)}) + "\n")});
  EXPECT_EQ(state().floor, k_noon_time) << "the highest of them, less a day";
}

TEST_F(several_events, of_records_are_duplicates_by_their_position) {
  const std::string in =
      record_line(0, list_of({of("a", 1), of("b", 2)})) + record_line(1, list_of({of("a", 3)}));
  expect_applied({file("in", in)}, true);
  reopen();
  expect_applied({file("in", in)}, true);
  EXPECT_EQ(counted().duplicate, 3U);
  EXPECT_EQ(state().partitions.at({"t", partition_id{0}}).next_offset, 2);
}

TEST_F(several_events, are_rejected_under_their_place_over_a_restart_too) {
  expect_applied({file("in", record_line(0, list_of({"{}", of("a", 1), "7", "[]"})))}, true);
  reopen();
  const auto rows = rejected();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].index, 3U);
  EXPECT_EQ(rows[1].index, 2U);
  EXPECT_EQ(rows[2].index, 0U);
  EXPECT_EQ(rows[1].value, "7");
}

TEST_F(several_events, come_of_values_of_lines) {
  stream().envelope.each = {each_kind::lines, {}};
  expect_applied({file("in", record_line(0, of("a", 1) + "\n\n" + of("b", 2) + "\n{"))}, true);
  EXPECT_EQ(read("a"), "1");
  EXPECT_EQ(read("b"), "2");
  const auto rows = rejected();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].index, 2U);
}

TEST_F(several_events, are_none_in_a_line_that_is_no_record) {
  stream().envelope.each = {each_kind::array, {}};
  expect_applied({file("in", record_line(0, "[" + of("a", 1) + "]") + "[" + of("x", 1) + "," + of("y", 1) +
                                 "]\n" + record_line(1, "[" + of("b", 1) + "," + of("c", 1) + "]"))},
                 true);
  EXPECT_EQ(read("a"), "1");
  EXPECT_EQ(read("c"), "1");
  EXPECT_EQ(read("x"), "nothing") << "it has no position, whatever it holds";
  EXPECT_EQ(counted().rejected_malformed, 1U) << "a line is rejected once";
}

TEST_F(several_events, in_whose_midst_a_step_ended_go_on_after_a_restart) {
  const auto failing = [&](const char* at) {
    stream().reducer.kind = reducer_config::kind_of::flaky;
    stream().reducer.fail = {{.type = {}, .contains = at, .how = failure_kind::stop, .times = 0}};
  };
  failing("2");
  const std::string in = record_line(0, list_of({of("a", 1), of("b", 2), of("c", 3)}));
  (void)apply({file("in", in)}, true);  // it ends where its partition stops
  EXPECT_EQ(state().partitions.at({"t", partition_id{0}}).next_index, 1U);
  EXPECT_EQ(read("a"), "1");
  EXPECT_EQ(read("c"), "nothing");
  reopen();
  failing("none");
  expect_applied({file("in", in)}, true);
  EXPECT_EQ(read("b"), "2");
  EXPECT_EQ(read("c"), "3");
  EXPECT_EQ(counted().applied + counted().superseded, 3U);
  EXPECT_EQ(counted().duplicate, 1U) << "it was delivered again";
}

TEST_F(several_events, that_wait_come_back_from_disk_with_their_place) {
  stream().order = order::strict;
  expect_applied({file("in", record_line(0, list_of({of("a", 2), of("a", 3)})))}, true);
  reopen();
  std::vector<std::uint32_t> indexes;
  const auto view = opened().state().view();
  ASSERT_TRUE(
      view.value()->waiting(opened().streams()[0]->id, {}, [&](std::string_view, const waiting_event& e) {
        indexes.push_back(e.record.index);
        EXPECT_EQ(e.record.value, list_of({of("a", static_cast<int>(e.head.sequence.number))}));
        return true;
      }));
  EXPECT_EQ(indexes, (std::vector<std::uint32_t>{0, 1}));
  expect_applied({file("more", record_line(1, list_of({of("a", 1)})))}, true);
  EXPECT_EQ(read("a"), "3");
}

}  // namespace
}  // namespace ratchet
