// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The formats of envelopes in a config: what they know by themselves, and what does not go with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "config/text.hpp"
#include "decode/envelope_preset.hpp"
#include "ratchet/config.hpp"
#include "streams/stream_definition.hpp"
#include "streams/stream_meaning.hpp"

namespace ratchet {

namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

std::string text_of(const std::string& envelope, const std::string& rest) {
  return "version: 1\nstate: {path: s}\nstreams:\n  - name: payments\n    envelope: " + envelope + "\n    " +
         rest + "\n    reducer: {kind: replace}\n";
}

reported<config> parsed(const std::string& envelope, const std::string& rest = "order: latest") {
  return parse_config(text_of(envelope, rest), "f.yaml");
}

stream_config stream(const std::string& envelope, const std::string& rest = "order: latest") {
  auto c = parsed(envelope, rest);
  return c ? c.value().streams.at(0) : throw std::runtime_error{to_text(c.error())};
}

TEST(config_of_envelopes, cloudevents_know_their_fields) {
  const stream_config s = stream("{format: cloudevents}");
  EXPECT_EQ(s.envelope.format, envelope_format::cloudevents);
  EXPECT_EQ(s.envelope.aggregate, "attribute:subject");
  EXPECT_EQ(s.envelope.sequence, "attribute:sequence");
  EXPECT_EQ(s.dedup.ids, id_kind::uuidv7);
  const stream_config other =
      stream("{format: cloudevents, aggregate: key, sequence: {from: attribute:partkey, bits: 128}}");
  EXPECT_EQ(other.envelope.aggregate, "key");
  EXPECT_EQ(other.envelope.sequence, "attribute:partkey");
  EXPECT_EQ(other.envelope.sequence_bits, 128);
  EXPECT_EQ(describe(s),
            "payments: fed by ratchet apply as cloudevents; aggregates by attribute:subject; the newest by "
            "attribute:sequence wins; ids attribute:id (uuidv7) remembered for 24h; keeps the data");
}

TEST(config_of_envelopes, the_outbox_knows_header_and_key) {
  const stream_config s = stream("{format: debezium-outbox}", "order: arrival\n    dedup: {ids: ulid}");
  EXPECT_EQ(s.envelope.event_id, "header:id");
  EXPECT_EQ(s.envelope.aggregate, "key");
  EXPECT_EQ(s.envelope.type, "header:eventType");
  EXPECT_EQ(s.dedup.ids, id_kind::ulid);
  EXPECT_EQ(stream("{format: debezium-outbox, sequence: header:version}", "order: strict").envelope.sequence,
            "header:version");
}

TEST(config_of_envelopes, row_changes_have_no_ids) {
  for (const char* format : {"{format: debezium-cdc}", "{format: ydb-changefeed}"}) {
    const stream_config s = stream(format);
    EXPECT_EQ(s.dedup.ids, id_kind::none);
    EXPECT_EQ(stream(format, "dedup: off").dedup.ids, id_kind::none);
    EXPECT_THAT(describe(s), HasSubstr("; no event ids; keeps the new row"));
    EXPECT_THAT(limits_of(s), Contains(HasSubstr("have one log position, the last one is kept")));
  }
}

TEST(config_of_envelopes, fields_may_be_of_several_sources) {
  const stream_config s = stream("{aggregate: [/tenant, /order], event_id: [/psp, 'header:x'], sequence: /s}",
                                 "dedup: {ids: opaque}");
  EXPECT_EQ(s.envelope.aggregate, "/tenant");
  EXPECT_EQ(s.envelope.aggregate_more, std::vector<std::string>{"/order"});
  EXPECT_EQ(s.envelope.event_id, "/psp");
  EXPECT_EQ(s.envelope.event_id_more, std::vector<std::string>{"header:x"});
  EXPECT_TRUE(reads_headers(s.envelope));
  EXPECT_THAT(describe(s), HasSubstr("aggregates by [/tenant, /order]"));
  EXPECT_THAT(describe(s), HasSubstr("ids [/psp, header:x] (opaque)"));
  EXPECT_TRUE(stream("{aggregate: [/a], sequence: /s}", "dedup: off").envelope.aggregate_more.empty());
}

TEST(config_of_envelopes, say_what_is_ignored_and_what_deletes) {
  const stream_config s = stream(
      "{aggregate: key, key: i64, sequence: /s, type: /t, delete: {types: [gone]}}",
      "dedup: off\n    types: [a, 'b.*', gone]\n    ignore: {types: [c], tombstones: true, has: /resolved}");
  EXPECT_EQ(s.envelope.key, key_kind::i64);
  EXPECT_EQ(s.envelope.deletes.types, std::vector<std::string>{"gone"});
  EXPECT_EQ(s.types, (std::vector<std::string>{"a", "b.*", "gone"}));
  EXPECT_EQ(s.ignore, std::vector<std::string>{"c"});
  EXPECT_TRUE(s.ignore_tombstones);
  EXPECT_EQ(s.ignore_having, "/resolved");
  const stream_config other =
      stream("{aggregate: /a, sequence: /s, type: /t, delete: {field: /op, is: [D, 3]}}",
             "dedup: off\n    ignore: [c]");
  EXPECT_EQ(other.envelope.deletes.field, "/op");
  EXPECT_EQ(other.envelope.deletes.is, (std::vector<std::string>{"D", "3"}));
  EXPECT_EQ(other.ignore, std::vector<std::string>{"c"});
  EXPECT_FALSE(other.ignore_tombstones);
  EXPECT_EQ(stream("{aggregate: /a, sequence: /s, delete: {field: /op, is: 'true'}}", "dedup: off")
                .envelope.deletes.is,
            std::vector<std::string>{"true"});
}

TEST(config_of_envelopes, what_they_choose_by_must_be_there) {
  const auto error = [](const std::string& envelope, const std::string& rest) {
    const auto c = parsed(envelope, rest);
    return c ? std::string{} : to_text(c.error());
  };
  const std::string no_type = "{aggregate: /a, sequence: /s}";
  EXPECT_THAT(error(no_type, "dedup: off\n    types: [a]"), HasSubstr("types uses the type of events"));
  EXPECT_THAT(error(no_type, "dedup: off\n    ignore: [a]"), HasSubstr("ignore uses the type of events"));
  EXPECT_THAT(error(no_type, "dedup: off\n    ignore: {has: resolved}"), HasSubstr("ignore.has"));
  EXPECT_THAT(error("{aggregate: /a, sequence: /s, delete: {types: [a]}}", "dedup: off"),
              HasSubstr("envelope.delete.types uses the type of events"));
  EXPECT_THAT(error(no_type, "dedup: off\n    types: []"), HasSubstr("names no type"));
  const std::string typed = "{aggregate: /a, sequence: /s, type: /t, delete: {types: [gone]}}";
  EXPECT_THAT(error(typed, "dedup: off\n    types: [a]"), HasSubstr("names gone, which `types` leaves out"));
  EXPECT_EQ(error(typed, "dedup: off\n    types: [a, 'g*']"), "");
  EXPECT_THAT(error(typed, "dedup: off\n    types: [gone, '*.paid']"),
              HasSubstr("streams[0].types[1]: has a * that is not its end"));
  EXPECT_THAT(error(typed, "dedup: off\n    ignore: ['a.*.b']"),
              HasSubstr("streams[0].ignore[0]: has a * that is not its end"));
  EXPECT_THAT(error(typed, "dedup: off\n    types: [gone, 'b.*']\n    ignore: [gone, 'b*']"),
              HasSubstr("takes all of `types`"));
  EXPECT_EQ(error(typed, "dedup: off\n    types: [gone, b]\n    ignore: [b]"), "");
  EXPECT_THAT(error("{aggregate: /a, sequence: /s, delete: {}}", "dedup: off"), HasSubstr("names neither"));
  EXPECT_THAT(error("{aggregate: /a, sequence: /s, delete: {is: x}}", "dedup: off"),
              HasSubstr("needs `field`"));
  EXPECT_THAT(error("{aggregate: /a, sequence: /s, delete: {field: a}}", "dedup: off"),
              HasSubstr("is not a source"));
  EXPECT_THAT(error("{aggregate: [], sequence: /s}", "dedup: off"), HasSubstr("names no source"));
  EXPECT_THAT(error("{aggregate: [/a, b], sequence: /s}", "dedup: off"),
              HasSubstr("is not a source of a field"));
  EXPECT_THAT(error("{aggregate: /a, event_id: [/b, /c], sequence: /s}", "order: latest"),
              HasSubstr("of several fields needs dedup: {ids: opaque}"));
  EXPECT_THAT(error("{aggregate: key, key: int, sequence: /s}", "dedup: off"),
              HasSubstr("streams[0].envelope.key"));
  EXPECT_THAT(error("{format: debezium-cdc}", "types: [c]"),
              HasSubstr("does not go with format: debezium-cdc"));
  EXPECT_THAT(error("{format: debezium-cdc, delete: {types: [d]}}", "order: latest"),
              HasSubstr("is given by format: debezium-cdc"));
}

struct refused {
  const char* name;
  const char* envelope;
  const char* rest;
  const char* path;
  const char* message;
};
std::ostream& operator<<(std::ostream& out, const refused& r) {
  return out << r.name;
}

class envelope_refusal : public ::testing::TestWithParam<refused> {};

TEST_P(envelope_refusal, is_one_finding_with_its_place) {
  const auto c = parsed(GetParam().envelope, GetParam().rest);
  ASSERT_FALSE(c.has_value());
  ASSERT_EQ(c.error().diagnostics.size(), 1U) << to_text(c.error());
  EXPECT_EQ(c.error().diagnostics.front().path, std::string{"streams[0]."} + GetParam().path);
  EXPECT_EQ(c.error().diagnostics.front().message, GetParam().message);
  EXPECT_FALSE(c.error().diagnostics.front().hint.empty());
}

constexpr refused k_refused[] = {
    {"strict_cdc", "{format: debezium-cdc}", "order: strict", "order",
     "strict does not go with format: debezium-cdc"},
    {"strict_ydb", "{format: ydb-changefeed}", "order: strict", "order",
     "strict does not go with format: ydb-changefeed"},
    {"arrival_cdc", "{format: debezium-cdc}", "order: arrival", "order",
     "arrival does not go with format: debezium-cdc"},
    {"ids_of_cdc", "{format: debezium-cdc}", "dedup: {ids: uuidv7}", "dedup",
     "does not go with format: debezium-cdc"},
    {"field_of_ydb", "{format: ydb-changefeed, aggregate: key}", "order: latest", "envelope.aggregate",
     "is given by format: ydb-changefeed"},
    {"position_of_ydb", "{format: ydb-changefeed, position: partition}", "order: latest", "envelope.position",
     "belongs to format: debezium-cdc"},
    {"unavailable_of_json", "{aggregate: key, event_id: /id, sequence: /s, unavailable: x}", "order: latest",
     "envelope.unavailable", "belongs to format: debezium-cdc"},
    {"nothing_unavailable", "{format: debezium-cdc, unavailable: \"\"}", "order: latest",
     "envelope.unavailable", "is empty"},
    {"position_in_one_file", "{aggregate: key, event_id: /id, sequence: /source/pos}", "order: latest",
     "envelope.sequence", "starts over with each file of the binlog"},
    {"id_of_cloudevents", "{format: cloudevents, event_id: attribute:id}", "order: latest",
     "envelope.event_id", "is given by format: cloudevents"},
    {"type_of_cloudevents", "{format: cloudevents, type: key}", "order: latest", "envelope.type",
     "is given by format: cloudevents"},
    {"time_of_cloudevents", "{format: cloudevents, time: key}", "order: latest", "envelope.time",
     "is given by format: cloudevents"},
    {"pointer_of_cloudevents", "{format: cloudevents, aggregate: /subject}", "order: latest",
     "envelope.aggregate", "is not a source of a field"},
    {"no_attribute", "{format: cloudevents, aggregate: \"attribute:paymentId\"}", "order: latest",
     "envelope.aggregate", "is not a source of a field"},
    {"attribute_of_json", "{aggregate: \"attribute:subject\", event_id: /id, sequence: /s}", "order: latest",
     "envelope.aggregate", "is not a source of a field"},
    {"outbox_without_a_sequence", "{format: debezium-outbox}", "order: latest", "envelope.sequence",
     "is missing"},
    {"unknown_format", "{format: cloudevent}", "order: latest", "envelope.format",
     "\"cloudevent\" is not allowed here"},
};
INSTANTIATE_TEST_SUITE_P(formats, envelope_refusal, ::testing::ValuesIn(k_refused),
                         [](const auto& tested) { return std::string{tested.param.name}; });

TEST(config_of_envelopes, says_how_changes_are_ordered_and_what_is_unavailable) {
  const auto of = [](const char* envelope) {
    const auto c = parse_config(text_of(envelope, "order: latest"), "f.yaml");
    EXPECT_TRUE(c.has_value()) << envelope;
    return c.has_value() ? c.value().streams.at(0).envelope : envelope_config{};
  };
  EXPECT_EQ(of("{format: debezium-cdc}").position, change_order::log);
  EXPECT_EQ(of("{format: debezium-cdc}").unavailable, "__debezium_unavailable_value");
  EXPECT_EQ(of("{format: debezium-cdc, position: partition}").position, change_order::partition);
  EXPECT_EQ(of("{format: debezium-cdc, unavailable: n/a}").unavailable, "n/a");
  EXPECT_EQ(of("{format: debezium-cdc, unavailable: \"off\"}").unavailable, "");
  EXPECT_EQ(of("{format: debezium-cdc, unavailable: off}").unavailable, "");
}

TEST(config_of_envelopes, changefeeds_of_ydb_have_types) {
  std::string text = text_of("{format: ydb-changefeed}", "emit: {types: [update], topic: changed}");
  text += "kafka: {brokers: [\"localhost:9092\"], group: g}\n";
  const auto c = parse_config(text, "f.yaml");
  EXPECT_TRUE(c.has_value()) << (c.has_value() ? "" : to_text(c.error()));
}

TEST(config_of_envelopes, a_record_may_hold_several_events) {
  const std::string fields = "aggregate: /a, sequence: /s, event_id: /i";
  stream_config s = stream("{each: /records, " + fields + "}");
  EXPECT_EQ(s.envelope.each.kind, each_kind::array);
  EXPECT_EQ(s.envelope.each.pointer, "/records");
  EXPECT_EQ(describe(s),
            "payments: fed by ratchet apply, each record several events (/records); aggregates by /a; the "
            "newest by /s "
            "wins; ids /i (uuidv7) remembered for 24h; keeps the whole event");
  EXPECT_THAT(limits_of(s), Contains(HasSubstr("a stop may come between two of them")));
  s = stream("{each: array, " + fields + "}");
  EXPECT_EQ(s.envelope.each.kind, each_kind::array);
  EXPECT_EQ(s.envelope.each.pointer, "");
  s = stream("{each: lines, " + fields + "}");
  EXPECT_EQ(s.envelope.each.kind, each_kind::lines);
  s = stream("{" + fields + "}");
  EXPECT_EQ(s.envelope.each.kind, each_kind::none);
  s = stream("{each: /records, aggregate: record:/account, sequence: /s, event_id: [/i, record:/b]}",
             "dedup: {ids: opaque}");
  EXPECT_EQ(s.envelope.aggregate, "record:/account");
  EXPECT_EQ(stream("{each: array, aggregate: key}", "dedup: off").envelope.sequence, "offset");
}

TEST(config_of_envelopes, several_events_in_a_record_are_refused_where_they_mean_nothing) {
  const auto refused = [](const std::string& envelope, const std::string& rest = "dedup: off") {
    auto c = parsed(envelope, rest);
    if (c) return std::string{"nothing"};
    const diagnostic& d = c.error().diagnostics.at(0);
    return d.path.substr(d.path.find('.') + 1) + " " + d.message;
  };
  const std::string fields = ", aggregate: /a, sequence: /s}";
  EXPECT_EQ(refused("{each: ndjson" + fields), "envelope.each `ndjson` is not allowed here");
  EXPECT_EQ(refused("{each: \"\"" + fields), "envelope.each `` is not allowed here");
  EXPECT_EQ(refused("{each: /a~x" + fields), "envelope.each is not a JSON Pointer");
  EXPECT_EQ(refused("{each: lines, format: cloudevents}"), "envelope.each is given by format: cloudevents");
  EXPECT_EQ(refused("{each: lines, format: debezium-cdc}", "order: latest"),
            "envelope.each does not go with format: debezium-cdc");
  EXPECT_EQ(refused("{each: /a, format: ydb-changefeed}", "order: latest"),
            "envelope.each does not go with format: ydb-changefeed");
  EXPECT_EQ(refused("{each: array, format: debezium-outbox}", "order: arrival"),
            "envelope.each does not go with format: debezium-outbox");
  for (const char* each : {"", "each: array, ", "each: lines, "}) {
    EXPECT_EQ(refused(std::string{"{"} + each + "aggregate: record:/a, sequence: /s}"),
              "envelope.aggregate is not a source of a field")
        << each;
  }
  EXPECT_EQ(refused("{format: cloudevents, aggregate: record:/a}"),
            "envelope.aggregate is not a source of a field");
  EXPECT_EQ(refused("{each: /r, aggregate: \"record:a\", sequence: /s}"),
            "envelope.aggregate is not a source of a field");
}

TEST(config_of_envelopes, an_element_that_is_read_alone_can_be_all_of_them) {
  const auto limits = limits_of(stream("{aggregate: /records/0/id, sequence: /records/0/v}", "dedup: off"));
  EXPECT_THAT(limits, Contains(HasSubstr("each: /records takes all of them")));
  EXPECT_THAT(limits_of(stream("{aggregate: /0/id, sequence: /0/v}", "dedup: off")),
              Contains(HasSubstr("each: array takes all of them")));
  const auto within = limits_of(stream("{aggregate: /orders/0/lines/0/sku, sequence: /s}", "dedup: off"));
  EXPECT_THAT(within, Contains(HasSubstr("each: /orders takes all of them")));
  EXPECT_THAT(within, Not(Contains(HasSubstr("each: /orders/0/lines")))) << "it would be refused itself";
}

TEST(config_of_envelopes, a_change_of_what_a_record_holds_is_another_stream) {
  const auto lines_of = [](const std::string& each) {
    const stream_config s = stream("{" + each + "aggregate: /a, sequence: /s}", "dedup: off");
    return meaning_of(s, "replace", 1).lines;
  };
  EXPECT_NE(lines_of(""), lines_of("each: /records, "));
  EXPECT_NE(lines_of("each: array, "), lines_of("each: /records, "));
  EXPECT_NE(lines_of("each: array, "), lines_of("each: lines, "));
}

TEST(config_of_envelopes, patches_do_not_go_with_row_changes) {
  std::string text = text_of("{format: debezium-cdc}", "order: latest");
  text.replace(text.find("replace"), 7, "merge_patch");
  const auto c = parse_config(text, "f.yaml");
  ASSERT_FALSE(c.has_value());
  EXPECT_EQ(c.error().diagnostics.at(0).path, "streams[0].reducer.kind");
}

TEST(config_of_envelopes, made_in_code_is_refused_where_a_file_would_be) {
  config c;
  c.streams.emplace_back();
  stream_config& s = c.streams.back();
  s.name = "payments";
  s.envelope.format = envelope_format::debezium_cdc;
  EXPECT_FALSE(make_streams(c, {}).has_value()) << "it has ids";
  s.dedup.ids = id_kind::none;
  const auto made = make_streams(c, {});
  ASSERT_TRUE(made.has_value());
  EXPECT_TRUE(made.value().at(0)->rules.gate.ties_by_offset);
  EXPECT_EQ(made.value().at(0)->config.envelope.aggregate, "key");
  s.order = order::strict;
  EXPECT_FALSE(make_streams(c, {}).has_value());
  s.envelope.format = envelope_format::cloudevents;
  s.envelope.aggregate = "/subject";
  s.dedup.ids = id_kind::uuidv7;
  EXPECT_FALSE(make_streams(c, {}).has_value());
  s.envelope.aggregate.clear();
  const auto events = make_streams(c, {});
  ASSERT_TRUE(events.has_value());
  EXPECT_FALSE(events.value().at(0)->rules.gate.ties_by_offset);
}

}  // namespace

}  // namespace ratchet
