// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Records that are large, as `kcat -C -J` prints them.
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <fstream>
#include <iomanip>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "decode/decoder.hpp"
#include "unit/app/apply_world.hpp"

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
    request_.explain = [this](const stream_definition&, const decoded_event& e, decision d,
                              const event_wait*) {
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

TEST_F(apply_records, say_of_a_dump_that_begins_in_the_middle_what_becomes_of_the_part_before_it) {
  std::ostringstream log;
  options_.log =
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log));
  const std::string told_of = "t/0 begins at offset 5: from now on earlier records count as repeated";
  expect_applied({file("later", kcat("t", 0, 5, "a", 1) + kcat("t", 0, 6, "a", 2))}, true);
  EXPECT_NE(log.str().find(told_of), std::string::npos) << log.str();
  log.str({});
  expect_applied({file("earlier", kcat("t", 0, 0, "b", 1)), file("next", kcat("t", 0, 7, "a", 3)),
                  file("whole", kcat("t", 1, 0, "c", 1))},
                 true);
  EXPECT_EQ(log.str().find("begins at offset"), std::string::npos) << "of what the state knows it was said";
  EXPECT_EQ(counted().duplicate, 1U);
  EXPECT_NE(log.str().find("1 record lies below the offset that the state had reached in its partition"),
            std::string::npos)
      << log.str();
}

/// Events that came twice are duplicates, too, and are not of these.
TEST_F(apply_records, say_how_many_are_duplicates_by_their_positions_alone) {
  std::ostringstream log;
  options_.log =
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log));
  const std::string dump =
      file("dump", kcat("t", 0, 0, "a", 1) + kcat("t", 0, 1, "a", 1) + kcat("t", 1, 0, "b", 1));
  expect_applied({dump}, true);
  EXPECT_EQ(counted().duplicate, 1U);
  EXPECT_EQ(log.str().find("below the offset"), std::string::npos) << log.str();
  expect_applied({dump, file("more", kcat("t", 0, 2, "a", 1)), dump}, true);
  EXPECT_EQ(counted().duplicate, 8U);
  EXPECT_NE(log.str().find("6 records lie below the offset that the state had reached in its partition: "
                           "counted as duplicates by position alone"),
            std::string::npos)
      << log.str();
}

TEST_F(apply_records, say_which_was_the_first_whose_time_is_passed_over) {
  constexpr int k_records = 30;
  constexpr std::int64_t k_minute = 60'000;
  constexpr std::int64_t k_year = 365 * 1440 * k_minute;
  settings_.streams[0].record_times = record_times::checked;
  std::ostringstream log;
  options_.log =
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log));
  std::string dump;
  for (int n = 0; n < k_records; ++n) {
    const bool is_wrong = n == 11 || n == 14;
    std::string one = kcat("t", 0, n, "a", n + 1);
    const std::string at_noon = "1704110400000";
    one.replace(one.find(at_noon), at_noon.size(),
                std::to_string(1'704'110'400'000 + n * k_minute + (is_wrong ? k_year : 0)));
    dump += one;
  }
  expect_applied({file("dump", dump)}, true);
  EXPECT_EQ(counted().times_passed_over, 2U);
  const std::string first = "t/0 at offset 11 has the time 2024-12-31T12:11:00.000Z";
  const std::size_t told = log.str().find(first);
  ASSERT_NE(told, std::string::npos) << log.str();
  EXPECT_EQ(log.str().find(" has the time ", told + first.size()), std::string::npos) << "once";
}

/// A record at noon of a day, with an id of that time.
std::string on_day(int partition, int offset, int day) {
  constexpr std::int64_t k_day = 86'400'000;
  const std::int64_t time = k_noon_time.time_since_epoch().count() + day * k_day;
  std::ostringstream id;
  id << std::hex << std::setw(12) << std::setfill('0') << time;
  const std::string high = id.str();
  return R"({"topic":"t","partition":)" + std::to_string(partition) + R"(,"offset":)" +
         std::to_string(offset) + R"(,"tstype":"create","ts":)" + std::to_string(time) +
         R"(,"key":null,"payload":"{\"id\":\")" + high.substr(0, 8) + "-" + high.substr(8) + "-7000-8000-" +
         (partition == 0 ? "0" : "1") + R"(00000000000\",\"p\":\"a)" + std::to_string(partition) +
         R"(\",\"v\":)" + std::to_string(day) + "}\"}\n";
}

/// In order `arrival` nobody can tell of an id below the floor whether it was handled.
class apply_records_of_partitions : public apply_records {
 protected:
  apply_records_of_partitions() {
    stream_config& s = settings_.streams[0];
    s.order = order::arrival;
    s.envelope.event_id = "/id";
    s.envelope.sequence = "";
    s.envelope.time = "";
    s.dedup.ids = id_kind::uuidv7;
  }
  std::string days(int partition, int first, int last, int offset = 0) {
    std::string lines;
    for (int day = first; day <= last; ++day) lines += on_day(partition, offset + day - first, day);
    return lines;
  }
};

TEST_F(apply_records_of_partitions, are_not_too_old_as_those_of_another_partition_come_first) {
  for (const bool in_one_file : {true, false}) {
    reopen();
    std::filesystem::remove_all(settings_.state.path);
    std::vector<std::string> files;
    if (in_one_file) {
      files = {file("both", days(0, 0, 5) + days(1, 0, 5))};
    } else {
      files = {file("first", days(0, 0, 5)), file("second", days(1, 0, 5))};
    }
    expect_applied(files, true);
    EXPECT_EQ(counted().applied, 12U);
    EXPECT_EQ(state().floor, k_noon_time + std::chrono::hours{24 * 5} - opened().streams()[0]->rules.window)
        << "they have come that far together";
  }
}

TEST_F(apply_records_of_partitions, are_not_too_old_where_their_partition_was_left_out) {
  expect_applied({file("in", days(0, 0, 1) + days(1, 0, 1))}, true);
  const std::vector<topic_partition> one{{"t", partition_id{1}}};
  pipeline way{opened().tasks(), opened().state(), opened().clock()};
  ASSERT_TRUE(way.leave_out_of_floor(one));
  expect_applied({file("more", days(0, 2, 5, 2) + days(1, 2, 5, 2))}, true);
  EXPECT_EQ(counted().applied, 12U);
}

TEST_F(apply_records_of_partitions, that_were_handled_before_hold_no_floor_back) {
  expect_applied({file("in", days(0, 0, 1) + days(1, 0, 1))}, true);
  const std::vector<topic_partition> one{{"t", partition_id{1}}};
  pipeline way{opened().tasks(), opened().state(), opened().clock()};
  ASSERT_TRUE(way.leave_out_of_floor(one));
  expect_applied({file("more", days(1, 0, 1) + days(0, 2, 5, 2))}, true);
  EXPECT_TRUE(state().partitions.at(one[0]).idle);
  EXPECT_EQ(state().floor, k_noon_time + std::chrono::hours{24 * 5} - opened().streams()[0]->rules.window);
}

}  // namespace
}  // namespace ratchet
