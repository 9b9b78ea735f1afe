// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Arrays of which a config reads some elements: none of the others may be lost.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "decode/field_map.hpp"
#include "unit/decode/support.hpp"

namespace ratchet {
namespace {

std::string verdict_of(const decode_rules& rules, const std::string& value) {
  const decoded e{rules, value};
  return e->kind == decoded_kind::ignored ? "ignored" : e.verdict();
}

const std::string k_one_item = R"({"a":"x","s":1,"items":[{"id":"a","v":7,"t":"made","at":1767225600000} ]})";
const std::string k_two_items =
    R"({"a":"x","s":1,"items":[{"id":"a","v":7,"t":"made","at":1767225600000},{"id":"b","v":8}]})";

/// Where one field of the envelope leads into an element, whichever it is.
TEST(one_element, is_the_only_one_whatever_field_is_read_there) {
  struct placed {
    const char* name;
    void (*place)(decode_rules&);
  };
  const placed fields[] = {
      {"aggregate", [](decode_rules& r) { r.envelope.aggregate = "/items/0/id"; }},
      {"a part of it", [](decode_rules& r) { r.envelope.aggregate_more = {"/items/0/id"}; }},
      {"event_id",
       [](decode_rules& r) {
         r.ids = id_kind::opaque;
         r.envelope.event_id = "/items/0/id";
       }},
      {"sequence", [](decode_rules& r) { r.envelope.sequence = "/items/0/v"; }},
      {"epoch", [](decode_rules& r) { r.envelope.epoch = "/items/0/v"; }},
      {"type", [](decode_rules& r) { r.envelope.type = "/items/0/t"; }},
      {"a type that is chosen",
       [](decode_rules& r) {
         r.envelope.type = "/items/0/t";
         r.types = {"made"};
       }},
      {"a type that is none of the stream's",
       [](decode_rules& r) {
         r.envelope.type = "/items/0/t";
         r.types = {"paid"};
       }},
      {"time", [](decode_rules& r) { r.envelope.time = "/items/0/at"; }},
      {"ignore.has", [](decode_rules& r) { r.ignore_having = "/items/0/v"; }},
      {"delete.field",
       [](decode_rules& r) {
         r.envelope.deletes = {{}, "/items/0/id", {"a"}};
       }},
      {"reducer.from", [](decode_rules& r) { r.payload_from = "/items/0"; }},
      {"a scalar of it", [](decode_rules& r) { r.payload_from = "/items/0/v"; }},
  };
  for (const placed& f : fields) {
    decode_rules rules = plain_rules();
    f.place(rules);
    EXPECT_NE(verdict_of(rules, k_one_item).substr(0, 6), "longer") << f.name;
    EXPECT_NE(verdict_of(rules, k_one_item).substr(0, 7), "missing") << f.name;
    EXPECT_EQ(verdict_of(rules, k_two_items), "longer_array /items/0@23") << f.name;
    EXPECT_EQ(elements_read(rules), std::vector<std::string>{"/items/0"}) << f.name;
  }
}

TEST(one_element, of_numbers_in_strict_is_the_only_one) {
  for (const bool by_range : {true, false}) {
    decode_rules rules = plain_rules();
    rules.order = order::strict;
    (by_range ? rules.envelope.sequence_first : rules.envelope.previous) = "/items/0/v";
    EXPECT_EQ(verdict_of(rules, R"({"a":"x","s":9,"items":[{"v":8}]})"), "event");
    EXPECT_EQ(verdict_of(rules, R"({"a":"x","s":9,"items":[{"v":8},{"v":9}]})"), "longer_array /items/0@23");
  }
}

/// Of an array without members the element may be a part of what orders the event, and is then no other
/// event.
TEST(one_element, of_a_tuple_is_a_part_of_one_event) {
  decode_rules rules = plain_rules();
  rules.envelope.sequence = "/position/1";
  EXPECT_EQ(verdict_of(rules, R"({"a":"x","position":[5,7,9]})"), "event");
  rules.envelope.epoch = "/position/0";
  EXPECT_EQ(verdict_of(rules, R"({"a":"x","position":[5,7,9]})"), "event");
  rules = plain_rules();
  rules.envelope.time = "/times/0";
  EXPECT_EQ(verdict_of(rules, R"({"a":"x","s":1,"times":[1767225600000,1767225600001]})"), "event");
  rules = plain_rules();
  rules.envelope.aggregate = "/0";
  rules.envelope.sequence = "/2";
  EXPECT_EQ(verdict_of(rules, R"(["x","paid",3,{"v":1},[]])"), "event");
  rules.envelope.aggregate = "/0/id";
  rules.envelope.sequence = "/0/v";
  rules.envelope.time = "/1/at";
  EXPECT_EQ(verdict_of(rules, R"([{"id":"a","v":1},{"at":1767225600000},3])"), "longer_array /1@0")
      << "two events";
  rules.envelope.time = "";
  rules.envelope.sequence = "/2";
  rules.envelope.aggregate = "/3/id";
  rules.envelope.sequence = "/2";
  rules.payload_from = "/3";
  EXPECT_EQ(verdict_of(rules, R"(["x","paid",3,{"id":"a"},[]])"), "event");
}

/// A key of two columns that is read as one would let two objects share a name.
TEST(one_element, of_a_list_of_names_is_the_only_one) {
  decode_rules rules = plain_rules();
  rules.envelope.aggregate = "/key/0";
  EXPECT_EQ(verdict_of(rules, R"({"s":1,"key":["a"]})"), "event");
  EXPECT_EQ(verdict_of(rules, R"({"s":1,"key":["a","b"]})"), "longer_array /key/0@13");
  rules.envelope.aggregate_more = {"/key/1"};
  EXPECT_EQ(verdict_of(rules, R"({"s":1,"key":["a","b"]})"), "event");
  EXPECT_EQ(verdict_of(rules, R"({"s":1,"key":["a","b","c"]})"), "longer_array /key/1@13");
  rules.ids = id_kind::opaque;
  rules.envelope.event_id = "/key/0";
  rules.envelope.event_id_more = {"/key/1"};
  EXPECT_EQ(verdict_of(rules, R"({"s":1,"key":["a","b","c"]})"), "longer_array /key/1@13")
      << "both name by the same elements";
}

TEST(one_element, within_another_one_is_the_only_one) {
  decode_rules rules = plain_rules();
  rules.payload_from = "/orders/0/lines/0/sku";
  EXPECT_EQ(verdict_of(rules, R"({"a":"x","s":1,"orders":[{"lines":[{"sku":1}]}]})"), "event");
  EXPECT_EQ(verdict_of(rules, R"({"a":"x","s":1,"orders":[{"lines":[{"sku":1},{}]}]})"),
            "longer_array /orders/0/lines/0@34");
  EXPECT_EQ(verdict_of(rules, R"({"a":"x","s":1,"orders":[{"lines":[{"sku":1}]},{}]})"),
            "longer_array /orders/0@24");
}

TEST(one_element, that_is_not_there_is_a_field_that_is_not_there) {
  decode_rules rules = plain_rules();
  rules.envelope.type = "/items/0/t";
  EXPECT_EQ(verdict_of(rules, R"({"a":"x","s":1,"items":[]})"), "event");
  EXPECT_EQ(verdict_of(rules, R"({"a":"x","s":1})"), "event");
  EXPECT_EQ(verdict_of(rules, R"({"a":"x","s":1,"items":{"0":{"t":"made"},"1":{"t":"paid"}}})"), "event")
      << "a member called 0";
  EXPECT_EQ(verdict_of(rules, R"({"a":"x","s":1,"items":[{}],"items":[{},{}]})"),
            "duplicate_field /items/0@28");
}

/// Of another stream's events nothing is looked at.
TEST(one_element, of_what_is_ignored_may_be_one_of_many) {
  decode_rules rules = plain_rules();
  rules.envelope.aggregate = "/items/0/id";
  rules.envelope.type = "/type";
  rules.types = {"made"};
  EXPECT_EQ(verdict_of(rules, R"({"type":"paid","s":1,"items":[{"id":"a"},{"id":"b"}]})"), "ignored");
  EXPECT_EQ(verdict_of(rules, R"({"type":"made","s":1,"items":[{"id":"a"},{"id":"b"}]})"),
            "longer_array /items/0@29");
}

/// Whether there is any element says the same of all.
TEST(one_element, may_be_asked_for_alone) {
  decode_rules rules = plain_rules();
  rules.ignore_having = "/errors/0";
  EXPECT_EQ(verdict_of(rules, R"({"a":"x","s":1,"errors":["e","f"]})"), "ignored");
  EXPECT_EQ(verdict_of(rules, R"({"a":"x","s":1,"errors":[]})"), "event");
}

/// What beside the list says that the events are another stream's comes before all else beside it.
TEST(one_element, beside_the_list_of_what_is_ignored_may_be_one_of_many) {
  decode_rules rules = plain_rules();
  rules.envelope.each = {each_kind::array, "/items"};
  rules.envelope.aggregate = "record:/owners/0/id";
  rules.envelope.type = "record:/kind";
  rules.types = {"order"};
  const std::string rest = R"(","owners":[{"id":1},{"id":2}],"items":[{"s":9}]})";
  EXPECT_EQ(verdict_of(rules, R"({"kind":"report)" + rest), "ignored");
  EXPECT_EQ(verdict_of(rules, R"({"kind":"order)" + rest), "longer_array record:/owners/0@25");
  rules.envelope.type = "record:/owners/0/kind";
  EXPECT_EQ(verdict_of(rules, R"({"owners":[{"kind":"report"},{"kind":"order"}],"items":[{"s":9}]})"),
            "longer_array record:/owners/0@10")
      << "the other one may be the stream's";
}

TEST(one_element, beside_or_around_the_list_of_events_is_the_only_one) {
  decode_rules rules = plain_rules();
  rules.envelope.each = {each_kind::array, "/batches/0/records"};
  EXPECT_EQ(verdict_of(rules, R"({"batches":[{"records":[{"a":"x","s":1}]} ]})"), "event");
  EXPECT_EQ(verdict_of(rules, R"({"batches":[{"records":[{"a":"x","s":1}]},{"records":[{"a":"y","s":1}]}]})"),
            "longer_array /batches/0@11");
  rules = plain_rules();
  rules.envelope.each = {each_kind::array, "/records"};
  rules.envelope.aggregate = "record:/owners/0/id";
  EXPECT_EQ(verdict_of(rules, R"({"owners":[{"id":"x"}],"records":[{"s":1},{"s":2}]})"), "event");
  EXPECT_EQ(verdict_of(rules, R"({"owners":[{"id":"x"},{"id":"y"}],"records":[{"s":1},{"s":2}]})"),
            "longer_array record:/owners/0@10");
}

TEST(one_element, of_an_element_of_the_list_is_the_only_one) {
  decode_rules rules = plain_rules();
  rules.envelope.each = {each_kind::array, "/records"};
  rules.payload_from = "/lines/0";
  EXPECT_EQ(verdict_of(rules, R"({"records":[{"a":"x","s":1,"lines":[{}]},{"a":"y","s":1,"lines":[{}]}]})"),
            "event");
  EXPECT_EQ(verdict_of(rules, R"({"records":[{"a":"x","s":1,"lines":[{},{}]}]})"),
            "longer_array /lines/0@23");
}

TEST(one_element, of_the_data_of_a_cloudevent_is_the_only_one) {
  decode_rules rules;
  rules.envelope.format = envelope_format::cloudevents;
  rules.order = order::arrival;
  rules.ids = id_kind::opaque;
  rules.payload_from = "/items/0";
  const std::string begin = R"({"specversion":"1.0","id":"1","source":"/s","type":"t","subject":"a",)";
  EXPECT_EQ(verdict_of(rules, begin + R"("data":{"items":[{"v":1}]}})"), "event");
  EXPECT_EQ(verdict_of(rules, begin + R"("data":{"items":[{"v":1},{"v":2}]}})"),
            "longer_array /data/items/0@85");
  // {"items":[1]} and {"items":[1,2]}
  EXPECT_EQ(verdict_of(rules, begin + R"("data_base64":"eyJpdGVtcyI6WzFdfQ=="})"), "event");
  EXPECT_EQ(verdict_of(rules, begin + R"("data_base64":"eyJpdGVtcyI6WzEsMl19"})"),
            "longer_array /data/items/0@83");
}

TEST(one_element, of_a_row_is_the_only_one) {
  decode_rules rules = row_rules(envelope_format::debezium_cdc);
  rules.payload_from = "/items/0";
  const auto change = [&rules](const std::string& connector, const std::string& after) {
    const std::string source =
        connector == "postgresql" ? R"("connector":"postgresql","sequence":"[\"1\",\"2\"]","lsn":2,"ts_ms":1)"
                                  : R"("connector":")" + connector + R"(","ts_ms":1)";
    const std::string value = R"({"op":"u","source":{)" + source + R"(},"after":)" + after + "}";
    const decoded e{rules, {R"({"id":7})", value, {}, std::nullopt}};
    const std::string verdict = e.verdict();
    return verdict.substr(0, verdict.find('@'));
  };
  EXPECT_EQ(change("postgresql", R"({"items":[{"v":1}]})"), "event");
  EXPECT_EQ(change("postgresql", R"({"items":[{"v":1},{"v":2}]})"), "longer_array /after/items/0");
  EXPECT_EQ(change("mongodb", R"("{\"items\":[{\"v\":1}]}")"), "event");
  EXPECT_EQ(change("mongodb", R"("{\"items\":[{\"v\":1},{\"v\":2}]}")"), "longer_array /after/items/0");
  EXPECT_EQ(elements_read(rules), std::vector<std::string>{"/items/0"});
  rules = row_rules(envelope_format::ydb_changefeed);
  rules.payload_from = "/items/0";
  EXPECT_EQ(verdict_of(rules, R"({"key":[1,2],"update":{},"newImage":{"items":[1]},"ts":[5,6]})"), "event");
  EXPECT_EQ(verdict_of(rules, R"({"key":[1,2],"update":{},"newImage":{"items":[1,2]},"ts":[5,6]})"),
            "longer_array /newImage/items/0@45");
}

}  // namespace
}  // namespace ratchet
