// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// CloudEvents 1.0 by their Kafka protocol binding: both modes, what an event must have, and its identity.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "decode/event_id_text.hpp"
#include "decode/record_hash.hpp"
#include "unit/decode/support.hpp"

namespace ratchet {
namespace {

using headers = std::vector<std::pair<std::string, std::optional<std::string>>>;

constexpr const char* k_source = "https://pay.example/terminals/7";

decode_rules event_rules() {
  decode_rules rules;
  rules.envelope.format = envelope_format::cloudevents;
  rules.envelope.sequence_as = sequence_kind::integer;  // text: sequences.cpp
  rules.bytes_allowed = true;
  return rules;
}
decode_rules without_ids() {
  decode_rules rules = event_rules();
  rules.ids = id_kind::none;
  return rules;
}

/// An event in the JSON format, with `more` behind its attributes.
std::string structured(const std::string& more, const std::string& source = k_source) {
  return R"({"specversion":"1.0","type":"com.example.payment.paid","source":")" + source +
         R"(","subject":"p-1001","id":")" + k_id_text +
         R"(","time":"2026-01-01T00:00:00.250Z","sequence":"0007")" + more + "}";
}

headers attributes(headers more = {}) {
  headers all{{"ce_specversion", "1.0"}, {"ce_type", "com.example.payment.paid"},
              {"ce_source", k_source},   {"ce_subject", "p-1001"},
              {"ce_id", k_id_text},      {"ce_time", "2026-01-01T00:00:00.250Z"},
              {"ce_sequence", "0007"}};
  for (auto& one : more) all.push_back(std::move(one));
  return all;
}
headers without(const std::string& name) {
  headers all = attributes();
  std::erase_if(all, [&](const auto& h) { return h.first == name; });
  return all;
}
headers with(const std::string& name, const std::string& value) {
  headers all = attributes();
  for (auto& h : all) {
    if (h.first == name) h.second = value;
  }
  return all;
}
test_record binary(std::optional<std::string> value, headers all = attributes()) {
  return {std::nullopt, std::move(value), std::move(all), std::nullopt};
}
test_record of_type(const char* content_type, std::string value) {
  return {std::nullopt, std::move(value), {{"content-type", content_type}}, std::nullopt};
}

void expect_payment(const decoded& e, const char* payload) {
  ASSERT_EQ(e.verdict(), "event");
  EXPECT_EQ(e->aggregate, "p-1001");
  EXPECT_EQ(e->sequence, seq(7));
  EXPECT_EQ(e->id, id_of_source(id_kind::uuidv7, k_id, k_source));
  EXPECT_EQ(e->type, "com.example.payment.paid");
  EXPECT_EQ(e->time, timestamp{std::chrono::milliseconds{1'767'225'600'250}});
  EXPECT_EQ(e->payload, payload);
  EXPECT_EQ(e->payload_hash, payload_hash(payload));
}

TEST(cloudevents, means_the_same_in_structured_and_binary_mode) {
  const char* data = R"({ "amount": 12.50 })";
  const std::string value =
      structured(R"(,"datacontenttype":"application/json","data":)" + std::string{data});
  expect_payment({event_rules(), of_type("application/cloudevents+json; charset=UTF-8", value)}, data);
  expect_payment({event_rules(), of_type("Application/CloudEvents", value)}, data);
  expect_payment({event_rules(), binary(data)}, data);
  expect_payment({event_rules(), binary(data, attributes({{"content-type", "application/json"}}))}, data);
}

TEST(cloudevents, reads_a_record_without_headers_as_structured) {
  expect_payment({event_rules(), structured(R"(,"data":1)")}, "1");
  EXPECT_EQ((decoded{event_rules(), R"({"amount":1})"}.verdict()), "missing_field /specversion@0");
}

TEST(cloudevents, goes_by_the_content_type_before_the_headers) {
  headers both = with("ce_subject", "p-2");
  both.emplace_back("Content-Type", "application/cloudevents+json");
  const decoded e{event_rules(), binary(structured(R"(,"data":1)"), both)};
  expect_payment(e, "1");
}

TEST(cloudevents, refuses_batches_and_formats_other_than_json) {
  const std::string value = structured(R"(,"data":1)");
  for (const char* type : {"application/cloudevents-batch+json", "application/cloudevents+avro",
                           "application/cloudevents+protobuf"}) {
    EXPECT_EQ((decoded{event_rules(), of_type(type, value)}.verdict()), "event_format header:content-type@0");
  }
}

TEST(cloudevents, wants_version_1_0_and_every_required_attribute) {
  for (const char* name : {"specversion", "source", "id", "type", "subject", "sequence"}) {
    const std::string header = std::string{"ce_"} + name;
    if (header != "ce_specversion") {
      EXPECT_EQ((decoded{event_rules(), binary("1", without(header))}.verdict()),
                "missing_field header:" + header + "@0");
    }
    std::string value = structured("");
    value.replace(value.find(std::string{"\""} + name + "\""), 2, "\"x");
    EXPECT_EQ((decoded{event_rules(), value}.verdict()), std::string{"missing_field /"} + name + "@0");
  }
  EXPECT_EQ((decoded{event_rules(), binary("1", with("ce_specversion", "0.3"))}.verdict()),
            "version_unknown header:ce_specversion@0");
  std::string newer = structured("");
  newer.replace(newer.find("1.0"), 3, "1.1");
  EXPECT_EQ((decoded{event_rules(), newer}.verdict()), "version_unknown /specversion@15");
}

TEST(cloudevents, wants_attributes_that_are_text_and_not_empty) {
  for (const char* name : {"ce_source", "ce_id", "ce_type"}) {
    EXPECT_EQ((decoded{event_rules(), binary("1", with(name, ""))}.verdict()),
              std::string{"missing_field header:"} + name + "@0");
  }
  EXPECT_EQ((decoded{event_rules(), binary("1", with("ce_subject", ""))}.verdict()),
            "aggregate_size header:ce_subject@0");
  EXPECT_EQ((decoded{event_rules(), binary("1", with("ce_source", "a\xFF"))}.verdict()),
            "invalid_utf8 header:ce_source@1");
  EXPECT_EQ((decoded{event_rules(), R"({"specversion":1.0})"}.verdict()), "wrong_type /specversion@15");
}

TEST(cloudevents, needs_an_id_and_a_source_also_where_ids_are_not_kept) {
  EXPECT_EQ((decoded{without_ids(), binary("1", without("ce_id"))}.verdict()),
            "missing_field header:ce_id@0");
  const decoded any_id{without_ids(), binary("1", with("ce_id", "A234-1234"))};
  ASSERT_EQ(any_id.verdict(), "event");
  EXPECT_FALSE(any_id->has_id);
  EXPECT_EQ((decoded{without_ids(), binary("1", without("ce_source"))}.verdict()),
            "missing_field header:ce_source@0");
  EXPECT_EQ((decoded{event_rules(), binary("1", with("ce_id", "A234-1234"))}.verdict()),
            "id_invalid header:ce_id@0");
}

TEST(cloudevents, tells_the_same_id_of_two_sources_apart_and_keeps_its_time) {
  const decoded one{event_rules(), structured("", "/a")};
  const decoded same{event_rules(), binary("1", with("ce_source", "/a"))};
  const decoded other{event_rules(), structured("", "/b")};
  EXPECT_EQ(one->id, same->id);
  EXPECT_NE(one->id, other->id);
  EXPECT_EQ(other->id.time(), k_id.time());
  EXPECT_TRUE(parse_uuidv7(to_text(other->id)).has_value());  // version and variant stay
}

TEST(cloudevents, takes_a_sequence_as_digits_or_as_a_number) {
  const auto read = [](const std::string& sequence) {
    std::string value = structured("");
    value.replace(value.find("\"0007\""), 6, sequence);
    const decoded e{event_rules(), value};
    return e->kind == decoded_kind::event ? std::to_string(e->sequence.number) : e.verdict();
  };
  EXPECT_EQ(read("12"), "12");
  EXPECT_EQ(read("\"12\""), "12");
  EXPECT_EQ(read("\"18446744073709551615\""), "18446744073709551615");
  EXPECT_EQ(read("-5").substr(0, 27), "sequence_negative /sequence");
  EXPECT_EQ(read("\"-2147483648\"").substr(0, 27), "sequence_negative /sequence");
  EXPECT_EQ(read("\"-\"").substr(0, 26), "sequence_invalid /sequence");
  EXPECT_EQ(read("\"01HVAZ\"").substr(0, 26), "sequence_invalid /sequence");
  EXPECT_EQ(read("1.0").substr(0, 26), "sequence_invalid /sequence");
  EXPECT_EQ((decoded{event_rules(), binary("1", with("ce_sequence", "-1"))}.verdict()),
            "sequence_negative header:ce_sequence@0");
}

TEST(cloudevents, needs_no_sequence_in_order_arrival) {
  decode_rules rules = event_rules();
  rules.order = order::arrival;
  const decoded e{rules, binary("1", without("ce_sequence"))};
  ASSERT_EQ(e.verdict(), "event");
  EXPECT_FALSE(e->has_sequence);
}

TEST(cloudevents, takes_aggregate_and_sequence_from_other_places_too) {
  decode_rules rules = event_rules();
  rules.envelope.aggregate = "attribute:paymentid";
  rules.envelope.sequence = "header:seq";
  rules.envelope.epoch = "attribute:era";
  const decoded b{rules, binary("1", attributes({{"ce_paymentid", "p9"}, {"seq", "3"}, {"ce_era", "2"}}))};
  ASSERT_EQ(b.verdict(), "event");
  EXPECT_EQ(b->aggregate, "p9");
  EXPECT_EQ(b->sequence, seq(2, 3));
  test_record r = of_type("application/cloudevents+json", structured(R"(,"paymentid":"p9","era":2)"));
  r.headers.emplace_back("seq", "3");
  const decoded s{rules, r};
  ASSERT_EQ(s.verdict(), "event");
  EXPECT_EQ(s->aggregate, "p9");
  EXPECT_EQ(s->sequence, seq(2, 3));
  rules.envelope.aggregate = "key";
  EXPECT_EQ((decoded{rules, r}.verdict()), "null_key key@0");
}

TEST(cloudevents, takes_data_as_it_stands_and_null_where_there_is_none) {
  const auto payload = [](const std::string& more) {
    const decoded e{event_rules(), structured(more)};
    return e->kind == decoded_kind::event ? std::string{e->payload} : e.verdict();
  };
  EXPECT_EQ(payload(R"(,"data": [ 1, 2.50 ])"), "[ 1, 2.50 ]");
  EXPECT_EQ(payload(R"(,"data":"text")"), "\"text\"");
  EXPECT_EQ(payload(R"(,"data":null)"), "null");
  EXPECT_EQ(payload(""), "null");
  EXPECT_EQ(decoded(event_rules(), structured(""))->payload_hash, payload_hash("null"));
  EXPECT_EQ(payload(R"(,"data":1,"data":2)").substr(0, 21), "duplicate_field /data");
}

TEST(cloudevents, decodes_data_in_base64) {
  const auto payload = [](const std::string& more) {
    const decoded e{event_rules(), structured(more)};
    return e->kind == decoded_kind::event ? std::string{e->payload} : e.verdict();
  };
  EXPECT_EQ(payload(R"(,"data_base64":"AP8Q")"), std::string("\x00\xFF\x10", 3));
  EXPECT_EQ(payload(R"(,"data_base64":"\u0041A==")"), std::string(1, '\0'));
  EXPECT_EQ(payload(R"(,"data_base64":"")"), "");
  EXPECT_EQ(payload(R"(,"data_base64":null,"data":5)"), "5");
  EXPECT_EQ(decoded(event_rules(), structured(R"(,"data_base64":"e30=")"))->payload_hash, payload_hash("{}"));
  EXPECT_EQ(payload(R"(,"data_base64":"AP8")").substr(0, 27), "base64_invalid /data_base64");
  EXPECT_EQ(payload(R"(,"data_base64":7)").substr(0, 23), "wrong_type /data_base64");
  EXPECT_EQ(payload(R"(,"data_base64":"AP8Q","data":null)").substr(0, 28), "duplicate_field /data_base64");
}

TEST(cloudevents, reads_the_reducers_part_out_of_the_data_in_every_form) {
  decode_rules rules = event_rules();
  rules.payload_from = "/payment";
  const char* data = R"({"payment": {"id":1} })";
  for (const test_record& r :
       {of_type("application/cloudevents+json", structured(std::string{",\"data\":"} + data)),
        of_type("application/cloudevents+json",
                structured(R"(,"data_base64":"eyJwYXltZW50IjogeyJpZCI6MX0gfQ==")")),
        binary(data)}) {
    const decoded e{rules, r};
    ASSERT_EQ(e.verdict(), "event");
    EXPECT_EQ(e->payload, R"({"id":1})");
    EXPECT_EQ(e->payload_hash, payload_hash(R"({"id":1})"));
  }
  EXPECT_EQ((decoded{rules, structured("")}.verdict()), "missing_field /data/payment@0");
  EXPECT_EQ((decoded{rules, binary("{}")}.verdict()), "missing_field /payment@0");
  // {"payment":1,"payment":2}, [] and bytes that are no JSON
  EXPECT_EQ((decoded{rules, structured(R"(,"data_base64":"eyJwYXltZW50IjoxLCJwYXltZW50IjoyfQ==")")}
                 .verdict()
                 .substr(0, 15)),
            "duplicate_field");
  EXPECT_EQ((decoded{rules, structured(R"(,"data_base64":"W10=")")}.verdict().substr(0, 13)),
            "missing_field");
  EXPECT_EQ((decoded{rules, structured(R"(,"data_base64":"AP8Q")")}.verdict().substr(0, 12)), "invalid_json");
}

TEST(cloudevents, checks_base64_where_the_reducer_reads_json) {
  decode_rules rules = event_rules();
  rules.bytes_allowed = false;
  EXPECT_EQ((decoded { rules, structured(R"(,"data_base64":"e30=")") } -> payload), "{}");
  EXPECT_EQ((decoded{rules, structured(R"(,"data_base64":"AP8Q")")}.verdict().substr(0, 12)), "invalid_json");
}

TEST(cloudevents, takes_bytes_in_binary_mode_by_their_content_type) {
  const std::string bytes("\x00\xFF", 2);
  const decoded e{event_rules(), binary(bytes, attributes({{"content-type", "application/avro"}}))};
  ASSERT_EQ(e.verdict(), "event");
  EXPECT_EQ(e->payload, bytes);
  EXPECT_EQ((decoded{event_rules(), binary(bytes)}.verdict()), "invalid_json @0");
}

TEST(cloudevents, takes_a_null_value_for_a_tombstone_in_binary_mode_alone) {
  const decoded e{event_rules(), binary(std::nullopt)};
  ASSERT_EQ(e.verdict(), "tombstone");
  EXPECT_EQ(e->aggregate, "p-1001");
  EXPECT_EQ(e->sequence, seq(7));
  EXPECT_EQ((decoded{event_rules(), binary("")}.verdict()), "empty_value @0");
  EXPECT_EQ((decoded{event_rules(), test_record{"k", std::nullopt, {}, std::nullopt}}.verdict()),
            "null_value @0");
}

TEST(cloudevents, keeps_the_records_time_of_what_it_refuses) {
  test_record r = of_type("application/cloudevents-batch+json", "[]");
  r.time = timestamp{std::chrono::milliseconds{5}};
  EXPECT_EQ((decoded { event_rules(), r } -> record_time), r.time);
  decode_rules lines = event_rules();
  lines.time_stands_for_record = true;
  EXPECT_EQ((decoded { lines, structured("") } -> record_time),
            timestamp{std::chrono::milliseconds{1'767'225'600'250}});
}

}  // namespace
}  // namespace ratchet
