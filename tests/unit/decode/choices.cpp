// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What is none of a stream's events, what deletes, and what is told by several fields.
#include <gtest/gtest.h>

#include <string>

#include "decode/event_id_text.hpp"
#include "unit/decode/support.hpp"

namespace ratchet {
namespace {

decode_rules order_rules() {
  decode_rules rules;
  rules.order = order::latest;
  rules.ids = id_kind::none;
  rules.envelope.aggregate = "/order/id";
  rules.envelope.sequence = "/order/v";
  rules.envelope.type = "/type";
  rules.payload_from = "/order";
  return rules;
}

std::string kind_of(const decode_rules& rules, test_record r) {
  const decoded e{rules, std::move(r)};
  return e->kind == decoded_kind::ignored ? "ignored" : e.verdict();
}
std::string kind_of(const decode_rules& rules, const std::string& value) {
  return kind_of(rules, test_record{std::nullopt, value, {}, std::nullopt});
}

const std::string k_placed = R"({"type":"order.placed","order":{"id":"o","v":1}})";
const std::string k_heartbeat = R"({"type":"heartbeat","at":1})";

TEST(types, choose_the_events_and_ignore_all_others_whatever_they_look_like) {
  decode_rules rules = order_rules();
  EXPECT_EQ(kind_of(rules, k_heartbeat), "missing_field /order/id@0");
  rules.types = {"order.placed", "order.paid"};
  EXPECT_EQ(kind_of(rules, k_placed), "event");
  EXPECT_EQ(kind_of(rules, k_heartbeat), "ignored");
  EXPECT_EQ(kind_of(rules, R"({"type":"order.place","order":7})"), "ignored");
  EXPECT_EQ(kind_of(rules, R"({"alive":true})"), "ignored") << "no type is none of them";
  EXPECT_EQ(kind_of(rules, R"({"type":5})"), "ignored");
  EXPECT_EQ(kind_of(rules, R"({"type":"order.placed"})"), "missing_field /order/id@0")
      << "it is ours, and broken";
  EXPECT_EQ(kind_of(rules, "x"), "invalid_json @0") << "nobody knows what it is";
  rules.types = {"order.*"};
  EXPECT_EQ(kind_of(rules, k_placed), "event");
  EXPECT_EQ(kind_of(rules, k_heartbeat), "ignored");
}

TEST(types, that_are_ignored_are_none_of_the_stream_and_all_others_are) {
  decode_rules rules = order_rules();
  rules.ignore = {"heartbeat", "debug.*"};
  EXPECT_EQ(kind_of(rules, k_placed), "event");
  EXPECT_EQ(kind_of(rules, k_heartbeat), "ignored");
  EXPECT_EQ(kind_of(rules, R"({"type":"debug.x"})"), "ignored");
  EXPECT_EQ(kind_of(rules, R"({"alive":true})"), "missing_field /order/id@0") << "nobody said that it is not";
  rules.types = {"debug.*", "order.placed"};
  EXPECT_EQ(kind_of(rules, R"({"type":"debug.x"})"), "ignored") << "what is ignored is so, also among ours";
}

TEST(types, come_from_headers_too) {
  decode_rules rules = order_rules();
  rules.envelope.type = "header:type";
  rules.types = {"order.placed"};
  EXPECT_EQ(kind_of(rules, {{}, "{}", {{"type", "heartbeat"}}, {}}), "ignored");
  EXPECT_EQ(kind_of(rules, {{}, "{}", {{"type", "order.placed"}}, {}}), "missing_field /order/id@0");
  const std::string avro{"\0\0\0\0\x0d\x02a\x02", 8};
  EXPECT_EQ(kind_of(rules, {{}, avro, {{"type", "heartbeat"}}, {}}), "ignored") << "it is of others";
  EXPECT_EQ(kind_of(rules, {{}, "x", {{"type", "order.placed"}}, {}}), "invalid_json @0") << "it is ours";
  rules.types.clear();
  rules.ignore = {"heartbeat"};
  EXPECT_EQ(kind_of(rules, {{}, "<x/>", {{"type", "heartbeat"}}, {}}), "ignored");
  EXPECT_EQ(kind_of(rules, {{}, "<x/>", {}, {}}), "invalid_json @0");
}

TEST(events_with_a_field_of_others, are_ignored) {
  decode_rules rules = order_rules();
  const std::string resolved = R"({"resolved":"1767225600250000020.0000000000"})";
  EXPECT_EQ(kind_of(rules, resolved), "missing_field /order/id@0");
  rules.ignore_having = "/resolved";
  EXPECT_EQ(kind_of(rules, resolved), "ignored");
  EXPECT_EQ(kind_of(rules, k_placed), "event");
  EXPECT_EQ(kind_of(rules, R"({"resolved":null,"type":"t"})"), "missing_field /order/id@0") << "null is none";
  EXPECT_EQ(kind_of(rules, R"({"resolved":1,"resolved":2})"), "duplicate_field /resolved@14");
  EXPECT_EQ(kind_of(rules, "x"), "invalid_json @0");
  rules.types = {"order.placed"};
  EXPECT_EQ(kind_of(rules, R"({"resolved":1,"type":"order.placed"})"), "ignored");
  rules.envelope.type = "header:type";
  EXPECT_EQ(kind_of(rules, {{}, resolved, {{"type", "order.placed"}}, {}}), "ignored");
  EXPECT_EQ(kind_of(rules, {{}, "x", {{"type", "other"}}, {}}), "ignored") << "its value is not looked at";
  rules.types.clear();
  rules.ignore_having = "header:beat";
  EXPECT_EQ(kind_of(rules, {{}, "{}", {{"beat", "1"}}, {}}), "ignored");
}

TEST(deletions, may_be_told_by_a_null) {
  decode_rules rules = order_rules();
  rules.envelope.deletes.field = "/after";
  const std::string order = R"({"order":{"id":"o","v":1},"after":)";
  EXPECT_EQ(kind_of(rules, order + "null}"), "event") << "nobody said that null deletes";
  rules.envelope.deletes.is = {"null"};
  EXPECT_EQ(kind_of(rules, order + "null}"), "tombstone");
  EXPECT_EQ(kind_of(rules, order + R"("null"})"), "tombstone");
  EXPECT_EQ(kind_of(rules, order + "{}}"), "event");
  EXPECT_EQ(kind_of(rules, R"({"order":{"id":"o","v":1}})"), "event") << "what is not there says nothing";
}

TEST(null_values, are_ignored_where_they_are_none_of_the_types) {
  decode_rules rules = order_rules();
  const test_record null{"o", std::nullopt, {{"seq", "2"}}, std::nullopt};
  EXPECT_EQ(kind_of(rules, null), "null_value /order/id@0");
  rules.types = {"order.placed"};
  EXPECT_EQ(kind_of(rules, null), "ignored") << "nothing can be read of it";
  rules.types.clear();
  rules.ignore_tombstones = true;
  EXPECT_EQ(kind_of(rules, null), "ignored");
  rules.ignore_tombstones = false;
  rules.types = {"order.placed"};
  rules.envelope.aggregate = "key";
  rules.envelope.sequence = "header:seq";
  EXPECT_EQ(kind_of(rules, null), "tombstone") << "it deletes by its key";
  rules.envelope.type = "header:type";
  EXPECT_EQ(kind_of(rules, null), "tombstone");
  EXPECT_EQ(kind_of(rules, {"o", std::nullopt, {{"seq", "2"}, {"type", "heartbeat"}}, {}}), "ignored");
}

TEST(null_values, delete_by_their_key_where_their_id_would_stand_in_the_value) {
  decode_rules rules = order_rules();
  rules.order = order::arrival;
  rules.ids = id_kind::opaque;
  rules.envelope.aggregate = "key";
  rules.envelope.event_id = "/id";
  const test_record null{"o", std::nullopt, {}, timestamp{std::chrono::milliseconds{5}}};
  const decoded opaque{rules, null};
  ASSERT_EQ(opaque.verdict(), "tombstone");
  EXPECT_TRUE(opaque->has_id);
  EXPECT_EQ(opaque->id_text, "null/t/0/0") << "its place is its id";
  EXPECT_EQ(opaque->id, hash_opaque_id("null/t/0/0"));
  rules.ids = id_kind::uuidv7;
  const decoded timed{rules, null};
  ASSERT_EQ(timed.verdict(), "tombstone");
  EXPECT_EQ(timed->id.time(), *null.time);
  EXPECT_EQ(parse_uuidv7(to_text(timed->id)), timed->id);
  rules.ids = id_kind::monotonic;
  EXPECT_EQ(kind_of(rules, null), "null_value /id@0") << "a number nobody can make up";
  rules.ids = id_kind::opaque;
  rules.order = order::latest;
  EXPECT_EQ(kind_of(rules, null), "null_value /order/v@0") << "nor a version";
}

TEST(deletions, are_known_by_their_type) {
  decode_rules rules = order_rules();
  rules.envelope.deletes.types = {"order.deleted", "*.purged"};
  EXPECT_EQ(kind_of(rules, k_placed), "event");
  const decoded e{rules, R"({"type":"order.deleted","order":{"id":"o","v":3}})"};
  ASSERT_EQ(e.verdict(), "tombstone");
  EXPECT_EQ(e->sequence, seq(3));
  EXPECT_EQ(e->type, "order.deleted");
  EXPECT_EQ(e->payload, "");
  EXPECT_EQ(e->payload_hash, hash128{});
  EXPECT_EQ(kind_of(rules, R"({"type":"order.deleted","order":{"id":"o"}})"), "missing_field /order/v@32");
}

TEST(deletions, are_known_by_a_field) {
  decode_rules rules = order_rules();
  const auto deletes = [&rules](const std::string& member) {
    return kind_of(rules, R"({"order":{"id":"o","v":1},)" + member + "}") == "tombstone";
  };
  rules.envelope.deletes = {{}, "/__deleted", {"true"}};
  EXPECT_TRUE(deletes(R"("__deleted":"true")"));
  EXPECT_TRUE(deletes(R"("__deleted":true)"));
  EXPECT_FALSE(deletes(R"("__deleted":"false")"));
  EXPECT_FALSE(deletes(R"("__deleted":false)"));
  EXPECT_FALSE(deletes(R"("__deleted":null)"));
  EXPECT_FALSE(deletes(R"("x":1)"));
  rules.envelope.deletes = {{}, "/op", {"D", "DELETE", "3"}};
  EXPECT_TRUE(deletes(R"("op":"DELETE")"));
  EXPECT_TRUE(deletes(R"("op":3)"));
  EXPECT_FALSE(deletes(R"("op":"U")"));
  for (const char* one : {"1", "1.0", "1e0", "10E-1", "0.1e+1", "1.000"}) {
    rules.envelope.deletes = {{}, "/op", {"D", "1"}};
    EXPECT_TRUE(deletes(std::string{"\"op\":"} + one)) << one;
    rules.envelope.deletes = {{}, "/op", {one}};
    EXPECT_TRUE(deletes(R"("op":1)")) << one;
    EXPECT_FALSE(deletes(R"("op":11)")) << one;
    EXPECT_FALSE(deletes(R"("op":-1)")) << one;
    EXPECT_EQ(deletes(R"("op":"1")"), std::string{"1"} == one) << "a text is as it is spelt";
  }
  rules.envelope.deletes = {{}, "/deleted_at", {}};
  for (const char* zero : {"0", "0.0", "-0", "0e7", "-0.00E-3"})
    EXPECT_FALSE(deletes(std::string{"\"deleted_at\":"} + zero)) << zero;
  EXPECT_TRUE(deletes(R"("deleted_at":0.001)"));
  EXPECT_TRUE(deletes(R"("deleted_at":"2026-01-01")"));
  EXPECT_TRUE(deletes(R"("deleted_at":{"by":"x"})"));
  for (const char* no : {"0", "\"0\"", "\"\"", "\"false\""})
    EXPECT_FALSE(deletes(std::string{"\"deleted_at\":"} + no)) << no;
  EXPECT_FALSE(deletes(R"("deleted_at":null)"));
  EXPECT_FALSE(deletes(R"("deleted_at":false)"));
  EXPECT_FALSE(deletes(R"("x":1)"));
  rules.envelope.deletes = {{}, "header:op", {"delete"}};
  EXPECT_EQ(kind_of(rules, {{}, R"({"order":{"id":"o","v":1}})", {{"op", "delete"}}, {}}), "tombstone");
}

std::string joined(const std::string& value) {
  decode_rules rules;
  rules.order = order::arrival;
  rules.ids = id_kind::opaque;
  rules.envelope.aggregate = "/a";
  rules.envelope.aggregate_more = {"/b"};
  rules.envelope.event_id = "/a";
  rules.envelope.event_id_more = {"/b", "header:x"};
  const decoded e{rules, {{}, value, {{"x", "h"}}, {}}};
  if (e.verdict() != "event") return e.verdict();
  EXPECT_EQ(e->id_text, std::string{e->aggregate} + "/h");
  EXPECT_EQ(e->id, hash_opaque_id(e->id_text));
  return std::string{e->aggregate};
}

TEST(several_fields, make_one_name_that_no_other_list_makes) {
  EXPECT_EQ(joined(R"({"a":"a","b":"bc"})"), "a/bc");
  EXPECT_EQ(joined(R"({"a":"ab","b":"c"})"), "ab/c");
  EXPECT_EQ(joined(R"({"a":"a/b","b":"c"})"), "a~1b/c");
  EXPECT_EQ(joined(R"({"a":"a","b":"b/c"})"), "a/b~1c");
  EXPECT_EQ(joined(R"({"a":"a~1","b":"~"})"), "a~01/~0");
  EXPECT_EQ(joined(R"({"a":5,"b":"\u00e4"})"), "5/\xC3\xA4");
  EXPECT_EQ(joined(R"({"a":"","b":"x"})"), "/x");
}

TEST(several_fields, are_all_there_or_the_record_is_malformed) {
  EXPECT_EQ(joined(R"({"a":"a"})"), "missing_field /b@0");
  EXPECT_EQ(joined(R"({"a":"a","b":null})"), "missing_field /b@13");
  EXPECT_EQ(joined(R"({"a":1.5,"b":"b"})"), "wrong_type /a@5");
  EXPECT_EQ(joined(R"({"a":"a","b":{}})"), "wrong_type /b@13");
  EXPECT_EQ(joined(R"({"a":"","b":""})"), "aggregate_size /a@5") << "an empty id first: id_invalid";
}

TEST(one_element, of_an_array_must_be_the_only_one) {
  decode_rules rules = order_rules();
  rules.envelope.aggregate = "/records/0/id";
  rules.envelope.sequence = "/records/0/v";
  rules.envelope.type.clear();
  rules.payload_from = "/records/0";
  EXPECT_EQ(kind_of(rules, R"({"records":[{"id":"a","v":1} ]})"), "event");
  EXPECT_EQ(kind_of(rules, R"({"records":[{"id":"a","v":1} , {"id":"b","v":1}]})"),
            "longer_array /records/0@11");
  EXPECT_EQ(kind_of(rules, R"({"records":[]})"), "missing_field /records/0/id@11");
  EXPECT_EQ(kind_of(rules, R"({"records":{"0":{"id":"a","v":1},"1":{}}})"), "event") << "a member called 0";
  rules.envelope.aggregate = "/records/1/id";
  rules.envelope.sequence = "/records/1/v";
  rules.payload_from = "/records/1";
  EXPECT_EQ(kind_of(rules, R"({"records":[{},{"id":"a","v":1}]})"), "longer_array /records/1@11");
  rules.envelope.aggregate = "/0";
  rules.envelope.sequence = "/1";
  rules.payload_from = "/2";
  EXPECT_EQ(kind_of(rules, R"(["a",1,{}])"), "event") << "its elements are the fields of one event";
}

TEST(headers, are_one_where_they_say_the_same) {
  decode_rules rules = order_rules();
  rules.envelope.sequence = "header:Version";
  const auto sequence = [&rules](std::vector<std::pair<std::string, std::optional<std::string>>> headers) {
    const decoded e{rules, {{}, R"({"order":{"id":"o"}})", std::move(headers), {}}};
    return e.verdict() == "event" ? std::to_string(e->sequence.number) : e.verdict();
  };
  EXPECT_EQ(sequence({{"Version", "7"}, {"Version", "7"}}), "7");
  EXPECT_EQ(sequence({{"Version", "7"}, {"Version", "8"}}), "duplicate_header header:Version@0");
  EXPECT_EQ(sequence({{"Version", "7"}, {"Version", std::nullopt}}), "duplicate_header header:Version@0");
  EXPECT_EQ(sequence({{"version", "7"}}), "7") << "names in other letter case are one name";
  EXPECT_EQ(sequence({{"version", "8"}, {"Version", "7"}}), "7") << "but the one that the config has is it";
  EXPECT_EQ(sequence({{"version", "8"}, {"VERSION", "7"}}), "duplicate_header header:Version@0");
  EXPECT_EQ(sequence({{"versions", "8"}}), "missing_field header:Version@0");
}

}  // namespace
}  // namespace ratchet
