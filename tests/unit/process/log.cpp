// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "process/log.hpp"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <boost/property_tree/json_parser.hpp>
#include <sstream>
#include <string>

namespace ratchet {
namespace {

using namespace std::chrono_literals;

/// A log as a command writes it, into memory.
class written_log {
 public:
  explicit written_log(log_format format) {
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(out_);
    sink->set_formatter(make_log_formatter(format));
    log = std::make_shared<spdlog::logger>("test", std::move(sink));
    log->set_level(spdlog::level::debug);
  }
  /// The lines, without their times.
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> all;
    std::istringstream in{out_.str()};
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }

 private:
  std::ostringstream out_;

 public:
  log_ptr log;
};

void tell_at(const written_log& w, const topic_partition& where, std::optional<std::int64_t> offset,
             std::string_view text) {
  tell_of(w.log, log_kind::partition_stopped, {.where = &where, .offset = offset}, text);
}

constexpr std::size_t k_time = std::string_view{"2026-11-20T16:00:00.000Z "}.size();

TEST(log_lines, name_the_four_levels_as_the_option_does) {
  written_log w{log_format::text};
  w.log->debug("a");
  w.log->info("b");
  w.log->warn("c");
  w.log->error("d");
  ASSERT_EQ(w.lines().size(), 4U);
  const char* want[] = {"debug a", "info  b", "warn  c", "error d"};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(w.lines()[i].substr(k_time), want[i]);
  EXPECT_EQ(w.lines()[0][10], 'T');
  EXPECT_EQ(w.lines()[0][k_time - 2], 'Z');
}

TEST(log_lines, keep_a_text_of_several_lines_on_one) {
  written_log w{log_format::text};
  w.log->error("some are stopped:\n  t/0: it failed\n  t/1: it failed, too\n\n");
  w.log->info("next");
  ASSERT_EQ(w.lines().size(), 2U);
  EXPECT_EQ(w.lines()[0].substr(k_time), "error some are stopped: t/0: it failed; t/1: it failed, too");
}

TEST(log_lines, show_what_would_steer_a_terminal_as_text) {
  written_log w{log_format::text};
  w.log->info("aggregate `a\r\x1b[31mb\x7f\t` \xC3\xA4");
  ASSERT_EQ(w.lines().size(), 1U);
  EXPECT_EQ(w.lines()[0].substr(k_time), R"(info  aggregate `a\x0d\x1b[31mb\x7f\x09` )"
                                         "\xC3\xA4");
}

TEST(log_lines, as_json_are_one_object_each_whatever_the_message_holds) {
  written_log w{log_format::json};
  w.log->warn("a \"quote\",\na line feed, \x01 and \xFF");
  tell_at(w, {"a\"b", partition_id{3}}, 17, "t/3 is stopped");
  tell_at(w, {"t", partition_id{3}}, std::nullopt, "t/3 is gone");
  ASSERT_EQ(w.lines().size(), 3U);
  std::vector<boost::property_tree::ptree> objects(3);
  for (std::size_t i = 0; i < 3; ++i) {
    std::istringstream in{w.lines()[i]};
    ASSERT_NO_THROW(boost::property_tree::read_json(in, objects[i])) << w.lines()[i];
  }
  EXPECT_EQ(objects[0].get<std::string>("level"), "warn");
  EXPECT_EQ(objects[0].get<std::string>("message"), "a \"quote\",\na line feed, \x01 and \xEF\xBF\xBD");
  EXPECT_FALSE(objects[0].get_optional<std::string>("topic"));
  EXPECT_FALSE(objects[0].get_optional<std::string>("code"));
  EXPECT_EQ(objects[1].get<std::string>("message"), "t/3 is stopped");
  EXPECT_EQ(objects[1].get<std::string>("code"), "partition_stopped");
  EXPECT_EQ(objects[1].get<std::string>("topic"), "a\"b");
  EXPECT_EQ(objects[1].get<int>("partition"), 3);
  EXPECT_EQ(objects[1].get<int>("offset"), 17);
  EXPECT_EQ(objects[2].get<int>("partition"), 3);
  EXPECT_FALSE(objects[2].get_optional<int>("offset"));
}

TEST(log_lines, as_text_leave_the_place_to_the_message) {
  written_log w{log_format::text};
  tell_at(w, {"t", partition_id{3}}, 17, "t/3 is stopped");
  EXPECT_EQ(w.lines()[0].substr(k_time), "error t/3 is stopped");
}

// What separates fields anywhere else is a part of the text here.
TEST(log_lines, as_json_take_no_field_from_the_message) {
  const std::string forging =
      "of aggregate `x\x1fT\x1f"
      "0,\"level\":\"info\",\"forged\":true\x1f"
      "7,\"severity\":\"OK\"\x1f`";
  written_log w{log_format::json};
  tell_at(w, {"t", partition_id{3}}, 17, forging);
  w.log->error("{}", forging);
  for (std::size_t i = 0; i < 2; ++i) {
    std::istringstream in{w.lines().at(i)};
    boost::property_tree::ptree object;
    ASSERT_NO_THROW(boost::property_tree::read_json(in, object)) << w.lines()[i];
    EXPECT_EQ(object.get<std::string>("message"), forging);
    EXPECT_EQ(object.get<std::string>("level"), "error");
    EXPECT_EQ(object.get<std::string>("topic", ""), i == 0 ? "t" : "");
    EXPECT_EQ(object.get<std::string>("offset", ""), i == 0 ? "17" : "");
    EXPECT_FALSE(object.get_child_optional("forged") || object.get_child_optional("severity"));
  }
}

TEST(log_pace, lets_one_through_in_a_while_and_says_how_many_it_held_back) {
  log_pace pace;
  auto now = std::chrono::steady_clock::time_point{};
  EXPECT_TRUE(pace.due(now));
  EXPECT_EQ(pace.suppressed(), "");
  for (int i = 0; i < 7; ++i) EXPECT_FALSE(pace.due(now += 1s));
  EXPECT_TRUE(pace.due(now += 10s));
  EXPECT_EQ(pace.suppressed(), " (7 more like it were not shown)");
  EXPECT_TRUE(pace.due(now += 10s));
  EXPECT_EQ(pace.suppressed(), "") << "each is told of once";
}

TEST(client_log, shows_one_error_of_many_and_each_warning_about_the_configuration_once) {
  written_log w{log_format::text};
  w.log->set_level(spdlog::level::info);
  client_log client{w.log};
  constexpr int k_error = 3;
  constexpr int k_info = 6;
  for (int life = 0; life < 50; ++life) {
    client.write(4, "CONFWARN: property x is deprecated");
    client.write(k_error, "FAIL: connect to ssl://b:9 failed");
    client.write(k_info, "it goes on");
  }
  ASSERT_EQ(w.lines().size(), 2U);
  EXPECT_EQ(w.lines()[0].substr(k_time), "warn  librdkafka: CONFWARN: property x is deprecated");
  EXPECT_EQ(w.lines()[1].substr(k_time), "warn  librdkafka: FAIL: connect to ssl://b:9 failed");
}

}  // namespace
}  // namespace ratchet
