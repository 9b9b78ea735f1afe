// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What `ratchet sniff` makes of records: what it says of them, and that its config is one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sniff/value_form.hpp"
#include "unit/sniff/sniffed.hpp"

namespace ratchet::sniff {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(sniff, finds_the_fields_of_a_producers_own_events) {
  const std::string text = report(payments());
  const stream_config s = stream_in(text);
  EXPECT_EQ(s.envelope.format, envelope_format::json);
  EXPECT_EQ(s.envelope.aggregate, "/payment/id");
  EXPECT_EQ(s.envelope.event_id, "/id");
  EXPECT_EQ(s.envelope.sequence, "/sequence");
  EXPECT_EQ(s.envelope.type, "/type");
  EXPECT_EQ(s.envelope.time, "/occurred_at");
  EXPECT_EQ(s.order, order::latest);
  EXPECT_EQ(s.dedup.ids, id_kind::uuidv7);
  EXPECT_EQ(s.topics, std::vector<std::string>{"orders.v1"});
  EXPECT_THAT(text, HasSubstr("grows by 1 with each event of an aggregate"));
  EXPECT_THAT(text, HasSubstr("set order: strict"));
  EXPECT_THAT(text, HasSubstr("120 records looked at, of 1 partition, orders.v1[2]@40 to orders.v1[2]@159"));
}

TEST(sniff, tells_the_unit_of_times) {
  EXPECT_EQ(stream_in(report(payments("1767225"))).envelope.time_unit, time_unit::seconds);
  EXPECT_EQ(stream_in(report(payments("1767225600"))).envelope.time_unit, time_unit::milliseconds);
  EXPECT_EQ(stream_in(report(payments("1767225600000"))).envelope.time_unit, time_unit::microseconds);
}

TEST(sniff, points_to_a_clock_that_is_wrong) {
  std::vector<sniffed_record> records = payments();
  records[7].time = timestamp{std::chrono::milliseconds{1'798'761'600'000}};
  EXPECT_THAT(report(records), HasSubstr("1 time more than a month from the middle"));
}

TEST(sniff, goes_without_a_sequence_by_arrival) {
  std::vector<sniffed_record> records;
  for (int i = 0; i < 120; ++i)
    records.push_back(
        record_of("customer-" + std::to_string(i % 7), R"({"event_id":"evt_)" + std::to_string(i) + "\"}"));
  const std::string text = report(numbered(std::move(records)));
  const stream_config s = stream_in(text);
  EXPECT_EQ(s.order, order::arrival);
  EXPECT_EQ(s.envelope.aggregate, "key");
  EXPECT_EQ(s.envelope.event_id, "/event_id");
  EXPECT_EQ(s.dedup.ids, id_kind::opaque);
}

TEST(sniff, goes_without_ids_by_the_sequence) {
  std::vector<sniffed_record> records;
  for (int i = 0; i < 120; ++i)
    records.push_back(
        record_of("k" + std::to_string(i % 7), R"({"version":)" + std::to_string(i * 3) + R"(,"n":1})"));
  const stream_config s = stream_in(report(numbered(std::move(records))));
  EXPECT_EQ(s.order, order::latest);
  EXPECT_EQ(s.envelope.sequence, "/version");
  EXPECT_EQ(s.dedup.ids, id_kind::none);
}

TEST(sniff, knows_the_formats) {
  const auto format_of = [](const std::string& value, const std::string& key = R"({"id":1})",
                            std::vector<std::pair<std::string, std::optional<std::string>>> headers = {}) {
    std::vector<sniffed_record> records;
    for (int i = 0; i < 3; ++i) {
      records.push_back(record_of(key, value));
      records.back().headers = headers;
    }
    return stream_in(report(numbered(std::move(records)))).envelope;
  };
  EXPECT_EQ(format_of(R"({"specversion":"1.0","type":"t","source":"/s","id":"1","subject":"a"})").format,
            envelope_format::cloudevents);
  EXPECT_EQ(format_of("{}", "k", {{"ce_specversion", "1.0"}, {"ce_id", "1"}, {"ce_type", "t"}}).format,
            envelope_format::cloudevents);
  const std::string change = R"({"after":{"id":1},"source":{"connector":"postgresql","lsn":1},"op":"c"})";
  EXPECT_EQ(format_of(change).format, envelope_format::debezium_cdc);
  EXPECT_EQ(format_of(change).position, change_order::log);
  EXPECT_EQ(format_of(R"({"schema":{},"payload":)" + change + "}").format, envelope_format::debezium_cdc);
  EXPECT_EQ(format_of(R"({"after":{"id":1},"source":{"connector":"db2"},"op":"c"})").position,
            change_order::partition);
  EXPECT_EQ(format_of(R"({"id":1,"__deleted":"false"})").position, change_order::partition);
  EXPECT_EQ(format_of(R"({"id":1,"__deleted":"false","__lsn":5})").position, change_order::log);
  EXPECT_EQ(format_of(R"({"n":1})", "k", {{"id", uuid_of(1)}, {"eventType", "t"}}).format,
            envelope_format::debezium_outbox);
  EXPECT_EQ(format_of(R"({"key":[1],"update":{},"newImage":{"a":1},"ts":[1,2]})").format,
            envelope_format::ydb_changefeed);
  EXPECT_EQ(
      format_of(R"({"payload":{"op":"u","after":{},"source":{"connector":"ydb","step":1,"txId":2}}})").format,
      envelope_format::ydb_changefeed);
}

/// Events of an outbox that say what has changed; every fourth comes twice.
std::vector<sniffed_record> outbox_of_changes(bool with_version) {
  std::vector<sniffed_record> records;
  const auto add = [&](int i) {
    sniffed_record r = record_of("o-" + std::to_string(i % 7),
                                 i % 3 == 0 ? R"({"status":"PAID"})" : R"({"note":"as you like"})");
    r.time = timestamp{std::chrono::milliseconds{1'767'225'600'000 + i * 90'680}};
    r.headers = {{"id", uuid_of(i)}, {"eventType", "Changed"}};
    if (with_version) r.headers.emplace_back("version", std::to_string(i / 7 + 1));
    records.push_back(std::move(r));
  };
  for (int i = 0; i < 120; ++i) {
    add(i);
    if (i % 4 == 0) add(i);
  }
  return numbered(std::move(records));
}

TEST(sniff, folds_events_of_an_outbox_that_hold_parts_of_a_state) {
  const std::string text = report(outbox_of_changes(false));
  const stream_config s = stream_in(text);
  EXPECT_EQ(s.order, order::arrival);
  EXPECT_EQ(s.reducer.kind, reducer_config::kind_of::merge_patch);
  EXPECT_THAT(text, HasSubstr("/note stands in 100 records and not in all"));
  EXPECT_EQ(s.dedup.ids, id_kind::uuidv7) << "of some ids there are two records";
  EXPECT_THAT(text, HasSubstr("header:id (UUIDv7, 120 of 150 differ, so that 30 repeat one)"));
  EXPECT_THAT(text, HasSubstr(", over 2h"));
  EXPECT_THAT(text, Not(HasSubstr("`order: strict`")));
  EXPECT_THAT(text, HasSubstr("depends on the order in which they arrive"));
}

TEST(sniff, tells_of_a_column_that_orders_an_outbox) {
  auto records = outbox_of_changes(true);
  std::erase_if(records, [before = std::string{}](const sniffed_record& r) mutable {
    const bool again = r.headers.front().second == before;
    before = r.headers.front().second.value_or("");
    return again;
  });
  EXPECT_THAT(report(records), HasSubstr("header:version counts by 1 with each event of an aggregate: with "
                                         "`sequence: header:version` in the envelope `order: strict`"));
}

TEST(sniff, keeps_the_newest_of_whole_states_and_says_what_that_means) {
  std::vector<sniffed_record> records;
  for (int i = 0; i < 120; ++i)
    records.push_back(record_of("k" + std::to_string(i % 7), R"({"version":)" + std::to_string(i) +
                                                                 (i % 2 == 0 ? R"(,"gift":true})" : "}")));
  const std::string text = report(numbered(std::move(records)));
  const stream_config s = stream_in(text);
  EXPECT_EQ(s.order, order::latest);
  EXPECT_EQ(s.reducer.kind, reducer_config::kind_of::replace);
  EXPECT_THAT(text,
              HasSubstr("/gift stands in 60 records and not in all: replace keeps the newest record alone"));
}

TEST(sniff, takes_nothing_for_an_aggregate_that_is_the_same_in_all_records) {
  std::vector<sniffed_record> records;
  for (int i = 0; i < 120; ++i)
    records.push_back(record_of(std::nullopt, R"({"id":0,"row":")" + std::to_string(i % 7) + "\"}"));
  const std::string text = report(numbered(std::move(records)));
  EXPECT_EQ(text.find("aggregate: /id"), std::string::npos) << text;
}

TEST(sniff, lets_the_last_record_count_where_nothing_tells_events_apart) {
  std::vector<sniffed_record> records;
  for (int i = 0; i < 120; ++i)
    records.push_back(record_of(std::nullopt, R"({"id":"c)" + std::to_string(i % 4) + R"(","name":"x"})"));
  const stream_config s = stream_in(report(numbered(records)));
  EXPECT_EQ(s.envelope.sequence, "offset");
  EXPECT_EQ(s.order, order::latest);
  EXPECT_EQ(s.envelope.event_id, "") << "the id of the object is none of its events";
  const stream_config of_file = stream_in(report(numbered(std::move(records)), ""));
  EXPECT_EQ(of_file.envelope.event_id, "/the-id-of-the-event") << "lines of a file have no offsets";
}

TEST(sniff, compares_digits_of_cloudevents_as_numbers_and_tells_of_deletions) {
  std::vector<sniffed_record> records;
  for (int i = 0; i < 120; ++i)
    records.push_back(record_of(std::nullopt, R"({"specversion":"1.0","id":")" + std::to_string(i) +
                                                  R"(","source":"/s","type":"t","subject":"s)" +
                                                  std::to_string(i % 5) + R"(","sequence":")" +
                                                  std::to_string(i) + R"(","data":{}})"));
  EXPECT_EQ(stream_in(report(numbered(std::move(records)))).envelope.sequence_as, sequence_kind::integer);
  std::vector<sniffed_record> typed;
  for (int i = 0; i < 120; ++i)
    typed.push_back(record_of("k" + std::to_string(i % 7),
                              R"({"type":")" + std::string{i % 3 == 0 ? "row-deleted" : "row"} +
                                  R"(","version":)" + std::to_string(i) + "}"));
  EXPECT_THAT(report(numbered(std::move(typed))), HasSubstr("delete: {types: [row-deleted]}"));
}

TEST(sniff, says_what_its_own_config_would_reject) {
  config_share share;
  share.stream = "orders";
  EXPECT_EQ(words_of_trial(share), "");
  share.events = 40;
  share.rejected = 20;
  share.faults["missing_field at /id"] = {20, "orders[0]@3"};
  EXPECT_EQ(words_of_trial(share),
            "\n# This config rejects 20 of these 60 events; correct it first:\n"
            "#   20    missing_field at /id, first at orders[0]@3\n");
}

TEST(sniff, misses_the_keys_of_row_changes) {
  const std::string change = R"({"after":{"id":1},"source":{"connector":"postgresql","lsn":1},"op":"c"})";
  EXPECT_THAT(report(numbered({record_of(std::nullopt, change)})), HasSubstr("no record here has a key"));
  EXPECT_THAT(report(numbered({record_of("{}", change)})), Not(HasSubstr("no record here has a key")));
}

TEST(sniff, knows_ksuids) {
  std::vector<sniffed_record> records;
  for (int i = 0; i < 40; ++i)
    records.push_back(record_of("customer-" + std::to_string(i % 7),
                                R"({"token":"0ujtsYcgvSTl8PAuAdqWYSM)" + digits(i, 4) + "\"}"));
  for (sniffed_record& r : records) r.value->replace(2, 5, "msgId");
  const std::string text = report(numbered(std::move(records)));
  EXPECT_THAT(text, HasSubstr("KSUID, 40 different"));
  EXPECT_EQ(stream_in(text).envelope.event_id, "/msgId");
  EXPECT_EQ(stream_in(text).dedup.ids, id_kind::opaque);
}

TEST(sniff, says_of_row_changes_only_what_their_format_takes) {
  const std::string change = R"({"after":{"id":1},"source":{"connector":"postgresql","lsn":1},"op":"c"})";
  const std::string text = report(numbered({record_of(big_endian(5, 8), change), record_of("7x", change)}));
  EXPECT_THAT(text, HasSubstr("`key.converter` to JsonConverter"));
  EXPECT_THAT(text, Not(HasSubstr("take the aggregate from the value")));
  const std::string cockroach =
      R"({"after":{"id":1},"op":"c","source":{"origin":"cockroachdb","ts_hlc":"1745527444910044000.0000000000"}})";
  const stream_config s = stream_in(report(numbered({record_of("[1]", cockroach)})));
  EXPECT_EQ(s.envelope.format, envelope_format::json);
  EXPECT_EQ(s.envelope.sequence, "/source/ts_hlc");
  EXPECT_EQ(s.envelope.sequence_as, sequence_kind::hlc);
  const stream_config flink =
      stream_in(report(numbered({record_of("[1]", R"({"before":null,"after":{"id":1},"op":"c"})")})));
  EXPECT_EQ(flink.envelope.format, envelope_format::debezium_cdc);
  EXPECT_EQ(flink.envelope.position, change_order::partition);
}

TEST(sniff, takes_a_key_that_is_always_the_same_for_no_aggregate) {
  std::vector<sniffed_record> records = payments();
  for (sniffed_record& r : records) r.key = std::string{"\0\0\0\0\0\0\0\x05", 8};
  const std::string text = report(records);
  EXPECT_THAT(text, HasSubstr("integers of 8 bytes"));
  EXPECT_EQ(stream_in(text).envelope.aggregate, "/payment/id");
}

TEST(sniff, is_a_config_whatever_the_records_hold) {
  std::vector<sniffed_record> records;
  for (int i = 0; i < 4; ++i) {
    records.push_back(
        record_of("a\nb: [", R"({"id\n- x: \"":"\u001b[2J","event: {id":7,"i/d~":"#","":1,"seq":1})"));
    records.back().headers = {{"x\n", std::string{"\xff\xfe\x80"}}, {"y: ]", std::nullopt}};
    records.back().where.topic = "t\nversion: 2";
  }
  const std::string text = report(records, "t\nversion: 2");
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  const auto c = parse_config(text, "sniffed.yaml");
  // A topic of such a name is none of Kafka's; all else must hold.
  if (!c.has_value()) {
    for (const diagnostic& d : c.error().diagnostics) EXPECT_THAT(d.path, HasSubstr("topics")) << text;
  }
  EXPECT_EQ(stream_in(report(records, "")).topics.size(), 0U);
  EXPECT_THAT(report({}), HasSubstr("there are no records"));
}

TEST(sniff, finds_a_place_for_every_field_in_its_records) {
  // Values that have nothing to go by still give a config, and say what is missing.
  const std::string text =
      report(numbered({record_of(std::nullopt, R"({"a":true})"), record_of(std::nullopt, "{}")}));
  EXPECT_EQ(stream_in(text).envelope.aggregate, "/the-id-of-the-aggregate") << "there are no keys";
  EXPECT_THAT(text, HasSubstr("no field identifies the aggregate of an event"));
  EXPECT_THAT(text, HasSubstr("there were neither ids nor sequences"));
}

TEST(sniff, says_what_a_config_would_reject) {
  decode_rules rules;
  rules.envelope.aggregate = "/payment/id";
  rules.envelope.event_id = "/id";
  rules.envelope.sequence = "/seq";
  std::vector<sniffed_record> records = payments();
  records[3].value->replace(records[3].value->find("\"sequence\""), 10, "\"seq\"");
  const config_share share = share_of("payments", rules, records);
  EXPECT_EQ(share.records, 120U);
  EXPECT_EQ(share.events, 1U);
  EXPECT_EQ(share.rejected, 119U);
  ASSERT_EQ(share.faults.size(), 1U);
  const std::string text = report(records, "orders.v1", {share});
  EXPECT_THAT(text, HasSubstr("and reject 119 (100 %):"));
  EXPECT_THAT(text, HasSubstr("119   missing_field /seq, first at orders.v1[2]@40"));
}

std::string in_list(const std::vector<sniffed_record>& events, std::size_t from, const char* separator) {
  std::string text;
  for (std::size_t i = from; i < from + 5; ++i)
    text += (i == from ? "" : separator) + events.at(i).value.value_or("null");
  return text;
}

TEST(sniffing, finds_several_events_in_a_record) {
  const std::vector<sniffed_record> events = payments();
  std::vector<sniffed_record> arrays;
  std::vector<sniffed_record> members;
  std::vector<sniffed_record> lines;
  for (std::size_t i = 0; i < events.size(); i += 5) {
    arrays.push_back(record_of("k", "[" + in_list(events, i, ",") + "]"));
    members.push_back(record_of("k", "{\"records\":[" + in_list(events, i, ",") + "],\"host\":\"h\"}"));
    lines.push_back(record_of("k", in_list(events, i, "\n")));
  }
  const auto each_of = [](std::vector<sniffed_record> records) {
    const std::string text = report(numbered(std::move(records)));
    EXPECT_THAT(text, HasSubstr("24 records looked at"));
    EXPECT_THAT(text, HasSubstr("120 events, of records that hold several"));
    EXPECT_THAT(text, Not(HasSubstr("some records hold several")));
    const stream_config s = stream_in(text);
    EXPECT_EQ(s.envelope.sequence, "/sequence") << text;
    EXPECT_EQ(s.envelope.event_id, "/id");
    return s.envelope.each;
  };
  EXPECT_EQ(each_of(arrays).kind, each_kind::array);
  EXPECT_EQ(each_of(arrays).pointer, "");
  EXPECT_EQ(each_of(members).pointer, "/records");
  EXPECT_EQ(each_of(lines).kind, each_kind::lines);
}

TEST(sniffing, takes_the_parts_of_one_event_for_no_events) {
  const auto each_of = [](const std::string& value) {
    return stream_in(report(numbered({record_of("k", value), record_of("k", value)}))).envelope.each.kind;
  };
  EXPECT_EQ(each_of(R"({"id":"o","version":1,"items":[{"sku":1},{"sku":2}]})"), each_kind::none);
  EXPECT_EQ(each_of(R"({"events":[1,2,3]})"), each_kind::none);
  EXPECT_EQ(each_of(R"({"only":[{"id":"a"},{"id":"b"}]})"), each_kind::array) << "there is nothing else";
}

TEST(sniffing, judges_a_config_by_the_events_of_records) {
  decode_rules rules;
  rules.order = order::latest;
  rules.ids = id_kind::none;
  rules.envelope.aggregate = "/a";
  rules.envelope.sequence = "/s";
  rules.envelope.each = {each_kind::array, {}};
  const auto records =
      numbered({record_of("k", R"([{"a":"x","s":1},{"a":"y","s":1}])"), record_of("k", R"([{"a":"x"},7])")});
  const config_share share = share_of("s", rules, records);
  EXPECT_EQ(share.records, 2U);
  EXPECT_EQ(share.events, 2U);
  EXPECT_EQ(share.rejected, 2U);
  ASSERT_FALSE(share.faults.empty());
  EXPECT_EQ(share.faults.begin()->second.first, "orders.v1[2]@41");
}

}  // namespace
}  // namespace ratchet::sniff
