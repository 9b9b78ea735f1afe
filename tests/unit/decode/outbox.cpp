// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What Debezium's outbox event router writes: the id as a header, the aggregate as the key, the payload as
// the value.
#include <gtest/gtest.h>

#include <string>

#include "decode/envelope_preset.hpp"
#include "unit/decode/support.hpp"

namespace ratchet {
namespace {

TEST(debezium_outbox, takes_the_id_from_its_header_and_the_aggregate_from_the_key) {
  const decoded e{
      outbox_rules(),
      {"p-1001", R"({"amount": 12})", {{"id", k_id_text}, {"eventType", "PaymentPaid"}}, std::nullopt}};
  ASSERT_EQ(e.verdict(), "event");
  EXPECT_EQ(e->aggregate, "p-1001");
  EXPECT_EQ(e->id, k_id);
  EXPECT_EQ(e->type, "PaymentPaid");
  EXPECT_EQ(e->payload, R"({"amount": 12})");
  EXPECT_FALSE(e->has_sequence);
}

TEST(debezium_outbox, does_without_a_type_and_not_without_id_or_key) {
  EXPECT_EQ((decoded{outbox_rules(), {"p", "{}", {{"id", k_id_text}}, std::nullopt}}.verdict()), "event");
  EXPECT_EQ((decoded{outbox_rules(), {"p", "{}", {}, std::nullopt}}.verdict()), "missing_field header:id@0");
  EXPECT_EQ((decoded{outbox_rules(), {std::nullopt, "{}", {{"id", k_id_text}}, std::nullopt}}.verdict()),
            "null_key key@0");
}

TEST(debezium_outbox, deletes_by_a_null_value) {
  const decoded e{outbox_rules(), {"p", std::nullopt, {{"id", k_id_text}}, std::nullopt}};
  EXPECT_EQ(e.verdict(), "tombstone");
}

TEST(debezium_outbox, takes_a_sequence_from_a_header_that_was_added) {
  decode_rules rules = outbox_rules(order::strict);
  rules.envelope.sequence = "header:version";
  const decoded e{rules, {"p", "{}", {{"id", k_id_text}, {"version", "3"}}, std::nullopt}};
  ASSERT_EQ(e.verdict(), "event");
  EXPECT_EQ(e->sequence, seq(3));
}

TEST(envelope_preset, fills_what_the_format_knows_once) {
  for (const envelope_format format :
       {envelope_format::json, envelope_format::cloudevents, envelope_format::debezium_outbox,
        envelope_format::debezium_cdc, envelope_format::ydb_changefeed}) {
    envelope_config e;
    e.format = format;
    e.aggregate = "header:a";
    const envelope_config once = with_defaults(e);
    const envelope_config twice = with_defaults(once);
    EXPECT_EQ(once.aggregate, has_log_positions(format) ? once.aggregate : "header:a");
    EXPECT_EQ(twice.event_id + twice.aggregate + twice.sequence + twice.type + twice.time,
              once.event_id + once.aggregate + once.sequence + once.type + once.time);
    EXPECT_EQ(reads_headers(once), !has_log_positions(format));
  }
}

TEST(envelope_preset, asks_for_headers_where_some_are_read) {
  const auto of = [](envelope_format format) {
    envelope_config e;
    e.format = format;
    e.aggregate = "key";
    return reads_headers(with_defaults(e));
  };
  EXPECT_FALSE(of(envelope_format::json));
  EXPECT_TRUE(of(envelope_format::cloudevents)) << "they tell the mode";
  EXPECT_TRUE(of(envelope_format::debezium_outbox));
  EXPECT_FALSE(of(envelope_format::debezium_cdc));
}

TEST(envelope_preset, knows_the_names_of_attributes) {
  EXPECT_EQ(attribute_of("attribute:paymentid2"), "paymentid2");
  for (const char* text : {"attribute:", "attribute:paymentId", "attribute:a-b", "attribut:a", "key", "/a"}) {
    EXPECT_EQ(attribute_of(text), "") << text;
  }
  EXPECT_TRUE(is_field_source(envelope_format::cloudevents, "attribute:a"));
  EXPECT_FALSE(is_field_source(envelope_format::cloudevents, "/a"));
  EXPECT_TRUE(is_field_source(envelope_format::json, "/a"));
  EXPECT_FALSE(is_field_source(envelope_format::json, "attribute:a"));
}

}  // namespace
}  // namespace ratchet
