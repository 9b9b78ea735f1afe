// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Whatever text comes from outside: nothing that is printed, logged or served steers a terminal with it, or
// has a line or a field more than it would have with any other.
#include "core/shown_text.hpp"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "control/requests.hpp"
#include "decode/json_grammar.hpp"
#include "pipeline/stop_messages.hpp"
#include "process/log.hpp"
#include "reports/status_report.hpp"
#include "support/control_fake_store.hpp"
#include "support/harmful_text.hpp"
#include "support/session_world.hpp"
#include "support/waiting_support.hpp"
#include "telemetry/health_pages.hpp"
#include "text/json_writer.hpp"

namespace ratchet {
namespace {

using testing::fake_content;
using testing::fake_view;
using testing::harmful_pieces;
using testing::lines_of;
using testing::random_text;
using testing::what_harms;

constexpr int k_texts = 300;

/// `made` of random texts, against `made` of a plain one.
template <class Make>
void expect_harmless(const char* what, Make make) {
  std::mt19937 random{7};
  const auto lines = lines_of(make("a plain text"));
  for (int i = 0; i < k_texts; ++i) {
    const std::string text = random_text(random);
    const std::string output = make(text);
    ASSERT_EQ(what_harms(output), "") << what << ": " << output;
    ASSERT_EQ(lines_of(output), lines) << what << ": " << output;
    ASSERT_TRUE(output.empty() || output.ends_with('\n')) << what;
  }
}

TEST(shown_text, spells_out_what_harms_and_leaves_the_rest) {
  EXPECT_EQ(shown_text("p-1 \xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80 \\"),
            "p-1 \xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80 \\");
  EXPECT_EQ(shown_text("a\r\n\t\x1b[2J\x7f"), R"(a\x0d\x0a\x09\x1b[2J\x7f)");
  EXPECT_EQ(shown_text("\xC2\x9B\xE2\x80\xA8\xE2\x80\xAE\xD8\x9C"), R"(\u{9b}\u{2028}\u{202e}\u{61c})");
  EXPECT_EQ(shown_text("\xC2\xA0\xE2\x80\x8D\xE2\x81\xA5\xE2\x81\xAA"),
            "\xC2\xA0\xE2\x80\x8D\xE2\x81\xA5\xE2\x81\xAA")
      << "those beside the ranges";
  EXPECT_EQ(shown_text("p\xE2\x80\x8B-\xC2\xAD\xF3\xA0\x81\x81"), R"(p\u{200b}-\u{ad}\u{e0041})");
  EXPECT_EQ(shown_text("\xFF\xC2|\xED\xA0\x80\xE2\x80"), R"(\xff\xc2|\xed\xa0\x80\xe2\x80)");
}

TEST(shown_text, takes_each_piece_that_harms_and_nothing_twice) {
  for (const std::string& piece : harmful_pieces()) {
    const std::string shown = shown_text("a" + piece + "b");
    EXPECT_NE(shown, "a" + piece + "b");
    EXPECT_EQ(what_harms(shown), "");
    EXPECT_EQ(shown_text(shown), shown);
  }
}

TEST(outputs, of_problems_have_the_lines_of_their_own_alone) {
  expect_harmless("to_text", [](const std::string& text) {
    return to_text({make_error_code(errc::not_found),
                    "nothing is known of \"" + text + "\"",
                    "see " + text,
                    {{"a.yaml", 1, 2, text, text, text}}});
  });
}

TEST(outputs, as_json_are_escaped_and_read_back_the_same) {
  std::mt19937 random{7};
  for (int i = 0; i < k_texts; ++i) {
    const std::string text = random_text(random);
    std::string string;
    append_json_string(string, text);
    EXPECT_EQ(what_harms(string), "") << string;
    EXPECT_EQ(json::check_json(string).reason, malformed_reason::none) << string;
    json_writer inside;
    inside.raw("{\"a\":\t\"\x7F\xC2\x9B\xE2\x80\xAE\",\r\n\"b\":" + string + "}", raw_layout::one_line);
    EXPECT_EQ(what_harms(inside.text()), "") << inside.text();
    EXPECT_EQ(lines_of(inside.text()), 0);
    EXPECT_EQ(json::check_json(inside.text()).reason, malformed_reason::none) << inside.text();
  }
}

std::string logged(log_format format, const std::string& text) {
  std::ostringstream out;
  auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(out);
  sink->set_formatter(make_log_formatter(format));
  const auto log = std::make_shared<spdlog::logger>("test", std::move(sink));
  log->warn("it failed: {}", text);
  const topic_partition where{text, partition_id{3}};
  tell_of(log, log_kind::partition_stopped, {.where = &where, .offset = 17}, "stopped at `" + text + "`");
  client_log{log}.write(3, text);
  return out.str();
}

TEST(outputs, of_the_log_are_one_harmless_line_a_message) {
  expect_harmless("text", [](const std::string& text) { return logged(log_format::text, text); });
  expect_harmless("json", [](const std::string& text) {
    const std::string lines = logged(log_format::json, text);
    std::istringstream in{lines};
    for (std::string line; std::getline(in, line);) {
      EXPECT_EQ(json::check_json(line).reason, malformed_reason::none) << line;
    }
    return lines;
  });
}

TEST(outputs, of_the_health_port_are_one_harmless_line) {
  expect_harmless("/readyz", [](const std::string& text) {
    testing::session_world w;
    const health_pages pages{w.status, w.meter};
    w.status.set_stopped("payments", {"t", partition_id{0}}, "stopped before an event of `" + text + "`");
    w.status.raise_condition("disk", text);
    return pages.answer("/readyz").body;
  });
}

rejected_row rejected_of(const std::string& text, std::int64_t offset, reject_reason reason) {
  rejected_row row;
  row.where = {"t", partition_id{1}};
  row.offset = offset;
  row.reason = reason;
  row.detail = text;
  row.pointer = text;
  row.key = text;
  row.value = text;
  return row;
}

/// One aggregate with everything that a stream may know of one, all of it foreign text.
fake_content content_of(const std::string& text) {
  fake_content content;
  auto& stream = content.streams.emplace_back();
  stream.name = "payments";
  stream.meaning = {{"order", "strict"}, {"first", "1"}};
  stream.rows[text].last = seq(5);
  stream.rows[text].snapshot = "{}";
  waiting_event event;
  event.head = testing::head(seq(8), waiting_state::retrying);
  event.type = text;
  event.error = text;
  event.attempts = 1;
  event.record.where = {"t", partition_id{0}};
  event.record.key = text;
  event.record.headers = {{text, text}};
  event.record.value = text;
  event.payload_size = text.size();
  stream.waiting[{text, seq(8)}] = event;
  backlog& b = stream.backlogs[text];
  b.retrying = 1;
  b.highest = seq(8);
  b.gap_since = testing::k_noon;
  stream.rejected = {rejected_of(text, 1, reject_reason::conflict),
                     rejected_of(text, 2, reject_reason::malformed)};
  content.audits = {{4, testing::k_noon, "waiting_skip", "payments", "aggregate " + text}};
  return content;
}

std::string answered(const std::string& text, read_request request) {
  const fake_content content = content_of(text);
  const fake_view view{content, 9};
  const std::vector<std::string> streams{"payments"};
  status_snapshot live;
  live.ready_reason = text;
  partition_stop stop;
  stop.where = {"t", partition_id{0}};
  stop.code = make_error_code(errc::reducer_failed);
  stop.aggregate = text;
  stop.what = text;
  live.streams["payments"][{"t", partition_id{0}}].stopped = describe(stop);
  request.stream = "payments";
  request.aggregate = text;
  std::string out;
  const auto done = answer_request({view, streams, &live}, request, [&](std::string_view piece) {
    out += piece;
    return true;
  });
  return done ? out : to_text(done.error());
}

TEST(outputs, of_the_commands_are_harmless_lines_as_text_and_as_json) {
  using kind = read_request::kind_of;
  for (const bool json : {false, true}) {
    for (const kind asked :
         {kind::status, kind::explain, kind::waiting_list, kind::waiting_show, kind::scan}) {
      read_request request;
      request.kind = asked;
      request.json = json;
      request.rejected = 10;
      request.audit = true;
      request.sequence = seq(8);
      const std::string what = "kind " + std::to_string(static_cast<int>(asked));
      expect_harmless(what.c_str(), [&](const std::string& text) { return answered(text, request); });
    }
    read_request request;
    request.kind = kind::waiting_list;
    request.json = json;
    request.waiting.rejected = true;
    expect_harmless("rejected", [&](const std::string& text) { return answered(text, request); });
    request.waiting.limit = 1;
    expect_harmless("go on with", [&](const std::string& text) { return answered(text, request); });
    request = {};
    request.kind = kind::waiting_show;  // there is none
    expect_harmless("none waits", [&](const std::string& text) { return answered(text, request); });
  }
}

}  // namespace
}  // namespace ratchet
