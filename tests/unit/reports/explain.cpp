// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "control/requests.hpp"
#include "decode/event_id_text.hpp"
#include "decode/json_grammar.hpp"
#include "reports/explain_report.hpp"
#include "support/control_fake_store.hpp"

namespace ratchet {
namespace {

using testing::fake_content;
using testing::fake_view;

// The window reaches back to k_floor; ids carry their own time.
constexpr std::int64_t k_noon_ms = 1'767'268'800'000;  // 2026-01-01T12:00:00Z
const timestamp k_floor{std::chrono::milliseconds{k_noon_ms}};

event_id id_at(std::int64_t after_floor_ms, std::uint64_t low = 0x8000000000000001) {
  return {static_cast<std::uint64_t>(k_noon_ms + after_floor_ms) << 16U | 0x7000U, low};
}
const event_id k_inside = id_at(1'000);
const event_id k_last = id_at(2'000);
const event_id k_old = id_at(-1);

rejected_row rejected(reject_reason reason, std::string detail, std::string value) {
  rejected_row row;
  row.where = {"t", partition_id{1}};
  row.offset = 17;
  row.step = 3;
  row.reason = reason;
  row.detail = std::move(detail);
  if (reason == reject_reason::malformed) {
    row.pointer = "/sequence";
    row.byte_offset = 12;
  }
  row.value = std::move(value);
  return row;
}

/// One stream: p1 was handled up to k_last, k_inside before it; p2 shares the id k_inside, and is deleted.
class explain : public ::testing::Test {
 protected:
  explain() {
    auto& stream = content_.streams.emplace_back();
    stream.name = "payments";
    stream.state.floor = k_floor;
    aggregate_row row;
    row.last = seq(7);
    row.id = k_last;
    row.time = k_floor;
    row.payload_hash = {0x0102030405060708, 0x090A0B0C0D0E0F10};
    row.snapshot = "{\"a\":1}";
    stream.rows["p1"] = row;
    row.last = seq(2, 3);
    row.id = k_old;
    row.deleted = true;
    row.snapshot.clear();
    stream.rows["p2"] = row;
    stream.ids = {{k_inside, "p1"}, {k_inside, "p2"}, {k_last, "p1"}, {k_old, "p2"}};
    stream.rejected = {
        rejected(reject_reason::conflict, "p1", R"({"id":")" + to_text(k_inside) + R"("})"),
        rejected(reject_reason::malformed, "missing_field", R"({"p":"p1"})"),
        rejected(reject_reason::malformed, "missing_field", R"({"p":"p10"})"),
        rejected(reject_reason::conflict, "p9", R"({"p":"p1"})"),
    };
    content_.audits = {{4, k_floor, "resume_skipped_ahead", "payments", "t[1]: resumed",
                        topic_partition{"t", partition_id{1}}, offset_range{5, 9}},
                       {5, k_floor, "resume_store_lost", "refunds", "another stream's"},
                       {6, k_floor, "copy_opened", "", "the whole store's"},
                       {7, k_floor, "waiting_skipped", "payments", "aggregate `p1`: event 3, was skipped"},
                       {8, k_floor, "gap_skipped", "payments", "aggregate `p10`: number 5"},
                       {9, k_floor, "output_skipped", "payments", "message 0 of aggregate `p2`"}};
  }
  static read_request ask_for(std::string aggregate, std::string event = {}, bool json = true) {
    read_request request;
    request.kind = read_request::kind_of::explain;
    request.stream = "payments";
    request.aggregate = std::move(aggregate);
    request.event = std::move(event);
    request.json = json;
    return request;
  }
  struct answered {
    std::string text;
    std::optional<problem> failed;
  };
  answered ask(const read_request& request) const {
    const fake_view view{content_, 9};
    const std::vector<std::string> streams{"payments", "not-yet"};
    answered out;
    const auto done = answer_request({view, streams, nullptr}, request, [&](std::string_view piece) {
      out.text += piece;
      return true;
    });
    if (!done) out.failed = done.error();
    if (request.json && !out.text.empty()) {
      EXPECT_EQ(json::check_json(out.text).reason, malformed_reason::none) << out.text;
    }
    return out;
  }
  static void expect_in(const std::string& part, const std::string& text) {
    EXPECT_NE(text.find(part), std::string::npos) << "not said: " << part << "\nin: " << text;
  }

  fake_content content_;
};

TEST_F(explain, an_aggregate_tells_what_was_handled_last_and_what_was_rejected_of_it) {
  const answered got = ask(ask_for("p1"));
  ASSERT_FALSE(got.failed);
  expect_in(
      R"({"stream":"payments","known":true,"floor":"2026-01-01T12:00:00.000Z","aggregate":"p1",)"
      R"("aggregates":[{"aggregate":"p1","last_handled":{"sequence":7,"event_id":")" +
          to_text(k_last) +
          R"(","time":"2026-01-01T12:00:00.000Z","payload_hash":"0102030405060708090a0b0c0d0e0f10",)"
          R"("deleted":false,"snapshot_bytes":7,"event_in_window":true},"backlog":null}],"waiting":[],)"
          R"("more_waiting":false,"rejected_records":[{"topic":"t",)"
          R"("partition":1,"offset":17,"step":3,"rejected_at":"1970-01-01T00:00:00.000Z","reason":"conflict","detail":null,"aggregate":"p1",)"
          R"("pointer":null,"byte_offset":null,)",
      got.text);
  expect_in(R"("reason":"malformed","detail":"missing_field","aggregate":null,"pointer":"/sequence",)"
            R"("byte_offset":12,)",
            got.text);
  EXPECT_EQ(got.text.find("p10"), std::string::npos) << "another aggregate, whose name begins alike";
  EXPECT_EQ(got.text.find("p9"), std::string::npos) << "what was decoded says whose it is";
  expect_in(R"("audit":[{"step":4,"time":"2026-01-01T12:00:00.000Z","kind":"resume_skipped_ahead",)"
            R"("stream":"payments","topic":"t","partition":1,"not_handled":{"from":5,"to":9},)"
            R"("text":"t[1]: resumed"},{"step":6,)",
            got.text);
  expect_in("aggregate `p1`: event 3, was skipped", got.text);
  EXPECT_EQ(got.text.find("number 5"), std::string::npos) << "what was decided about another aggregate";
  EXPECT_EQ(got.text.find("of aggregate `p2`"), std::string::npos);
  EXPECT_EQ(got.text.find("another stream's"), std::string::npos);
}

TEST_F(explain, an_aggregate_says_that_it_was_deleted_and_that_its_last_event_left_the_window) {
  const answered got = ask(ask_for("p2"));
  expect_in(R"("sequence":[2,3],)", got.text);
  expect_in(R"("deleted":true,"snapshot_bytes":null,"event_in_window":false)", got.text);
  const answered text = ask(ask_for("p2", "", false));
  expect_in("stream payments, aggregate p2\n  last handled    sequence 2:3, event ", text.text);
  expect_in("  snapshot        none: it was deleted\n", text.text);
  expect_in("the last event's id is older than it; the window reaches back to 2026-01-01T12:00:00.000Z\n",
            text.text);
}

TEST_F(explain, an_event_tells_every_aggregate_for_which_it_was_handled) {
  std::string upper = to_text(k_inside);
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  const answered got = ask(ask_for("", upper));
  ASSERT_FALSE(got.failed);
  expect_in(R"("event_id":")" + to_text(k_inside) +
                R"(","event_time":"2026-01-01T12:00:01.000Z","window":"inside",)",
            got.text);
  expect_in(R"("aggregates":[{"aggregate":"p1",)", got.text);
  expect_in(R"("is_last":false},{"aggregate":"p2",)", got.text);
  expect_in(R"("more_aggregates":false)", got.text);
  expect_in(R"("reason":"conflict")", got.text);
  expect_in(R"("is_last":true)", ask(ask_for("", to_text(k_last))).text);
  const answered text = ask(ask_for("", to_text(k_last), false));
  expect_in("  aggregate       p1: this event was handled last\n", text.text);
  expect_in("  window          inside: applied, or superseded", text.text);
}

TEST_F(explain, an_event_before_the_floor_is_said_to_be_though_its_row_still_lies_on_disk) {
  const answered got = ask(ask_for("", to_text(k_old)));
  ASSERT_FALSE(got.failed) << "its aggregate is known";
  expect_in(R"("window":"before_floor","aggregates":[{"aggregate":"p2",)", got.text);
}

TEST_F(explain, an_aggregate_is_known_where_nothing_but_a_decision_about_it_is_left) {
  content_.audits.push_back(
      {9, k_floor, "waiting_discarded", "payments", "aggregate `p77`: event 1, dead, was discarded"});
  const answered text = ask(ask_for("p77", {}, false));
  EXPECT_FALSE(text.failed);
  expect_in("stream payments, aggregate p77\n", text.text);
  expect_in("  last handled    nothing: no event was applied\n", text.text);
  expect_in("aggregate `p77`: event 1, dead, was discarded", text.text);
  expect_in(R"("known":true)", ask(ask_for("p77")).text);
  EXPECT_TRUE(ask(ask_for("p7")).failed) << "rows of the whole stream are not about it";
}

TEST_F(explain, what_is_not_known_ends_with_1_and_says_what_that_means) {
  const auto expect_unknown = [&](const read_request& request, const std::string& why,
                                  const std::string& window) {
    const answered got = ask(request);
    ASSERT_TRUE(got.failed);
    EXPECT_EQ(exit_code(got.failed->code), 1);
    expect_in(why, got.failed->message);
    EXPECT_FALSE(got.failed->hint.empty());
    expect_in(R"("known":false)", got.text);
    if (!window.empty()) expect_in("\"window\":\"" + window + "\"", got.text);
  };
  expect_unknown(ask_for("p3"), "no event of it was ever applied", "");
  expect_unknown(ask_for("", to_text(id_at(-5, 0x8000000000000005))),
                 "lies before the window's floor, 2026-01-01T12:00:00.000Z", "before_floor");
  expect_unknown(ask_for("", to_text(id_at(5, 0x8000000000000005))),
                 "no event with this id was applied, none waits, and the window reaches back to", "not_seen");
  read_request of_new_stream = ask_for("p1");
  of_new_stream.stream = "not-yet";
  expect_unknown(of_new_stream, "no event of it was ever applied", "");
  EXPECT_EQ(ask(ask_for("p3", "", false)).text, "") << "as text the message alone says it";
  content_.streams[0].meaning = {{"dedup.ids", "none"}};
  content_.streams[0].ids.clear();
  expect_unknown(ask_for("", to_text(k_last)), "this stream keeps no event ids", "off");
}

TEST_F(explain, what_cannot_be_an_id_and_a_stream_that_is_not_there_are_usage_errors) {
  for (const char* text :
       {"p1", "0190f3a1-7b2c-4000-8000-000000000001", "{0190f3a1-7b2c-7000-8000-000000000001}"}) {
    const answered got = ask(ask_for("", text));
    ASSERT_TRUE(got.failed) << text;
    EXPECT_EQ(exit_code(got.failed->code), 64);
    expect_in("is not an event id: UUIDv7 are 36 characters", got.failed->message);
    EXPECT_EQ(got.text, "");
  }
  read_request nowhere = ask_for("p1");
  nowhere.stream = "none";
  EXPECT_EQ(exit_code(ask(nowhere).failed->code), 64);
}

/// Audit rows are kept for ever.
TEST_F(explain, reads_audit_rows_while_they_are_wanted_and_holds_one_piece_of_them) {
  content_.endless_audits = 1'000'000;
  for (const bool json : {true, false}) {
    for (const char* kind : {"made_up", "gap_skipped"}) {
      content_.endless_kind = kind;
      for (const read_request& request : {ask_for("p1", {}, json), ask_for({}, to_text(k_inside), json),
                                          ask_for("nothing is known of it", {}, json)}) {
        const fake_view view{content_, 9};
        const std::vector<std::string> streams{"payments"};
        content_.rows_read = 0;
        std::size_t asked = 0;
        std::size_t largest = 0;
        (void)answer_request({view, streams, nullptr}, request, [&](std::string_view piece) {
          largest = std::max(largest, piece.size());
          return ++asked < 500;
        });
        EXPECT_LT(largest, std::size_t{80} << 10U);
        EXPECT_LE(asked, 1'000U) << "of a long run that is not of it, nobody would hear";
        // Of rows that belong to it each piece has a few hundred.
        EXPECT_LT(content_.rows_read, kind == std::string{"made_up"} ? 200'000U : 2'000U);
      }
    }
  }
}

TEST_F(explain, an_event_has_the_audit_rows_of_aggregates_that_only_a_rejected_record_names) {
  content_.streams[0].rejected.push_back(rejected(reject_reason::conflict, "p7", "{}"));
  content_.streams[0].rejected.back().id = k_inside;
  content_.streams[0].rejected.back().offset = 18;
  content_.audits.push_back({9, k_floor, "gap_skipped", "payments", "aggregate `p7`: number 5"});
  const answered found = ask(ask_for({}, to_text(k_inside)));
  expect_in("aggregate `p7`: number 5", found.text);
  EXPECT_EQ(found.text.find("aggregate `p10`: number 5"), std::string::npos);
}

TEST_F(explain, is_asked_in_words_that_are_read_back) {
  for (const read_request& request : {ask_for("p1"), ask_for("", to_text(k_last), false), ask_for("event")}) {
    EXPECT_EQ(*parse_words(to_words(request)), request);
  }
  const std::vector<std::string> wrong{"explain", "payments", "sequence", "7", "json"};
  EXPECT_FALSE(parse_words(wrong));
}

waiting_event parked(std::uint64_t number) {
  waiting_event event;
  event.head.sequence = seq(number);
  event.first_seen = k_floor;
  event.record.where = {"t", partition_id{1}};
  event.record.offset = 30;
  return event;
}

TEST_F(explain, an_aggregate_tells_what_waits_of_it_and_which_numbers_are_missing) {
  auto& stream = content_.streams[0];
  stream.meaning = {{"order", "strict"}, {"first", "1"}, {"epoch_change", "park"}, {"dedup.ids", "uuidv7"}};
  for (const std::uint64_t number : {10U, 11U}) stream.waiting[{"p1", seq(number)}] = parked(number);
  backlog& b = stream.backlogs["p1"];
  b.parked = 2;
  b.highest = seq(11);
  b.gap_since = k_floor;
  b.skipped = {{seq(4), seq(5)}, {seq(6), seq(6)}};
  const answered got = ask(ask_for("p1"));
  ASSERT_FALSE(got.failed);
  expect_in(
      R"("event_in_window":true},"backlog":{"parked":2,"retrying":0,"dead":0,"highest":11,"held":false,)"
      R"("missing":{"first":8,"last":9},"gap_since":"2026-01-01T12:00:00.000Z","next_try":null,)"
      R"("skipped":[{"first":4,"last":5},{"first":6,"last":6}]}}],"waiting":[{"stream":"payments",)"
      R"("aggregate":"p1","sequence":10,"event_id":null,"state":"parked","reason":"gap",)"
      R"("missing":{"first":8,"last":9},)",
      got.text);
  expect_in(R"("sequence":11,"event_id":null,"state":"parked","reason":"behind",)", got.text);
  expect_in(R"("more_waiting":false)", got.text);
  const answered text = ask(ask_for("p1", "", false));
  expect_in(
      "\n  waiting         2 events: 2 parked, 0 retrying, 0 dead; 8 to 9 are missing since "
      "2026-01-01T12:00:00.000Z of stream time\n  skipped         4 to 5\n  skipped         6\n",
      text.text);
  expect_in("\n  waiting events:\n    p1/10  parked  gap: 8 to 9 are missing  since ", text.text);
  expect_in("  window          inside: applied; ", ask(ask_for("", to_text(k_inside), false)).text);
}

TEST_F(explain, an_aggregate_of_which_nothing_was_applied_is_known_where_events_of_it_wait) {
  auto& stream = content_.streams[0];
  stream.meaning = {{"order", "strict"}, {"first", "1"}};
  for (std::uint64_t number = 3; number < 30; ++number) stream.waiting[{"p7", seq(number)}] = parked(number);
  stream.backlogs["p7"].parked = 27;
  stream.backlogs["p7"].held = true;
  const answered got = ask(ask_for("p7"));
  ASSERT_FALSE(got.failed);
  expect_in(R"("known":true)", got.text);
  expect_in(
      R"("aggregates":[{"aggregate":"p7","last_handled":null,"backlog":{"parked":0,"retrying":0,"dead":27,)",
      got.text);
  expect_in(R"("sequence":22,"event_id":null,"state":"dead","reason":"limit",)", got.text);
  EXPECT_EQ(got.text.find(R"("sequence":23)"), std::string::npos) << "no more than 20";
  expect_in(R"("more_waiting":true)", got.text);
  const answered text = ask(ask_for("p7", "", false));
  expect_in("  last handled    nothing: no event was applied\n  waiting         27 events, held: ",
            text.text);
  expect_in("    and more: `ratchet waiting list payments` lists them all\n", text.text);
}

TEST_F(explain, an_event_that_waits_is_found_by_its_id) {
  auto& stream = content_.streams[0];
  stream.meaning = {{"order", "strict"}, {"first", "1"}};
  const event_id id = id_at(7'000);
  stream.waiting[{"p7", seq(3)}] = parked(3);
  stream.waiting[{"p7", seq(3)}].head.id = id;
  stream.waiting[{"p8", seq(3)}] = parked(3);
  stream.backlogs["p7"].parked = 1;
  stream.backlogs["p8"].parked = 1;
  const answered got = ask(ask_for("", to_text(id)));
  ASSERT_FALSE(got.failed);
  expect_in(R"("known":true)", got.text);
  expect_in(R"("window":"not_seen","aggregates":[],)", got.text);
  expect_in(R"("waiting":[{"stream":"payments","aggregate":"p7","sequence":3,)", got.text);
  EXPECT_EQ(got.text.find("p8"), std::string::npos);
}

TEST(mentions, finds_whole_words_alone) {
  EXPECT_TRUE(mentions("p1", "p1", false));
  EXPECT_TRUE(mentions(R"({"p10":"p1"})", "p1", false));
  EXPECT_TRUE(mentions("xp1 p1", "p1", false));
  EXPECT_FALSE(mentions("p10", "p1", false));
  EXPECT_FALSE(mentions("p1-2", "p1", false));
  EXPECT_FALSE(mentions("xp1", "p1", false));
  EXPECT_FALSE(mentions("P1", "p1", false));
  EXPECT_TRUE(mentions("P1", "p1", true));
  EXPECT_FALSE(mentions("anything", "", false));
  EXPECT_FALSE(mentions("", "p1", false));
}

}  // namespace
}  // namespace ratchet
