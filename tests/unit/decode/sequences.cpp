// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Sequences as producers write them, from the record to the event.
#include <gtest/gtest.h>

#include <string>

#include "decode/sequence_kinds.hpp"
#include "unit/decode/support.hpp"

namespace ratchet {
namespace {

decode_rules rules_of(sequence_kind kind) {
  decode_rules rules = plain_rules();
  rules.envelope.sequence_as = kind;
  return rules;
}

std::string read(const decode_rules& rules, const std::string& s) {
  const decoded e{rules, R"({"a":"x","s":)" + s + "}"};
  if (e->kind != decoded_kind::event) return e.verdict();
  EXPECT_TRUE(e->has_sequence);
  return sequence_spelling::of(rules.envelope, rules.order).text(e->sequence);
}

TEST(sequences, are_read_as_the_config_says) {
  EXPECT_EQ(read(rules_of(sequence_kind::decimal), "3.0"), "3");
  EXPECT_EQ(read(rules_of(sequence_kind::decimal), "\"3.50\""), "3.5");
  EXPECT_EQ(read(rules_of(sequence_kind::hlc), "1620000000000000000.0000000001"),
            "1620000000000000000.0000000001");
  EXPECT_EQ(read(rules_of(sequence_kind::time), "\"2024-05-01T10:00:00.123456789Z\""),
            "2024-05-01T10:00:00.123456789Z");
  EXPECT_EQ(read(rules_of(sequence_kind::lsn), R"("16\/B374D848")"), "16/B374D848") << "escapes are undone";
  EXPECT_EQ(read(rules_of(sequence_kind::text), "\"v1\""), "v1");
}

TEST(sequences, are_malformed_where_they_are_of_another_kind) {
  EXPECT_EQ(read(rules_of(sequence_kind::time), "1714557600"), "wrong_type /s@13");
  EXPECT_EQ(read(rules_of(sequence_kind::text), "7"), "wrong_type /s@13");
  EXPECT_EQ(read(rules_of(sequence_kind::ulid), "true"), "wrong_type /s@13");
  EXPECT_EQ(read(rules_of(sequence_kind::decimal), "-3.0"), "sequence_negative /s@13");
  EXPECT_EQ(read(rules_of(sequence_kind::decimal), "1e30"), "sequence_too_large /s@13");
  EXPECT_EQ(read(rules_of(sequence_kind::lsn), "\"x\""), "sequence_invalid /s@13");
  EXPECT_EQ(read(rules_of(sequence_kind::time), "null"), "missing_field /s@13");
}

TEST(sequences, of_the_record_are_its_offset_or_its_time) {
  decode_rules rules = rules_of(sequence_kind::by_format);
  rules.envelope.aggregate = "key";
  rules.envelope.sequence = "offset";
  const test_record r{"k", "{}", {}, timestamp{std::chrono::milliseconds{1'764'000'000'123}}};
  const decoded by_offset{rules, r};
  ASSERT_EQ(by_offset.verdict(), "event");
  EXPECT_TRUE(by_offset->has_sequence);
  EXPECT_EQ(by_offset->sequence, seq(0));
  rules.envelope.sequence = "timestamp";
  const decoded by_time{rules, r};
  ASSERT_EQ(by_time.verdict(), "event");
  EXPECT_EQ(by_time->sequence, seq(1'764'000'000'123));
  const decoded without{rules, test_record{"k", "{}", {}, std::nullopt}};
  EXPECT_EQ(without.verdict(), "missing_field timestamp@0");
  const decoded before{rules, test_record{"k", "{}", {}, timestamp{std::chrono::milliseconds{-1}}}};
  EXPECT_EQ(before.verdict(), "sequence_negative timestamp@0");
}

TEST(sequences, of_the_record_let_a_null_value_delete) {
  decode_rules rules = rules_of(sequence_kind::by_format);
  rules.envelope.aggregate = "key";
  rules.envelope.sequence = "offset";
  const decoded e{rules, test_record{"k", std::nullopt, {}, std::nullopt}};
  EXPECT_EQ(e.verdict(), "tombstone");
  EXPECT_TRUE(e->has_sequence);
}

TEST(sequences, may_cover_a_range_of_numbers) {
  decode_rules rules = rules_of(sequence_kind::integer);
  rules.order = order::strict;
  const auto begin = [&](const std::string& more) {
    const decoded e{rules, R"({"a":"x","s":160)" + more + "}"};
    if (e->kind != decoded_kind::event) return e.verdict();
    return e->begins_at ? std::to_string(*e->begins_at) : std::string{"none"};
  };
  rules.envelope.sequence_first = "/u";
  EXPECT_EQ(begin(R"(,"u":157)"), "157");
  EXPECT_EQ(begin(R"(,"u":160)"), "160");
  EXPECT_EQ(begin(R"(,"u":0)"), "0");
  EXPECT_EQ(begin(R"(,"u":161)"), "range_invalid /u@21");
  EXPECT_EQ(begin(R"(,"u":-1)"), "sequence_invalid /u@21");
  EXPECT_EQ(begin(""), "none");
  EXPECT_EQ(begin(R"(,"u":null)"), "none");
  rules.envelope.sequence_first.clear();
  rules.envelope.previous = "/p";
  EXPECT_EQ(begin(R"(,"p":156)"), "157");
  EXPECT_EQ(begin(R"(,"p":160)"), "range_invalid /p@21");
  EXPECT_EQ(begin(R"(,"p":18446744073709551615)"), "range_invalid /p@21");
  EXPECT_EQ(begin(R"(,"p":true)"), "wrong_type /p@21");
}

decode_rules cloudevents() {
  decode_rules rules;
  rules.ids = id_kind::none;
  rules.envelope.format = envelope_format::cloudevents;
  rules.envelope.aggregate = "attribute:subject";
  rules.envelope.sequence = "attribute:sequence";
  return rules;
}

std::string of_event(const decode_rules& rules, const std::string& more) {
  const decoded e{rules,
                  R"({"specversion":"1.0","type":"t","source":"/a","subject":"x","id":"1",)" + more + "}"};
  if (e->kind != decoded_kind::event) return e.verdict().substr(0, e.verdict().find('@'));
  return sequence_spelling::of(rules.envelope, rules.order).text(e->sequence);
}

TEST(sequences, of_cloudevents_are_text) {
  EXPECT_EQ(of_event(cloudevents(), R"("sequence":"00000907")"), "00000907");
  EXPECT_EQ(of_event(cloudevents(), R"("sequence":"01HX0ZK6Q0AAAAAAAAAAAAAAAA")"),
            "01HX0ZK6Q0AAAAAAAAAAAAAAAA");
  EXPECT_EQ(of_event(cloudevents(), R"("sequence":"-5")"), "-5");
  EXPECT_EQ(of_event(cloudevents(), R"("sequence":"")"), "sequence_invalid /sequence");
}

TEST(sequences, of_cloudevents_are_numbers_where_the_event_says_so) {
  EXPECT_EQ(of_event(cloudevents(), R"("sequence":"10","sequencetype":"Integer")"), "10");
  EXPECT_EQ(of_event(cloudevents(), R"("sequence":12)"), "12") << "a JSON number is one";
  EXPECT_EQ(of_event(cloudevents(), R"("sequence":"-10","sequencetype":"Integer")"),
            "sequence_negative /sequence");
  EXPECT_EQ(of_event(cloudevents(), R"("sequence":"x","sequencetype":"Integer")"),
            "sequence_invalid /sequence");
  decode_rules rules = cloudevents();
  rules.envelope.sequence_as = sequence_kind::integer;
  EXPECT_EQ(of_event(rules, R"("sequence":"0010")"), "10");
  rules = cloudevents();
  rules.order = order::strict;
  EXPECT_EQ(of_event(rules, R"("sequence":"0010")"), "10") << "strict order counts";
}

TEST(sequences, of_cloudevents_have_their_type_in_headers_too) {
  test_record r{std::nullopt,
                "1",
                {{"ce_specversion", "1.0"},
                 {"ce_type", "t"},
                 {"ce_source", "/a"},
                 {"ce_subject", "x"},
                 {"ce_id", "1"},
                 {"ce_sequence", "9"},
                 {"ce_sequencetype", "Integer"}},
                std::nullopt};
  decode_rules rules = cloudevents();
  rules.bytes_allowed = true;
  const decoded number{rules, r};
  ASSERT_EQ(number.verdict(), "event");
  EXPECT_EQ(number->sequence, seq(9));
  r.headers.pop_back();
  const decoded text{rules, r};
  ASSERT_EQ(text.verdict(), "event");
  EXPECT_GT(text->sequence, seq(1, 0));
}

TEST(sequences, leave_an_id_of_an_older_draft_unread) {
  decode_rules rules = rules_of(sequence_kind::integer);
  rules.order = order::arrival;
  rules.ids = id_kind::uuidv7;
  rules.envelope.event_id = "/id";
  // 36 bits of seconds come first: 2025-11-24, which would be the year 2199 in milliseconds.
  EXPECT_EQ((decoded{rules, R"({"a":"x","id":"06923fc0-0123-7456-8789-abcdef012345"})"}.verdict()),
            "id_time_invalid /id@14");
  EXPECT_EQ((decoded{rules, R"({"a":"x","id":"03bb2cc3-d7ff-7fff-bfff-ffffffffffff"})"}.verdict()), "event");
}

}  // namespace
}  // namespace ratchet
