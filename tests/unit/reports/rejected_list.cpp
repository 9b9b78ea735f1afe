// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Rejected records in `ratchet waiting list`.
#include "reports/rejected_list.hpp"

#include <gtest/gtest.h>

#include "control/requests.hpp"
#include "control/waiting_request.hpp"
#include "pipeline/rejected_rows.hpp"
#include "reports/row_reports.hpp"
#include "support/control_fake_store.hpp"
#include "support/noon.hpp"

namespace ratchet {
namespace {

using namespace std::chrono_literals;
using lines = std::vector<std::string>;

using testing::k_noon;

/// Offset 3 conflicts, 5 cannot be decoded, and one of a plain file is too old.
class rejected_listing : public ::testing::Test {
 protected:
  rejected_listing() {
    testing::fake_stream& payments = content_.streams.emplace_back();
    payments.name = "payments";
    rejected_row conflict = row(3, reject_reason::conflict, "p\n1");
    conflict.sequence = seq(7);
    conflict.id = event_id{0x019b79a3d4007000, 0x8000000000000001};
    conflict.time = k_noon - 1h;
    rejected_row malformed = row(5, reject_reason::malformed, "missing_field");
    malformed.pointer = "/id";
    malformed.byte_offset = 17;
    malformed.at = k_noon + 1min;
    malformed.key = "k\n9";
    rejected_row plain = row(255, reject_reason::too_old, "p2");
    plain.where = {};
    plain.record_time.reset();
    payments.rejected = {malformed, conflict, plain};
  }
  static rejected_row row(std::int64_t offset, reject_reason reason, std::string detail) {
    rejected_row r;
    r.where = {"t", partition_id{2}};
    r.offset = offset;
    r.at = k_noon;
    r.reason = reason;
    r.detail = std::move(detail);
    r.record_time = k_noon - 2h;
    return r;
  }
  lines list(waiting_filter filter, bool json) const {
    filter.rejected = true;
    read_request request;
    request.kind = read_request::kind_of::waiting_list;
    request.stream = "payments";
    request.json = json;
    request.waiting = std::move(filter);
    const testing::fake_view view{content_, 9};
    const std::vector<std::string> streams{"payments"};
    std::string text;
    const auto done = answer_request({view, streams, nullptr}, request, [&](std::string_view piece) {
      text += piece;
      return true;
    });
    EXPECT_TRUE(done);
    lines out;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
      out.push_back(text.substr(at, text.find('\n', at) - at));
    return out;
  }
  std::size_t count(const waiting_filter& filter) const { return list(filter, true).size(); }
  problem decide(const waiting_filter& filter) const {
    const testing::fake_view view{content_, 9};
    const std::vector<std::string> streams{"payments"};
    waiting_request request;
    request.verb = waiting_verb::discard;
    request.stream = "payments";
    request.filter = filter;
    request.act = true;
    waiting_desk desk;
    desk.act = [](const std::string&, std::span<const pipeline::decided>, const decider&,
                  const still_wanted&) {
      ADD_FAILURE() << "nothing is to be done";
      return std::vector<waiting_answer>{};
    };
    const auto done = answer_waiting(view, streams, request, desk, [](std::string_view) { return true; });
    return done ? problem{} : done.error();
  }

  testing::fake_content content_;
};

TEST_F(rejected_listing, has_the_members_of_a_waiting_event_and_null_for_what_there_is_not) {
  EXPECT_EQ(list({}, true),
            (lines{R"({"stream":"payments","aggregate":"p2","sequence":null,"event_id":null,)"
                   R"("state":"rejected","reason":"too_old","missing":null,"error":null,"attempts":0,)"
                   R"("due":null,"time":null,"first_seen":"2026-01-01T12:00:00.000Z","position":null})",
                   R"({"stream":"payments","aggregate":"p\n1","sequence":7,)"
                   R"("event_id":"019b79a3-d400-7000-8000-000000000001","state":"rejected",)"
                   R"("reason":"conflict","missing":null,"error":null,"attempts":0,"due":null,)"
                   R"("time":"2026-01-01T11:00:00.000Z","first_seen":"2026-01-01T12:00:00.000Z",)"
                   R"("position":{"topic":"t","partition":2,"offset":3}})",
                   R"({"stream":"payments","aggregate":null,"sequence":null,"event_id":null,)"
                   R"("state":"rejected","reason":"malformed","missing":null,)"
                   R"("error":"missing_field at /id, byte 17","attempts":0,"due":null,)"
                   R"("time":"2026-01-01T10:00:00.000Z","first_seen":"2026-01-01T12:01:00.000Z",)"
                   R"("position":{"topic":"t","partition":2,"offset":5}})"}));
}

TEST_F(rejected_listing, has_a_line_each_for_people) {
  EXPECT_EQ(list({}, false),
            (lines{"p2  rejected  too_old  since 2026-01-01T12:00:00.000Z  content 00000000000000ff",
                   "p\\x0a1/7  rejected  conflict  since 2026-01-01T12:00:00.000Z  event "
                   "019b79a3-d400-7000-8000-000000000001  t/2@3",
                   "-  rejected  malformed: missing_field at /id, byte 17  since 2026-01-01T12:01:00.000Z  "
                   "key k\\x0a9  t/2@5"}));
}

TEST_F(rejected_listing, spells_ids_as_their_kind_is_spelt) {
  content_.streams.back().meaning = {{"dedup.ids", "ulid"}};
  EXPECT_NE(list({}, true)[1].find(R"("event_id":"01KDWT7N00E008000000000001")"), std::string::npos)
      << list({}, true)[1];
  EXPECT_NE(list({}, false)[1].find("event 01KDWT7N00E008000000000001"), std::string::npos);
}

TEST_F(rejected_listing, has_those_that_fit_everything_that_is_given) {
  EXPECT_EQ(count({.aggregate = "p\n1"}), 1U);
  EXPECT_EQ(count({.aggregate = "missing_field"}), 0U) << "that is no aggregate";
  EXPECT_EQ(count({.reason = "malformed"}), 1U);
  EXPECT_EQ(count({.reason = "at /id"}), 1U);
  EXPECT_EQ(count({.reason = "late"}), 0U);
  EXPECT_EQ(count({.seen_before = k_noon}), 2U);
  EXPECT_EQ(count({.from = k_noon - 1h}), 1U);
  EXPECT_EQ(count({.to = k_noon - 1h}), 1U) << "one has no time at all";
  EXPECT_EQ(count({.sequence = seq(7)}), 1U);
  EXPECT_EQ(count({.aggregate = "p2", .sequence = seq(7)}), 0U);
}

TEST_F(rejected_listing, goes_on_where_a_page_ended) {
  lines page = list({.limit = 1}, false);
  ASSERT_EQ(page.size(), 2U);
  EXPECT_EQ(page[1], "more are kept: go on with payments --after /0@255");
  page = list({.limit = 1, .after_position = position_of("/0@255")}, false);
  ASSERT_EQ(page.size(), 2U);
  EXPECT_EQ(page[1], "more are kept: go on with payments --after t/2@3");
  EXPECT_EQ(list({.limit = 1, .after_position = position_of("t/2@3")}, false).size(), 1U);
}

TEST_F(rejected_listing, leaves_nothing_to_decide) {
  waiting_filter filter;
  filter.rejected = true;
  problem p = decide(filter);
  EXPECT_EQ(p.code, make_error_code(errc::usage));
  EXPECT_EQ(p.message, "rejected records do not wait: there is nothing to discard");
  p = decide({.aggregate = "p2"});
  EXPECT_EQ(p.code, make_error_code(errc::not_found));
  EXPECT_EQ(p.message,
            "no waiting event fits, but 1 rejected record does, and rejected records take no decision");
  EXPECT_EQ(decide({.aggregate = "p2", .state = waiting_state::dead}).message, "no waiting event fits");
}

TEST(a_position_word, is_taken_back_as_it_is_printed) {
  for (const char* word : {"t/0@0", "/0@4611686018427387904", "a.b/12@9", "a/b@c/1@2", "t/0@17.3"}) {
    const auto position = position_of(word);
    ASSERT_TRUE(position) << word;
    EXPECT_EQ(position_word(*position), word);
  }
  for (const char* bad : {"", "t", "t/0", "t@1", "t/x@1", "t/0@", "t/0@-1", "t/-1@0", "t/0@1 ", "p1/7",
                          "t/0@1.", "t/0@1.0", "t/0@1.x", "t/0@1.2.3"})
    EXPECT_FALSE(position_of(bad)) << bad;
}

TEST(a_filter_of_rejected_records, is_the_same_after_its_way_over_the_socket) {
  const waiting_filter filter{.rejected = true, .after_position = position_of("a=b/1@7")};
  const auto parsed = parse_filter(to_words(filter));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(*parsed, filter);
  EXPECT_FALSE(parse_filter(std::vector<std::string>{"after_position=p1/7"}));
}

TEST(rejected_rows, say_that_a_source_was_one_too_many) {
  const topic_partition where{"t", partition_id{2}};
  record from;
  from.where = &where;
  from.offset = 7;
  from.value = "{}";
  decoded_event e;
  e.from = &from;
  e.kind = decoded_kind::event;
  e.aggregate = "p1";
  const rejected_row row =
      make_rejected_row({}, e, {verdict::rejected, reject_reason::malformed}, timestamp{1s});
  EXPECT_EQ(row.detail, "too_many_sources");
  EXPECT_EQ(rejected_line(row).substr(0, 32), "t/2@7  malformed too_many_source") << rejected_line(row);
}

}  // namespace
}  // namespace ratchet
