// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Which events that wait are listed, and how one is shown.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "control/requests.hpp"
#include "decode/json_grammar.hpp"
#include "reports/wait_explanation.hpp"
#include "support/control_fake_store.hpp"
#include "support/waiting_support.hpp"

namespace ratchet {
namespace {

using namespace std::chrono_literals;
using testing::fake_content;
using testing::fake_view;
using testing::head;
using testing::k_max;
using testing::k_noon;

waiting_event event(sequence s, waiting_state state, std::int64_t offset) {
  waiting_event e;
  e.head = head(s, state);
  e.type = "paid";
  e.time = k_noon + 1s * offset;
  e.first_seen = k_noon + 1min * offset;
  e.record.where = {"t", partition_id{3}};
  e.record.offset = offset;
  e.record.time = k_noon;
  e.record.value = R"({"payment": {"a":1}})";
  e.payload_begin = 12;
  e.payload_size = 7;
  return e;
}

/// p1: 5 was handled, 6 is missing, 7 and 8 wait. p2: 1 is tried again. p3: held. p4: nothing waits, but some
/// was skipped. A second stream: "dead letters", of latest order.
class waiting : public ::testing::Test {
 protected:
  waiting() {
    auto& payments = content_.streams.emplace_back();
    payments.name = "payments";
    payments.meaning = {{"order", "strict"}, {"first", "1"}, {"epoch_change", "park"}};
    payments.rows["p1"].last = seq(5);
    add(payments, "p1", event(seq(7), waiting_state::parked, 10));
    add(payments, "p1", event(seq(8), waiting_state::parked, 11));
    payments.waiting[{"p1", seq(7)}].head.id = event_id{0x019b79a3d4007000, 0x8000000000000001};
    auto retrying = event(seq(1), waiting_state::retrying, 12);
    retrying.attempts = 2;
    retrying.error = "the database\ntimed out";
    retrying.due = k_noon + 1h;
    retrying.last_attempt = k_noon + 30min;
    add(payments, "p2", retrying);
    add(payments, "p3", event(seq(1), waiting_state::retrying, 13));
    payments.waiting[{"p3", seq(1)}].due = k_noon + 2h;
    add(payments, "p3", event(seq(2), waiting_state::parked, 14));
    payments.backlogs["p3"].held = true;
    payments.backlogs["p4"].skipped = {{seq(2), seq(3)}};
    payments.backlogs["p1"].gap_since = k_noon;
    auto& letters = content_.streams.emplace_back();
    letters.name = "letters";
    letters.meaning = {{"order", "latest"}};
    auto dead = event(seq(2, 9), waiting_state::dead, 15);
    dead.attempts = 8;
    dead.error = "no";
    dead.record.where = {};
    dead.time.reset();
    dead.record.time.reset();
    add(letters, "a/b", dead);
  }
  static void add(testing::fake_stream& stream, const std::string& aggregate, const waiting_event& e) {
    stream.waiting[{aggregate, e.head.sequence}] = e;
    backlog& b = stream.backlogs[aggregate];
    b.highest = std::max(b.highest, e.head.sequence);
    ++(e.head.state == waiting_state::parked     ? b.parked
       : e.head.state == waiting_state::retrying ? b.retrying
                                                 : b.dead);
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
    return out;
  }
  /// "aggregate/sequence" of each line of JSON.
  std::vector<std::string> listed(const waiting_filter& filter, const char* stream = "payments") const {
    read_request request;
    request.kind = read_request::kind_of::waiting_list;
    request.stream = stream;
    request.json = true;
    request.waiting = filter;
    const answered got = ask(request);
    EXPECT_FALSE(got.failed);
    std::vector<std::string> found;
    for (std::size_t at = 0; at < got.text.size();) {
      const std::string line = got.text.substr(at, got.text.find('\n', at) - at);
      at += line.size() + 1;
      EXPECT_EQ(json::check_json(line).reason, malformed_reason::none) << line;
      const auto value = [&line](const std::string& key) {
        const std::size_t begin = line.find("\"" + key + "\":") + key.size() + 3;
        const std::size_t end = line.find(line[begin] == '[' ? "]," : ",", begin);
        return line.substr(begin, end - begin + (line[begin] == '[' ? 1 : 0));
      };
      const std::string aggregate = value("aggregate");
      found.push_back(aggregate.substr(1, aggregate.size() - 2) + "/" + value("sequence"));
    }
    return found;
  }
  using lines = std::vector<std::string>;
  static read_request list_of(std::string stream, bool json) {
    read_request request;
    request.kind = read_request::kind_of::waiting_list;
    request.stream = std::move(stream);
    request.json = json;
    return request;
  }
  static read_request show_of(std::string aggregate, sequence s, bool json) {
    read_request request;
    request.kind = read_request::kind_of::waiting_show;
    request.stream = "payments";
    request.aggregate = std::move(aggregate);
    request.sequence = s;
    request.json = json;
    return request;
  }

  fake_content content_;
};

TEST_F(waiting, list_has_one_object_a_line_in_order) {
  const answered got = ask(list_of("payments", true));
  ASSERT_FALSE(got.failed);
  const std::string first = got.text.substr(0, got.text.find('\n'));
  EXPECT_EQ(first, R"({"stream":"payments","aggregate":"p1","sequence":7,)"
                   R"("event_id":"019b79a3-d400-7000-8000-000000000001","state":"parked","reason":"gap",)"
                   R"("missing":{"first":6,"last":6},"error":null,"attempts":0,"due":null,)"
                   R"("time":"2026-01-01T12:00:10.000Z","first_seen":"2026-01-01T12:10:00.000Z",)"
                   R"("position":{"topic":"t","partition":3,"offset":10}})");
  EXPECT_EQ(listed({}), (lines{"p1/7", "p1/8", "p2/1", "p3/1", "p3/2"}));
  EXPECT_NE(got.text.find(R"("aggregate":"p2","sequence":1,"event_id":null,"state":"retrying",)"
                          R"("reason":"reducer","missing":null,"error":"the database\ntimed out",)"
                          R"("attempts":2,"due":"2026-01-01T13:00:00.000Z",)"),
            std::string::npos)
      << got.text;
  EXPECT_NE(got.text.find(R"("aggregate":"p3","sequence":1,"event_id":null,"state":"dead",)"
                          R"("reason":"reducer","missing":null,"error":null,"attempts":0,"due":null,)"),
            std::string::npos)
      << "what is held is not tried again: " << got.text;
}

TEST_F(waiting, list_without_a_stream_has_every_one_and_an_epoch_as_a_pair) {
  EXPECT_EQ(listed({}, ""), (lines{"p1/7", "p1/8", "p2/1", "p3/1", "p3/2", "a/b/[2,9]"}));
  const answered got = ask(list_of("letters", true));
  EXPECT_NE(got.text.find(R"("time":null,"first_seen":"2026-01-01T12:15:00.000Z","position":null})"),
            std::string::npos)
      << got.text;
}

TEST_F(waiting, list_has_those_that_fit_everything_that_is_given) {
  waiting_filter f;
  f.aggregate = "p1";
  EXPECT_EQ(listed(f), (lines{"p1/7", "p1/8"}));
  f.sequence = seq(8);
  EXPECT_EQ(listed(f), (lines{"p1/8"}));
  f.aggregate = "p2";
  EXPECT_EQ(listed(f), (lines{}));
  f = {};
  f.state = waiting_state::dead;
  EXPECT_EQ(listed(f), (lines{"p3/1", "p3/2"})) << "all of a held aggregate";
  f.state = waiting_state::retrying;
  EXPECT_EQ(listed(f), (lines{"p2/1"}));
  f = {};
  f.reason = "limit";
  EXPECT_EQ(listed(f), (lines{"p3/2"}));
  f.reason = "gap";
  EXPECT_EQ(listed(f), (lines{"p1/7"}));
  f.reason = "timed out";
  EXPECT_EQ(listed(f), (lines{"p2/1"})) << "a part of the error";
  f = {};
  f.seen_before = k_noon + 11min;
  EXPECT_EQ(listed(f), (lines{"p1/7", "p1/8"}));
  f = {};
  f.from = k_noon + 11s;
  f.to = k_noon + 13s;
  EXPECT_EQ(listed(f), (lines{"p1/8", "p2/1"}));
  EXPECT_EQ(listed(f, "letters"), (lines{})) << "it has no time";
}

TEST_F(waiting, list_goes_on_where_a_page_ended) {
  waiting_filter f;
  f.limit = 2;
  EXPECT_EQ(listed(f), (lines{"p1/7", "p1/8"}));
  f.after = {"p1", seq(8)};
  EXPECT_EQ(listed(f), (lines{"p2/1", "p3/1"}));
  f.after = {"p3", seq(1)};
  EXPECT_EQ(listed(f), (lines{"p3/2"}));
  f.after = {"p1", seq(7)};
  f.limit.reset();
  f.aggregate = "p1";
  EXPECT_EQ(listed(f), (lines{"p1/8"}));
  f.reason = "behind";
  EXPECT_EQ(listed(f), (lines{"p1/8"})) << "what lies before the page still counts";
  f = {};
  f.aggregate = "p3";
  f.after = {"p1", seq(7)};
  EXPECT_EQ(listed(f), (lines{"p3/1", "p3/2"}));
  f = {};
  f.limit = 6;
  EXPECT_EQ(listed(f, ""), (lines{"p1/7", "p1/8", "p2/1", "p3/1", "p3/2", "a/b/[2,9]"}));
  f.limit = 5;
  EXPECT_EQ(listed(f, "").size(), 5U) << "the limit is of all streams together";
}

TEST_F(waiting, list_for_people_has_a_line_each_and_says_how_to_go_on) {
  read_request request = list_of("", false);
  request.waiting.limit = 3;
  EXPECT_EQ(
      ask(request).text,
      "stream payments\n"
      "p1/7  parked  gap: 6 is missing  since 2026-01-01T12:10:00.000Z  event "
      "019b79a3-d400-7000-8000-000000000001  t/3@10\n"
      "p1/8  parked  behind  since 2026-01-01T12:11:00.000Z  t/3@11\n"
      "p2/1  retrying  reducer: the database\\x0atimed out  attempts 2  due 2026-01-01T13:00:00.000Z  since "
      "2026-01-01T12:12:00.000Z  t/3@12\n"
      "more wait: go on with payments --after p2/1\n");
  EXPECT_EQ(ask(list_of("letters", false)).text,
            "a/b/2:9  dead  reducer: no  attempts 8  since 2026-01-01T12:15:00.000Z\n");
  EXPECT_EQ(ask(list_of("not-yet", false)).text, "") << "the config knows it, and the store not yet";
}

TEST_F(waiting, list_of_a_stream_that_nobody_knows_is_refused) {
  const answered got = ask(list_of("payment", true));
  ASSERT_TRUE(got.failed);
  EXPECT_EQ(got.failed->code, errc::usage);
  EXPECT_NE(got.failed->hint.find("payments"), std::string::npos);
}

TEST_F(waiting, list_fails_where_an_event_has_no_backlog) {
  content_.streams[0].backlogs.erase("p2");
  const answered got = ask(list_of("payments", true));
  ASSERT_TRUE(got.failed);
  EXPECT_EQ(got.failed->code, errc::state_damaged);
}

TEST_F(waiting, list_ends_where_its_reader_has_gone) {
  for (std::uint64_t i = 0; i < 2000; ++i) {
    add(content_.streams[0], "p1", event(seq(100 + i), waiting_state::parked, 1));
  }
  const fake_view view{content_, 9};
  int pieces = 0;
  EXPECT_TRUE(answer_request({view, {}, nullptr}, list_of("", true), [&](std::string_view piece) {
    if (!piece.empty()) ++pieces;
    return piece.empty();
  }));
  EXPECT_EQ(pieces, 1) << "of several of 64 KiB";
}

TEST_F(waiting, show_has_the_records_bytes_and_the_reducers_input) {
  auto& shown = content_.streams[0].waiting[{"p2", seq(1)}];
  shown.record.key = "k";
  shown.record.headers = {{"h", "v"}, {"raw", "\xFF"}, {"none", std::nullopt}};
  const answered got = ask(show_of("p2", seq(1), true));
  ASSERT_FALSE(got.failed);
  EXPECT_EQ(json::check_json(got.text).reason, malformed_reason::none) << got.text;
  EXPECT_NE(
      got.text.find(R"("position":{"topic":"t","partition":3,"offset":12},"type":"paid","tombstone":false,)"
                    R"("last_attempt":"2026-01-01T12:30:00.000Z","record_time":"2026-01-01T12:00:00.000Z",)"
                    R"("key":"k","headers":[{"name":"h","value":"v"},{"name":"raw","value_base64":"/w=="},)"
                    R"({"name":"none","value":null}],"value":"{\"payment\": {\"a\":1}}","payload":{"a":1}})"
                    "\n"),
      std::string::npos)
      << got.text;
  shown.tombstone = true;
  EXPECT_NE(ask(show_of("p2", seq(1), true)).text.find(R"("payload":null})"), std::string::npos);
  shown.tombstone = false;
  shown.own_payload = "no json";
  EXPECT_NE(ask(show_of("p2", seq(1), true)).text.find(R"("payload_base64":"bm8ganNvbg=="})"),
            std::string::npos);
}

TEST_F(waiting, show_is_for_people_too) {
  const answered got = ask(show_of("p1", seq(7), false));
  EXPECT_EQ(got.text,
            "stream payments\n"
            "p1/7  parked  gap: 6 is missing  since 2026-01-01T12:10:00.000Z  event "
            "019b79a3-d400-7000-8000-000000000001  t/3@10\n"
            "  type            paid\n"
            "  time            2026-01-01T12:00:10.000Z\n"
            "  key             null\n"
            "  value           \"{\\\"payment\\\": {\\\"a\\\":1}}\"\n"
            "  payload         7 bytes: \"{\\\"a\\\":1}\"\n");
}

TEST_F(waiting, show_of_what_does_not_wait_says_so) {
  for (const auto& [aggregate, s] :
       {std::pair{"p1", seq(6)}, {"p1", seq(9)}, {"p4", seq(2)}, {"p9", seq(1)}}) {
    const answered got = ask(show_of(aggregate, s, true));
    ASSERT_TRUE(got.failed) << aggregate;
    EXPECT_EQ(got.failed->code, errc::not_found);
    EXPECT_EQ(got.text, "");
  }
  EXPECT_EQ(ask(show_of("p1", seq(6), true)).failed->message,
            "no event 6 of \"p1\" waits in stream \"payments\"");
}

TEST(waiting_requests, are_the_same_after_their_way_over_the_socket) {
  std::vector<read_request> requests(4);
  for (read_request& r : requests) r.kind = read_request::kind_of::waiting_list;
  waiting_filter& f = requests[1].waiting;
  requests[1].stream = "s";
  requests[1].json = true;
  f.aggregate = "a=b/\n";
  f.state = waiting_state::dead;
  f.reason = "x=y";
  f.seen_before = k_noon;
  f.from = timestamp{-1ms};
  f.to = k_noon + 1s;
  f.sequence = seq(3, 7);
  f.limit = 12;
  f.after = {"x/y/z", seq(k_max, 0)};
  requests[2].waiting.aggregate = "";
  requests[2].waiting.state = waiting_state::parked;
  requests[3].kind = read_request::kind_of::waiting_show;
  requests[3].stream = "s";
  requests[3].aggregate = "a";
  requests[3].sequence = seq(1, 2);
  for (const read_request& request : requests) {
    const auto parsed = parse_words(to_words(request));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed.value(), request);
  }
  using words = std::vector<std::string>;
  for (const words& bad :
       {words{"waiting_list"}, words{"waiting_list", "s"}, words{"waiting_list", "s", "xml"},
        words{"waiting_list", "s", "json", "limit"}, words{"waiting_list", "s", "json", "limit=x"},
        words{"waiting_list", "s", "json", "state=late"}, words{"waiting_list", "s", "json", "after=7"},
        words{"waiting_list", "s", "json", "after=x/p1"}, words{"waiting_list", "s", "json", "from=noon"},
        words{"waiting_list", "s", "json", "colour=red"}, words{"waiting_show", "s", "a", "x", "json"},
        words{"waiting_show", "s", "a", "1"}}) {
    const auto parsed = parse_words(bad);
    EXPECT_FALSE(parsed) << bad.size();
  }
}

}  // namespace
}  // namespace ratchet
