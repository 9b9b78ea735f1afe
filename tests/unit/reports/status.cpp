// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "control/requests.hpp"
#include "decode/json_grammar.hpp"
#include "reports/status_report.hpp"
#include "support/control_fake_store.hpp"
#include "support/noon.hpp"

namespace ratchet {
namespace {

using namespace std::chrono_literals;
using testing::fake_content;
using testing::fake_view;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::row_of;

using testing::k_noon;

counters some_counters() {
  counters c;
  c.applied = 80;
  c.superseded = 2;
  c.duplicate = 10;
  c.stale = 5;
  c.rejected_malformed = 2;
  c.rejected_conflict = 1;
  c.consumed = 100;
  c.ids_ahead = 4;
  c.times_passed_over = 5;
  c.times_behind = 7;
  c.forgotten = 6;
  return c;
}

stream_report some_stream() {
  stream_report stream;
  stream.name = "payments";
  stream.state.counters = some_counters();
  stream.state.floor = k_noon;
  stream.state.partitions[{"t", partition_id{0}}].next_offset = 60;
  stream.state.partitions[{"t", partition_id{1}}].next_offset = 40;
  return stream;
}

rejected_row some_rejected(std::optional<std::string> value) {
  rejected_row row;
  row.at = timestamp{std::chrono::seconds{1'767'270'600}};
  row.where = {"t", partition_id{1}};
  row.offset = 17;
  row.step = 3;
  row.reason = reject_reason::malformed;
  row.detail = "missing_field";
  row.pointer = "/payment/id";
  row.byte_offset = 12;
  row.record_time = k_noon;
  row.key = "k";
  row.value = std::move(value);
  return row;
}

status_report report_with(stream_report stream, report_source source = report_source::directory) {
  status_report report;
  report.source = source;
  report.streams.push_back(std::move(stream));
  return report;
}

template <class Row>
row_walk<Row> walk_through(std::vector<Row> rows) {
  return [rows = std::move(rows)](const visit_row<Row>& visit) -> result<void> {
    for (const Row& row : rows) {
      if (!visit(&row)) break;
    }
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  };
}

void expect_json(const std::string& line) {
  EXPECT_EQ(json::check_json(line).reason, malformed_reason::none) << line;
  EXPECT_EQ(line.find('\n'), line.size() - 1) << "one line, ended by a line feed";
}

TEST(status_json, has_the_counters_the_floor_and_the_partitions_of_each_stream) {
  const std::string json = status_json(report_with(some_stream()));
  expect_json(json);
  EXPECT_EQ(
      json,
      R"({"running":false,"streams":{"payments":{"consumed":100,)"
      R"("verdicts":{"applied":80,"superseded":2,"duplicate":10,"stale":5,"rejected":3,"ignored":0,)"
      R"("skipped":0,"discarded":0},)"
      R"("rejected":{"malformed":2,"conflict":1,"too_old":0,"late":0,"id_reused":0,"below_first":0,"sequence_mixed":0},)"
      R"("waiting":{"parked":0,"retrying":0,"dead":0},"waiting_bytes":0,"ids_ahead":4,"times_passed_over":5,"times_behind":7,"forgotten":6,"oldest_gap":null,)"
      R"("floor":"2026-01-01T12:00:00.000Z",)"
      R"("partitions":[{"topic":"t","partition":0,"next_offset":60,"committed":null,"lag":null},)"
      R"({"topic":"t","partition":1,"next_offset":40,"committed":null,"lag":null}]}}})"
      "\n");
}

TEST(status_json, of_a_run_is_the_streams_alone_with_the_runs_own_counters) {
  stream_state before;
  before.counters.applied = 50;
  before.counters.consumed = 60;
  before.counters.duplicate = 10;
  const stream_report run = report_of_run("payments", before, some_stream().state);
  const std::string json = status_json(report_with(run, report_source::run));
  expect_json(json);
  EXPECT_TRUE(json.starts_with(R"({"streams":{"payments":{"consumed":40,"verdicts":{"applied":30,)")) << json;
  EXPECT_NE(json.find(R"("duplicate":0)"), std::string::npos);
}

TEST(status_json, of_a_run_has_what_waits_at_its_end) {
  stream_state before;
  before.counters.waiting_parked = 3;
  before.counters.waiting_retrying = 2;
  before.counters.waiting_bytes = 5000;
  stream_state after;
  after.counters.waiting_parked = 1;
  after.counters.waiting_dead = 1;
  after.counters.waiting_bytes = 700;
  const std::string json =
      status_json(report_with(report_of_run("payments", before, after), report_source::run));
  EXPECT_NE(json.find(R"("waiting":{"parked":1,"retrying":0,"dead":1},"waiting_bytes":700,)"),
            std::string::npos)
      << "it applied what an earlier one parked: " << json;
  EXPECT_EQ(json.find("oldest_gap"), std::string::npos) << "nobody looked it up";
}

stream_report with_a_gap() {
  stream_report stream = some_stream();
  stream.state.counters.waiting_parked = 2;
  stream.state.counters.waiting_dead = 1;
  stream.state.counters.waiting_bytes = 4096;
  stream.state.partitions[{"t", partition_id{0}}].highest_time = k_noon + 2h;
  stream.state.partitions[{"t", partition_id{1}}].highest_time = k_noon + 90min;
  stream.oldest_gap = gap_report{"p1", k_noon, sequence_range{seq(6), seq(7)}};
  return stream;
}

TEST(status, tells_the_oldest_gap_by_stream_time) {
  status_report report = report_with(with_a_gap());
  EXPECT_NE(status_json(report).find(R"("oldest_gap":{"aggregate":"p1","since":"2026-01-01T12:00:00.000Z",)"
                                     R"("age_ms":5400000,"missing":{"first":6,"last":7}})"),
            std::string::npos)
      << status_json(report);
  expect_json(status_json(report));
  EXPECT_NE(status_text(report).find(
                "  waiting                   3   2 parked, 1 dead; 4096 bytes\n"
                "  -> dead events wait for your decision: `ratchet waiting list --state-is dead`\n"
                "  ids ahead                 4   "),
            std::string::npos)
      << status_text(report);
  EXPECT_NE(
      status_text(report).find("\n  oldest gap     p1: 6 to 7 are missing, for 1h 30m of stream time\n"),
      std::string::npos)
      << status_text(report);
  report.streams[0].oldest_gap->missing.reset();
  report.streams[0].oldest_gap->since = k_noon + 3h;
  EXPECT_NE(status_json(report).find(R"("age_ms":0,"missing":null})"), std::string::npos);
  EXPECT_NE(status_text(report).find("p1: earlier events are missing, for 0ms of stream time"),
            std::string::npos);
}

TEST(status, says_why_a_gap_has_no_age) {
  stream_report stream = with_a_gap();
  stream.state.floor.reset();
  EXPECT_NE(status_text(report_with(stream))
                .find("p1: 6 to 7 are missing; it has no age yet, because too few records agree on the "
                      "stream's time; until then no `gap.policy` skips it or stops the stream\n"),
            std::string::npos);
}

TEST(status, tells_in_how_many_events_a_field_was_found) {
  stream_report stream = some_stream();
  stream.fields = live_fields{};
  stream.fields->events = 152;
  stream.fields->fields = {
      {"event_id", "/id", 152}, {"aggregate", "key", 152}, {"time", "/t", 3}, {"type", "/kind", 0}};
  EXPECT_NE(status_text(report_with(stream))
                .find("\n  of 152 events since the start (deletions, ignored and malformed records left out) "
                      "all have event_id, aggregate; 3 have time; none has "
                      "type (/kind)\n"),
            std::string::npos)
      << status_text(report_with(stream));
}

TEST(status_json, has_null_for_a_floor_that_is_not_known) {
  stream_report stream = some_stream();
  stream.state.floor.reset();
  EXPECT_NE(status_json(report_with(stream)).find(R"("floor":null)"), std::string::npos);
}

TEST(status_json, shows_no_lag_below_zero_and_partitions_that_were_only_assigned) {
  stream_report stream = some_stream();
  stream.live[{"t", partition_id{0}}].assigned = true;
  stream.live[{"t", partition_id{0}}].log_end = 50;  // seen before the view's offsets were
  stream.live[{"t", partition_id{2}}] = {true, std::nullopt, 9, std::nullopt};
  const std::string json = status_json(report_with(stream));
  EXPECT_NE(json.find(R"("partition":0,"next_offset":60,"committed":null,"lag":0,)"), std::string::npos)
      << json;
  stream.live[{"t", partition_id{0}}] = {false, std::nullopt, 60, std::nullopt};
  EXPECT_NE(status_json(report_with(stream)).find(R"("next_offset":60,"committed":null,"lag":null,)"),
            std::string::npos)
      << "another one reads it, and its log may have grown";
  EXPECT_NE(json.find(R"("partition":2,"next_offset":null,"committed":null,"lag":null,"assigned":true})"),
            std::string::npos)
      << json;
}

TEST(status_json, leaves_out_the_partition_that_plain_files_stand_for) {
  stream_report stream = some_stream();
  stream.state.partitions.clear();
  stream.state.partitions[{"", partition_id{0}}].next_offset = 5;
  EXPECT_NE(status_json(report_with(stream)).find(R"("partitions":[])"), std::string::npos);
}

TEST(status_json, lists_rejected_records_with_reason_place_and_bytes) {
  status_report report = report_with(some_stream());
  std::vector<rejected_row> rows{some_rejected("{\"a\":\n"), some_rejected("\xFF\x01"),
                                 some_rejected(std::nullopt)};
  rows[2].where = {};
  rows[2].offset = -1;
  rows[2].pointer.clear();
  rows[2].truncated = true;
  report.streams[0].rejected = walk_through(rows);
  const std::string json = status_json(report);
  expect_json(json);
  EXPECT_NE(
      json.find(R"({"topic":"t","partition":1,"offset":17,"step":3,)"
                R"("rejected_at":"2026-01-01T12:30:00.000Z","reason":"malformed",)"
                R"("detail":"missing_field","aggregate":null,"pointer":"/payment/id","byte_offset":12,)"
                R"("time":"2026-01-01T12:00:00.000Z","key":"k","value":"{\"a\":\n","truncated":false})"),
      std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("value_base64":"/wE=")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"({"topic":null,"partition":null,"offset":null,"content_hash":"ffffffffffffffff",)"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("pointer":null)"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("value":null,"truncated":true)"), std::string::npos) << json;
}

TEST(status_json, lists_audit_rows) {
  status_report report = report_with(some_stream());
  report.audits = walk_through<audit_row>({{7, k_noon, "offsets_skipped", "payments", "t/3 5 to 9",
                                            topic_partition{"t", partition_id{3}}, offset_range{5, 9}},
                                           {8, k_noon, "resumed", "", "at 9"}});
  const std::string json = status_json(report);
  expect_json(json);
  EXPECT_NE(json.find(R"("audit":[{"step":7,"time":"2026-01-01T12:00:00.000Z","kind":"offsets_skipped",)"
                      R"("stream":"payments","topic":"t","partition":3,"not_handled":{"from":5,"to":9},)"
                      R"("text":"t/3 5 to 9"},{"step":8,)"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("stream":null,"topic":null,"partition":null,"not_handled":null,"text":"at 9"})"),
            std::string::npos)
      << json;
  EXPECT_NE(status_text(report).find("audit:\n  2026-01-01T12:00:00.000Z  step 7  offsets_skipped  payments  "
                                     "t/3 5 to 9\n"),
            std::string::npos);
}

TEST(status_json, names_the_aggregate_of_a_record_that_was_decoded_and_no_place_in_its_bytes) {
  status_report report = report_with(some_stream());
  rejected_row row = some_rejected("{}");
  row.reason = reject_reason::conflict;
  row.detail = "p1";
  row.pointer.clear();
  row.byte_offset = 0;
  report.streams[0].rejected = walk_through<rejected_row>({row});
  EXPECT_NE(status_json(report).find(
                R"("reason":"conflict","detail":null,"aggregate":"p1","pointer":null,"byte_offset":null,)"),
            std::string::npos)
      << status_json(report);
  EXPECT_NE(status_text(report).find("    t/1@17  conflict of p1  key"), std::string::npos)
      << status_text(report);
}

TEST(status_json, says_of_which_store_a_copy_is_and_at_which_step) {
  status_report report = report_with(some_stream());
  report.store = store_identity{"u-1", "g", "c", 3, {}};
  report.step = 9;
  EXPECT_TRUE(status_json(report).starts_with(
      R"({"running":false,"store":"u-1","step":9,"copy":null,"outbox":{"messages":0,"bytes":0},"streams":)"))
      << status_json(report);
  report.store->copy = copy_mark{7, k_noon, true};
  EXPECT_NE(
      status_json(report).find(
          R"("copy":{"of":"u-1","step":7,"taken_at":"2026-01-01T12:00:00.000Z"},"outbox":{"messages":0,"bytes":0},"streams":)"),
      std::string::npos)
      << status_json(report);
  EXPECT_NE(status_text(report).find(
                "a checkpoint of the store u-1, of its step 7, taken at 2026-01-01T12:00:00.000Z\n"),
            std::string::npos);
}

TEST(status, says_why_messages_wait_where_they_do_not_get_through) {
  status_report report = report_with(some_stream(), report_source::instance);
  report.store = store_identity{"u-1", "g", "c", 3, {}};
  report.outbox.first = 3;
  report.outbox.next = 5;
  report.outbox.bytes = 77;
  report.live.outbox_trouble = "the topic `t` takes no messages: gone";
  EXPECT_NE(status_json(report).find(
                R"("outbox":{"messages":2,"bytes":77,"trouble":"the topic `t` takes no messages: gone"})"),
            std::string::npos)
      << status_json(report);
  EXPECT_NE(status_text(report).find(
                "outbox: 2 messages not sent yet; 77 bytes: the topic `t` takes no messages: gone\n"),
            std::string::npos)
      << status_text(report);
}

TEST(status_text, shows_counters_reasons_and_a_table_of_partitions) {
  stream_report stream = some_stream();
  stream.live[{"t", partition_id{0}}] = {true, 55, 70, "poisoned: 100 malformed records in a row"};
  status_report report = report_with(stream, report_source::instance);
  report.live.ready_reason = "a partition is stopped";
  report.live.started_at = k_noon;
  EXPECT_EQ(status_text(report),
            "NOT READY: a partition is stopped; running since 2026-01-01T12:00:00.000Z\n"
            "stream payments, window floor 2026-01-01T12:00:00.000Z\n"
            "  consumed                100\n"
            "  applied                  80\n"
            "  superseded                2\n"
            "  duplicate                10\n"
            "  stale                     5\n"
            "  rejected                  3   2 malformed, 1 conflict\n"
            "  waiting                   0\n"
            "  ids ahead                 4   event ids from the future, filed at their time\n"
            "  times ahead               5   record times far ahead of their neighbours'; they moved neither "
            "window "
            "nor gaps\n"
            "  times behind              7   record times older than the window of their partition: old "
            "records, or wrong clocks moved it\n"
            "  forgotten                 6   aggregates whose retention is over\n"
            "  partition    next offset      committed            lag\n"
            "  t/0                   60             55             10"
            "   stopped: poisoned: 100 malformed records in a row\n"
            "  t/1                   40              -              -\n");
}

TEST(status, says_where_a_partition_waits_for_a_transaction_to_end) {
  stream_report stream = some_stream();
  live_partition live;
  live.assigned = true;
  live.log_end = 70;
  live.held_back = 60;
  stream.live[{"t", partition_id{0}}] = live;
  const status_report report = report_with(stream, report_source::instance);
  EXPECT_THAT(status_text(report),
              HasSubstr("   waits for the transaction that began at offset 60 to end\n"));
  EXPECT_THAT(status_json(report), HasSubstr(R"("transaction_open_at":60)"));
  stream.live[{"t", partition_id{0}}].held_back.reset();
  EXPECT_THAT(status_json(report_with(stream, report_source::instance)),
              Not(HasSubstr("transaction_open_at")));
}

TEST(status_text, says_where_every_event_was_rejected) {
  stream_report stream = some_stream();
  EXPECT_EQ(status_text(report_with(stream)).find("every event was rejected"), std::string::npos);
  stream.state.counters = {};
  EXPECT_EQ(status_text(report_with(stream)).find("every event was rejected"), std::string::npos);
  stream.state.counters.consumed = 3;
  stream.state.counters.rejected_malformed = 2;
  stream.state.counters.rejected_conflict = 1;
  EXPECT_NE(status_text(report_with(stream))
                .find("every event was rejected: most "
                      "likely the config does not fit; see `ratchet status"),
            std::string::npos)
      << status_text(report_with(stream));
}

TEST(status_text, says_where_times_are_of_another_unit) {
  status_report report;
  stream_report& of = report.streams.emplace_back();
  of.name = "payments";
  of.state.partitions[{"t", partition_id{0}}].highest_time = k_noon;
  EXPECT_THAT(status_text(report), Not(HasSubstr("times")));
  of.state.partitions[{"t", partition_id{1}}].leaps = {{k_noon, 1}};
  EXPECT_THAT(status_text(report), Not(HasSubstr("times"))) << "it begins";
  of.state.partitions[{"t", partition_id{0}}].leaps = {{k_noon + 1h, 3}, {k_noon + 2h, 4}};
  EXPECT_THAT(status_text(report), HasSubstr("  times in doubt              2   records with a time far "
                                             "ahead of those before them; window and gaps"));
  of.state.partitions[{"t", partition_id{0}}].highest_time = timestamp{std::chrono::seconds{1714557}};
  EXPECT_THAT(status_text(report), HasSubstr("the records' times are of 1970-01-20: if they are seconds"));
}

TEST(status_text, lists_rejected_records_on_one_line_each_and_cuts_long_ones) {
  status_report report = report_with(some_stream());
  report.streams[0].rejected =
      walk_through<rejected_row>({some_rejected("a\nb"), some_rejected(std::string(1000, 'x'))});
  const std::string text = status_text(report);
  EXPECT_NE(
      text.find("    t/1@17  malformed missing_field at /payment/id, byte 12  key \"k\"  value \"a\\nb\"\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("xxx ...\n"), std::string::npos);
  EXPECT_EQ(text.find(std::string(500, 'x')), std::string::npos);
}

/// The whole answer, or "error: " and the message.
std::string answer(const fake_content& content, const read_request& request,
                   const std::vector<std::string>& streams = {}) {
  const fake_view view{content, 1};
  std::string bytes;
  const auto done = answer_request({view, streams, nullptr}, request, [&](std::string_view piece) {
    bytes += piece;
    return true;
  });
  return done ? bytes : "error: " + done.error().message;
}

fake_content some_content() {
  fake_content content;
  content.streams.resize(1);
  content.streams[0].name = "payments";
  auto& rows = content.streams[0].rows;
  aggregate_row full = row_of(seq(2, 5), "{\n \"a\":\t\"\\n\"\r\n}");
  full.id = event_id{0x0190'0000'0000'7000, 0x8000'0000'0000'0001};
  full.time = k_noon;
  rows.emplace("b", full);
  rows.emplace("a\n", row_of(seq(1), "\xFFtext"));
  aggregate_row gone = row_of(seq(3), "");
  gone.deleted = true;
  rows.emplace("c", gone);
  return content;
}

read_request request_of(read_request::kind_of kind, std::string aggregate = {}, bool as_json = false) {
  read_request request;
  request.kind = kind;
  request.stream = "payments";
  request.aggregate = std::move(aggregate);
  request.json = as_json;
  return request;
}

TEST(reading, get_prints_the_very_bytes_and_as_json_the_row_around_them) {
  const auto content = some_content();
  EXPECT_EQ(answer(content, request_of(read_request::kind_of::get, "b")), "{\n \"a\":\t\"\\n\"\r\n}");
  EXPECT_EQ(answer(content, request_of(read_request::kind_of::get, "b", true)),
            R"({"aggregate":"b","sequence":[2,5],"event_id":"01900000-0000-7000-8000-000000000001",)"
            R"("time":"2026-01-01T12:00:00.000Z","snapshot":)"
            "{\n \"a\":\t\"\\n\"\r\n}}\n");
}

TEST(reading, get_of_a_missing_or_deleted_aggregate_is_not_found) {
  const auto content = some_content();
  EXPECT_EQ(answer(content, request_of(read_request::kind_of::get, "z")),
            "error: no snapshot of \"z\" in stream \"payments\"");
  EXPECT_EQ(answer(content, request_of(read_request::kind_of::get, "c", true)),
            "error: no snapshot of \"c\" in stream \"payments\": it was deleted by a tombstone");
}

TEST(reading, scan_keeps_each_row_on_a_line_of_valid_json) {
  const auto content = some_content();
  const std::string rows = answer(content, request_of(read_request::kind_of::scan));
  EXPECT_EQ(rows,
            R"({"aggregate":"a\n","sequence":1,"event_id":null,"time":null,"snapshot_base64":"/3RleHQ="})"
            "\n"
            R"({"aggregate":"b","sequence":[2,5],"event_id":"01900000-0000-7000-8000-000000000001",)"
            R"("time":"2026-01-01T12:00:00.000Z","snapshot":{  "a":)"
            " \"\\n\"  }}\n");
}

TEST(reading, scan_shows_deleted_aggregates_only_when_asked) {
  const auto content = some_content();
  read_request request = request_of(read_request::kind_of::scan);
  EXPECT_EQ(answer(content, request).find(R"("aggregate":"c")"), std::string::npos);
  request.deleted = true;
  EXPECT_NE(answer(content, request)
                .find(R"({"aggregate":"c","sequence":3,"event_id":null,"time":null,"deleted":true})"),
            std::string::npos);
}

TEST(reading, a_stream_that_is_only_configured_is_empty_and_an_unknown_one_an_error) {
  const auto content = some_content();
  read_request request = request_of(read_request::kind_of::scan);
  request.stream = "refunds";
  EXPECT_EQ(answer(content, request, {"refunds"}), "");
  EXPECT_EQ(answer(content, request), "error: there is no stream \"refunds\"");
}

TEST(reading, status_lists_as_many_rejected_records_as_asked) {
  auto content = some_content();
  for (int i = 0; i < 5; ++i) content.streams[0].rejected.push_back(some_rejected("v" + std::to_string(i)));
  read_request request = request_of(read_request::kind_of::status, "", true);
  EXPECT_EQ(answer(content, request).find("rejected_records"), std::string::npos);
  request.rejected = 2;
  const std::string json = answer(content, request);
  EXPECT_NE(json.find("\"v1\""), std::string::npos);
  EXPECT_EQ(json.find("\"v2\""), std::string::npos);
}

/// How an asker that takes so many pieces, and no more, is answered.
struct asked_for_pieces {
  std::size_t pieces{0};
  std::size_t largest{0};
};
asked_for_pieces ask_for(std::size_t pieces, const fake_content& content, const read_request& request) {
  const fake_view view{content, 1};
  asked_for_pieces seen;
  EXPECT_TRUE(answer_request({view, {}, nullptr}, request, [&](std::string_view piece) {
    seen.largest = std::max(seen.largest, piece.size());
    if (!piece.empty()) ++seen.pieces;
    return seen.pieces < pieces;
  }));
  return seen;
}

TEST(reading, status_reads_rows_while_they_are_wanted_and_holds_one_piece_of_them) {
  constexpr std::size_t k_most_piece = std::size_t{80} << 10U;
  for (const bool json : {true, false}) {
    auto content = some_content();
    content.endless_audits = 1'000'000;
    read_request request = request_of(read_request::kind_of::status, "", json);
    request.audit = true;
    const asked_for_pieces of_audits = ask_for(3, content, request);
    EXPECT_EQ(of_audits.pieces, 3U);
    EXPECT_LT(of_audits.largest, k_most_piece);
    EXPECT_LT(content.rows_read, 1'000U);
    content.rows_read = 0;
    request.audit = false;
    request.rejected = 1'000;
    content.streams[0].rejected.assign(1'000, some_rejected(std::string(json ? 10'000 : 10, 'x')));
    const std::size_t pieces = json ? 3 : 1;
    EXPECT_EQ(ask_for(pieces, content, request).pieces, pieces);
    EXPECT_LT(content.rows_read, json ? 25U : 1'000U);
  }
}

TEST(reading, status_pages_through_audit_rows_by_their_steps) {
  auto content = some_content();
  for (const std::uint64_t step : {3U, 5U, 5U, 5U, 8U})
    content.audits.push_back({step, k_noon, "kind", "s", "row " + std::to_string(content.audits.size())});
  read_request request = request_of(read_request::kind_of::status, "", false);
  request.audit = true;
  const std::string all = answer(content, request);
  EXPECT_THAT(all, HasSubstr("row 4\n"));
  EXPECT_THAT(all, Not(HasSubstr("more are kept")));
  request.audit_limit = 2;
  const std::string first = answer(content, request);
  EXPECT_THAT(first, HasSubstr("row 3\nmore are kept: go on with `ratchet status --audit --after 5`\n"))
      << "with the rest of its step";
  EXPECT_THAT(first, Not(HasSubstr("row 4")));
  request.audit_after = 5;
  const std::string second = answer(content, request);
  EXPECT_THAT(second, HasSubstr("audit:\n  2026-01-01T12:00:00.000Z  step 8  kind  s  row 4\n"));
  EXPECT_THAT(second, Not(HasSubstr("more are kept")));
  request.json = true;
  const std::string json = answer(content, request);
  expect_json(json);
  EXPECT_THAT(json, HasSubstr(R"("audit":[{"step":8,)"));
  request.audit_after = 8;
  EXPECT_THAT(answer(content, request), HasSubstr(R"("audit":[]})"));
  request.stream.clear();  // a status is of all of them
  const auto read_back = parse_words(to_words(request));
  ASSERT_TRUE(read_back);
  EXPECT_EQ(read_back.value(), request);
}

TEST(instance_status, says_once_what_to_do_about_partitions_that_stopped_for_one_cause) {
  instance_status status{k_noon};
  const topic_partition zero{"t", partition_id{0}};
  const topic_partition one{"t", partition_id{1}};
  status.set_ready(true);
  status.set_assigned("s", std::vector{zero, one});
  status.set_stopped("s", zero, "t/0 at offset 3: stopped, as it fails\nmend it");
  status.set_stopped("s", one, "t/1 at offset 4: stopped, as it fails\nmend it");
  EXPECT_EQ(status.snapshot().ready_reason,
            "t/0 at offset 3: stopped, as it fails; t/1 at offset 4: stopped, as it fails; mend it");
  status_report report;
  report.source = report_source::instance;
  report.live = status.snapshot();
  stream_report& stream = report.streams.emplace_back();
  stream.name = "s";
  stream.live = report.live.streams.at("s");
  const std::string text = status_text(report);
  EXPECT_NE(text.find("   at offset 3: stopped, as it fails\n"), std::string::npos) << text;
  EXPECT_NE(text.find("   at offset 4: stopped, as it fails\n  -> mend it\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("mend it", text.find("  -> mend it") + 6), std::string::npos) << text;
}

}  // namespace
}  // namespace ratchet
