// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "decode/event_id_text.hpp"
#include "decode/record_hash.hpp"
#include "decode/time_text.hpp"
#include "unit/decode/support.hpp"

namespace ratchet {
namespace {

/// Rules that read one field besides the aggregate /a; nothing else is needed.
decode_rules bare_rules() {
  decode_rules rules;
  rules.order = order::arrival;
  rules.ids = id_kind::none;
  rules.envelope.aggregate = "/a";
  return rules;
}
decode_rules with_id() {
  decode_rules rules = bare_rules();
  rules.ids = id_kind::uuidv7;
  rules.envelope.event_id = "/id";
  return rules;
}

const std::string k_event =
    std::string{R"({"id":")"} + k_id_text +
    R"(","type":"payment.paid","occurred_at":"2026-01-01T00:00:00.5Z","sequence":7,)" +
    R"("payment": {"id":"p1", "status":"paid"} })";

TEST(json_envelope, reads_every_field) {
  const decoded e{payment_rules(), {"ignored", k_event, {}, timestamp{std::chrono::milliseconds{99}}}};
  ASSERT_EQ(e.verdict(), "event");
  EXPECT_TRUE(e->has_id);
  EXPECT_EQ(e->id, k_id);
  EXPECT_EQ(e->aggregate, "p1");
  EXPECT_TRUE(e->has_sequence);
  EXPECT_EQ(e->sequence, seq(7));
  EXPECT_EQ(e->type, "payment.paid");
  EXPECT_EQ(to_rfc3339(*e->time), "2026-01-01T00:00:00.500Z");
  EXPECT_EQ(e->record_time, timestamp{std::chrono::milliseconds{99}});
  EXPECT_EQ(e->payload, R"({"id":"p1", "status":"paid"})");
  EXPECT_EQ(e->payload_hash, payload_hash(R"({"id":"p1", "status":"paid"})"));
  EXPECT_EQ(e->malformed.reason, malformed_reason::none);
}

TEST(json_envelope, takes_the_whole_value_as_payload_where_none_is_named) {
  decode_rules rules = bare_rules();
  const decoded e{rules, " {\"a\":\"x\"}\r"};
  ASSERT_EQ(e.verdict(), "event");
  EXPECT_EQ(e->payload, " {\"a\":\"x\"}\r");
}

TEST(json_envelope, keeps_a_payload_byte_for_byte) {
  decode_rules rules = bare_rules();
  rules.payload_from = "/p";
  for (const char* payload : {"1e2", "17.0", "-0", "123456789012345678901234567890", "null", "true",
                              "[ 1,\n2 ]", R"("\u0041\ud800\/")", "{\"x\":1,\"x\":2}", "\"\xC3\xA4\""}) {
    const decoded e{rules, std::string{"{\"a\":\"x\",\"p\" : \t"} + payload + " \r\n}"};
    ASSERT_EQ(e.verdict(), "event") << payload;
    EXPECT_EQ(e->payload, payload);
    EXPECT_EQ(e->payload_hash, payload_hash(payload));
  }
}

struct row {
  const char* value;
  const char* verdict;
};
void expect_rows(const decode_rules& rules, std::initializer_list<row> rows) {
  for (const row& r : rows) EXPECT_EQ((decoded{rules, r.value}.verdict()), r.verdict) << r.value;
}

TEST(json_envelope, needs_the_whole_record_to_be_valid) {
  expect_rows(bare_rules(), {{R"({"a":"x","n":01})", "invalid_json @14"},
                             {R"({"a":"x","n":"\q"})", "invalid_json @15"},
                             {R"({"a":"x"}{})", "invalid_json @9"},
                             {R"({"a":"x")", "invalid_json @8"},
                             {"{\"a\":\"x\",\"n\":\"\xFF\"}", "invalid_utf8 @14"},
                             {"\xEF\xBB\xBF{\"a\":\"x\"}", "byte_order_mark @0"},
                             {" \n", "invalid_json @2"},
                             {R"({"a":"x","n":1e999999})", "event"},
                             {R"({"a":"x","n":12345678901234567890123456789012345678901234567890})", "event"},
                             {"{\"a\":\"x\"}\r", "event"},
                             {R"({"a":7.5,"n":01})", "invalid_json @14"}});  // before a field's fault
  const std::string deep = "{\"a\":\"x\",\"n\":" + std::string(1000, '[') + std::string(1000, ']') + "}";
  EXPECT_EQ((decoded{bare_rules(), deep}.verdict()), "too_deep @1012");
  const std::string shallow = "{\"a\":\"x\",\"n\":" + std::string(999, '[') + std::string(999, ']') + "}";
  EXPECT_EQ((decoded{bare_rules(), shallow}.verdict()), "event");
}

TEST(json_envelope, tells_an_empty_value_and_json_null_from_a_tombstone) {
  EXPECT_EQ((decoded{bare_rules(), ""}.verdict()), "empty_value @0");
  EXPECT_EQ((decoded{bare_rules(), "null"}.verdict()), "null_value @0");
  EXPECT_EQ((decoded{bare_rules(), " null "}.verdict()), "null_value @1");
  decode_rules key_only = bare_rules();
  key_only.envelope.aggregate = "key";
  EXPECT_EQ((decoded{key_only, {"k", "null", {}, std::nullopt}}.verdict()), "null_value @0");
  EXPECT_EQ((decoded{key_only, {"k", "", {}, std::nullopt}}.verdict()), "empty_value @0");
}

TEST(json_envelope, takes_a_number_of_up_to_128_bits_as_a_monotonic_id) {
  decode_rules rules = with_id();
  rules.ids = id_kind::monotonic;
  const auto number_of = [&](const std::string& id) {
    const decoded e{rules, R"({"a":"x","id":)" + id + "}"};
    EXPECT_EQ(e.verdict(), "event") << id;
    EXPECT_TRUE(e->has_id) << id;
    EXPECT_EQ(e->id, id_of_number(*e->from->where, "", e->id_number)) << id;
    return e->id_number;
  };
  EXPECT_EQ(number_of("17"), seq(17));
  EXPECT_EQ(number_of(R"("17")"), seq(17));
  EXPECT_EQ(number_of("0"), seq(0));
  EXPECT_EQ(number_of(R"("340282366920938463463374607431768211455")"),
            (sequence{~std::uint64_t{0}, ~std::uint64_t{0}}));
  expect_rows(rules, {{R"({"a":"x","id":-1})", "id_invalid /id@14"},
                      {R"({"a":"x","id":"evt_1"})", "id_invalid /id@14"},
                      {R"({"a":"x","id":1.5})", "wrong_type /id@14"},
                      {R"({"a":"x","id":true})", "wrong_type /id@14"},
                      {R"({"a":"x"})", "missing_field /id@0"}});
}

TEST(json_envelope, takes_any_text_or_integer_as_an_opaque_id) {
  decode_rules rules = with_id();
  rules.ids = id_kind::opaque;
  const auto spelt = [&](const std::string& id) {
    const decoded e{rules, R"({"a":"x","id":)" + id + "}"};
    EXPECT_EQ(e->id, hash_opaque_id(e->id_text).value_or(event_id{})) << id;
    return e.verdict() == "event" ? std::string{e->id_text} : e.verdict();
  };
  EXPECT_EQ(spelt(R"("evt 1")"), "evt 1");
  EXPECT_EQ(spelt(R"("\u0065vt\n1")"), "evt\n1");
  EXPECT_EQ(spelt(std::string{"\""} + k_id_text + "\""), k_id_text);
  EXPECT_EQ(spelt("17"), "17");
  EXPECT_EQ(spelt("-17"), "-17");
  EXPECT_EQ(spelt("123456789012345678901234567890"), "123456789012345678901234567890");
  expect_rows(rules, {{R"({"a":"x","id":""})", "id_invalid /id@14"},
                      {R"({"a":"x","id":1.0})", "wrong_type /id@14"},
                      {R"({"a":"x","id":1e2})", "wrong_type /id@14"},
                      {R"({"a":"x","id":true})", "wrong_type /id@14"},
                      {R"({"a":"x","id":"\ud800"})", "lone_surrogate /id@15"},
                      {R"({"a":"x","id":null})", "missing_field /id@14"},
                      {R"({"a":"x"})", "missing_field /id@0"}});
  EXPECT_EQ(spelt('"' + std::string(1024, 'i') + '"'), std::string(1024, 'i'));
  EXPECT_EQ((decoded{rules, R"({"a":"x","id":")" + std::string(1025, 'i') + "\"}"}.verdict()),
            "id_invalid /id@14");
  rules.envelope.event_id = "header:id";
  const decoded bytes{rules, {"k", R"({"a":"x"})", {{"id", "\xFF"}}, std::nullopt}};
  EXPECT_EQ(bytes.verdict(), "invalid_utf8 header:id@0");
}

TEST(json_envelope, limits_a_value_where_it_is_told_to) {
  decode_rules rules = bare_rules();
  rules.max_value_bytes = 9;
  EXPECT_EQ((decoded{rules, R"({"a":"x"})"}.verdict()), "event");
  EXPECT_EQ((decoded{rules, R"({"a":"x"} )"}.verdict()), "too_large @9");
  EXPECT_EQ(k_apply_value_bytes, 64U * 1024 * 1024);
}

TEST(json_envelope, names_what_is_missing_at_the_innermost_value_that_is_there) {
  decode_rules rules = bare_rules();
  rules.envelope.aggregate = "/p/q/id";
  expect_rows(rules, {{R"( {})", "missing_field /p/q/id@1"},
                      {R"({"p":{}})", "missing_field /p/q/id@5"},
                      {R"({"p":{"q":{"ID":1}}})", "missing_field /p/q/id@10"},
                      {R"({"p":{"q":{"id":null}}})", "missing_field /p/q/id@16"},
                      {R"({"p":{"q":"id"}})", "missing_field /p/q/id@10"},
                      {R"({"p":null})", "missing_field /p/q/id@5"},
                      {R"([])", "missing_field /p/q/id@0"},
                      {R"(7)", "missing_field /p/q/id@0"},
                      {R"({"p":{"q":{"id":"x"}}})", "event"}});
}

TEST(json_envelope, compares_keys_unescaped) {
  decode_rules rules = bare_rules();
  rules.envelope.aggregate = "/a~1b/ü";
  expect_rows(rules, {{R"({"a/b":{"ü":"x"}})", "event"},
                      {R"({"a\/b":{"\u00fc":"x"}})", "event"},
                      {R"({"\u0061\u002Fb":{"\u00FC":"x"}})", "event"},
                      {R"({"a~1b":{"ü":"x"}})", "missing_field /a~1b/ü@0"},
                      {R"({"a/b":{"u":"x"}})", "missing_field /a~1b/ü@7"},
                      {R"({"a/b":{"\ud800":1,"ü":"x"}})", "event"},
                      {R"({"a/b":{"ü":1,"\u00fc":2}})", "duplicate_field /a~1b/ü@15"}});
}

TEST(json_envelope, follows_indexes_into_arrays) {
  decode_rules rules = bare_rules();
  rules.envelope.aggregate = "/l/1/id";
  rules.envelope.type = "/l/0/t";
  expect_rows(rules, {{R"({"l":[{"t":"x"},{"id":"y"}]})", "event"},
                      {R"({"l":[{"t":"x"},{"id":"y"},{"id":"z"}]})", "longer_array /l/1@5"},
                      {R"({"l":[{"id":"x"}]})", "missing_field /l/1/id@5"},
                      {R"({"l":{"1":{"id":"y"}}})", "event"}});
  const decoded e{rules, R"({"l":[[],{"id":"y"}]})"};
  EXPECT_EQ(e->aggregate, "y");
  rules.envelope.type.clear();
  rules.envelope.aggregate = "/l/01";
  EXPECT_EQ((decoded{rules, R"({"l":["x","y"]})"}.verdict()), "missing_field /l/01@5");
  rules.envelope.aggregate = "/l/-";
  EXPECT_EQ((decoded{rules, R"({"l":["x","y"]})"}.verdict()), "missing_field /l/-@5");
}

TEST(json_envelope, refuses_a_second_key_on_the_path_of_a_field) {
  decode_rules rules = payment_rules();
  rules.ids = id_kind::none;
  expect_rows(
      rules,
      {{R"({"sequence":1,"payment":{"id":"p"},"payment":{}})", "duplicate_field /payment/id@35"},
       {R"({"sequence":1,"payment":{"id":"p","id":"p"}})", "duplicate_field /payment/id@34"},
       {R"({"sequence":1,"sequence":1,"payment":{"id":"p"}})", "duplicate_field /sequence@14"},
       {R"({"sequence":1,"payment":null,"payment":{"id":"p"}})", "duplicate_field /payment/id@29"},
       {R"({"sequence":1,"type":"a","type":"b","payment":{"id":"p"}})", "duplicate_field /type@25"},
       {R"({"sequence":1,"occurred_at":1,"occurred_at":2,"payment":{"id":"p"}})",
        "duplicate_field /occurred_at@30"},
       {R"({"id":1,"id":2,"sequence":1,"payment":{"id":"p"}})", "event"},  // ids are not read
       {R"({"x":1,"x":2,"sequence":1,"payment":{"id":"p","y":1,"y":2,"z":{"id":1,"id":2}}})", "event"}});
  rules.envelope.aggregate = "/sequence";
  EXPECT_EQ((decoded{rules, R"({"sequence":1,"payment":1,"payment":2})"}.verdict()),
            "duplicate_field /payment@26");
}

TEST(json_envelope, takes_strings_and_integers_as_aggregate_ids) {
  const auto read = [](const std::string& id) {
    const decoded e{bare_rules(), "{\"a\":" + id + "}"};
    return e->kind == decoded_kind::event ? std::string{e->aggregate} : e.verdict();
  };
  EXPECT_EQ(read("\"p 1\""), "p 1");
  EXPECT_EQ(read("17"), "17");
  EXPECT_EQ(read("-17"), "-17");
  EXPECT_EQ(read("123456789012345678901234567890"), "123456789012345678901234567890");
  EXPECT_EQ(read("17.0"), "wrong_type /a@5");
  EXPECT_EQ(read("1e2"), "wrong_type /a@5");
  EXPECT_EQ(read("1E2"), "wrong_type /a@5");
  EXPECT_EQ(read("true"), "wrong_type /a@5");
  EXPECT_EQ(read("{}"), "wrong_type /a@5");
  EXPECT_EQ(read("[\"x\"]"), "wrong_type /a@5");
  EXPECT_EQ(read("null"), "missing_field /a@5");
  EXPECT_EQ(read(R"("\u00e4\n\ud83d\ude00\/")"), "\xC3\xA4\n\xF0\x9F\x98\x80/");
  EXPECT_EQ(read(R"("\u0000")"), std::string(1, '\0'));
}

TEST(json_envelope, measures_aggregate_ids_after_unescaping) {
  const auto read = [](const std::string& id) {
    return decoded{bare_rules(), "{\"a\":\"" + id + "\"}"}.verdict();
  };
  std::string escaped;
  for (int i = 0; i < 1024; ++i) escaped += "\\u0041";
  EXPECT_EQ(read(""), "aggregate_size /a@5");
  EXPECT_EQ(read(std::string(1024, 'x')), "event");
  EXPECT_EQ(read(std::string(1025, 'x')), "aggregate_size /a@5");
  EXPECT_EQ(read(escaped), "event");
  EXPECT_EQ(read(escaped + "A"), "aggregate_size /a@5");
}

TEST(json_envelope, needs_event_ids_to_be_uuidv7) {
  const auto read = [](const std::string& id) {
    return decoded{with_id(), "{\"a\":\"x\",\"id\":" + id + "}"}.verdict();
  };
  EXPECT_EQ(read("\"018f2b7c-1234-7abc-89ab-0123456789ab\""), "event");
  EXPECT_EQ(read("\"\\u003018f2b7c-1234-7abc-89ab-0123456789ab\""), "event");
  EXPECT_EQ(read("\"\\u003018f2b7c-1234-7abc-89ab-0123456789a\""), "id_invalid /id@14");
  EXPECT_EQ(read("\"018f2b7c-1234-4abc-89ab-0123456789ab\""), "id_invalid /id@14");
  EXPECT_EQ(read("\"\""), "id_invalid /id@14");
  EXPECT_EQ(read("17"), "wrong_type /id@14");
  EXPECT_EQ(read("null"), "missing_field /id@14");
  EXPECT_EQ((decoded{with_id(), R"({"a":"x"})"}.verdict()), "missing_field /id@0");
}

TEST(json_envelope, does_not_read_ids_where_none_are_kept) {
  decode_rules rules = with_id();
  rules.ids = id_kind::none;
  const decoded e{rules, R"({"a":"x","id":"nonsense"})"};
  EXPECT_EQ(e.verdict(), "event");
  EXPECT_FALSE(e->has_id);
}

TEST(json_envelope, takes_plain_decimal_numbers_as_sequence) {
  const auto read = [](const std::string& s) {
    const decoded e{plain_rules(), "{\"a\":\"x\",\"s\":" + s + "}"};
    return e->kind == decoded_kind::event ? std::to_string(e->sequence.number) : e.verdict();
  };
  EXPECT_EQ(read("0"), "0");
  EXPECT_EQ(read("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(read("\"18446744073709551615\""), "18446744073709551615");
  EXPECT_EQ(read("\"0007\""), "7");
  EXPECT_EQ(read(R"("\u0037")"), "7");
  for (const char* s : {"17.0", "1e2", "-0", "-1", "\"-1\"", "\"\"", "\" 1\"", "\"1.0\"", "\"x\""}) {
    EXPECT_EQ(read(s), "sequence_invalid /s@13") << s;
  }
  for (const char* s : {"18446744073709551616", "\"18446744073709551616\"",
                        "49590338271490256608559692538361571095921575989136588898"}) {
    EXPECT_EQ(read(s), "sequence_too_large /s@13") << s;
  }
  for (const char* s : {"true", "{}", "[1]"}) EXPECT_EQ(read(s), "wrong_type /s@13") << s;
  EXPECT_EQ(read("null"), "missing_field /s@13");
  EXPECT_EQ((decoded{plain_rules(), R"({"a":"x"})"}.verdict()), "missing_field /s@0");
}

TEST(json_envelope, needs_a_sequence_in_strict_order_too) {
  decode_rules rules = plain_rules();
  rules.order = order::strict;
  EXPECT_EQ((decoded{rules, R"({"a":"x"})"}.verdict()), "missing_field /s@0");
  rules.envelope.sequence.clear();
  EXPECT_EQ((decoded{rules, R"({"a":"x","s":1})"}.verdict()), "missing_field @0");
}

TEST(json_envelope, reads_no_sequence_in_arrival_order) {
  decode_rules rules = plain_rules();
  rules.order = order::arrival;
  const decoded e{rules, R"({"a":"x","s":"nonsense"})"};
  EXPECT_EQ(e.verdict(), "event");
  EXPECT_FALSE(e->has_sequence);
}

TEST(json_envelope, reads_a_sequence_in_hexadecimal_digits_from_text_alone) {
  decode_rules rules = plain_rules();
  rules.envelope.sequence_base = 16;
  const auto sequence_in = [&](const char* value) {
    const decoded e{rules, value};
    return e->sequence;
  };
  EXPECT_EQ(sequence_in(R"({"a":"x","s":"00fF"})"), seq(255));
  expect_rows(rules, {{R"({"a":"x","s":"ffffffffffffffff"})", "event"},
                      {R"({"a":"x","s":"10000000000000000"})", "sequence_invalid /s@13"},
                      {R"({"a":"x","s":""})", "sequence_invalid /s@13"},
                      {R"({"a":"x","s":"0xff"})", "sequence_invalid /s@13"},
                      {R"({"a":"x","s":10})", "wrong_type /s@13"},
                      {R"({"a":"x"})", "missing_field /s@0"}});
  rules.envelope.epoch = "/e";
  EXPECT_EQ(sequence_in(R"({"a":"x","s":"10","e":10})"), seq(10, 16)) << "the epoch is decimal";
  rules.envelope.epoch.clear();
  rules.envelope.sequence_bits = 128;
  EXPECT_EQ(sequence_in(R"({"a":"x","s":"10000000000000002"})"), seq(1, 2));
  rules.envelope.sequence = "header:seq";
  const decoded in_header{rules, {"k", R"({"a":"x"})", {{"seq", "0A"}}, std::nullopt}};
  EXPECT_EQ(in_header->sequence, seq(10));
}

TEST(json_envelope, splits_a_sequence_of_128_bits) {
  decode_rules rules = plain_rules();
  rules.envelope.sequence_bits = 128;
  const decoded token{rules, R"({"a":"x","s":340282366920938463463374607431768211454})"};
  ASSERT_EQ(token.verdict(), "event");
  EXPECT_EQ(token->sequence, seq(~std::uint64_t{0}, ~std::uint64_t{0} - 1));
  const decoded text{rules, R"({"a":"x","s":"0018446744073709551617"})"};
  ASSERT_EQ(text.verdict(), "event");
  EXPECT_EQ(text->sequence, seq(1, 1));
  expect_rows(rules,
              {{R"({"a":"x","s":340282366920938463463374607431768211456})", "sequence_too_large /s@13"},
               {R"({"a":"x","s":1.5})", "sequence_invalid /s@13"}});
}

TEST(json_envelope, takes_the_epoch_from_its_own_field) {
  decode_rules rules = plain_rules();
  rules.envelope.epoch = "/e";
  const decoded e{rules, R"({"a":"x","s":"7","e":3})"};
  ASSERT_EQ(e.verdict(), "event");
  EXPECT_EQ(e->sequence, seq(3, 7));
  expect_rows(rules, {{R"({"a":"x","s":7})", "missing_field /e@0"},
                      {R"({"a":"x","s":7,"e":null})", "missing_field /e@19"},
                      {R"({"a":"x","s":7,"e":-1})", "sequence_invalid /e@19"},
                      {R"({"a":"x","s":7,"e":[]})", "wrong_type /e@19"}});
}

TEST(json_envelope, does_without_type_and_time) {
  decode_rules rules = bare_rules();
  rules.envelope.type = "/t";
  rules.envelope.time = "/at";
  for (const char* value : {R"({"a":"x"})", R"({"a":"x","t":null,"at":null})"}) {
    const decoded e{rules, value};
    ASSERT_EQ(e.verdict(), "event");
    EXPECT_EQ(e->type, "");
    EXPECT_FALSE(e->time);
  }
  expect_rows(rules, {{R"({"a":"x","t":7})", "wrong_type /t@13"}, {R"({"a":"x","t":""})", "event"}});
}

TEST(json_envelope, takes_time_as_rfc_3339_or_integer_milliseconds) {
  decode_rules rules = bare_rules();
  rules.envelope.time = "/at";
  const auto read = [&](const std::string& at) {
    const decoded e{rules,
                    {{}, "{\"a\":\"x\",\"at\":" + at + "}", {}, timestamp{std::chrono::milliseconds{5}}}};
    EXPECT_EQ(e.verdict(), "event") << at;
    EXPECT_EQ(e->record_time, timestamp{std::chrono::milliseconds{5}});
    return e->time ? to_rfc3339(*e->time) : "";
  };
  EXPECT_EQ(read("\"2026-01-01T01:00:00+01:00\""), "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(read("1767225600123"), "2026-01-01T00:00:00.123Z");
  EXPECT_EQ(read("\"1767225600123\""), "2026-01-01T00:00:00.123Z") << "digits as text are a number";
  EXPECT_EQ(read("\"2026-01-01 00:00:00\""), "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(read("null"), "");
}

TEST(json_envelope, refuses_a_time_that_is_there_and_means_nothing_whatever_stands_for_the_records) {
  decode_rules rules = bare_rules();
  rules.envelope.time = "/at";
  for (const bool stands : {false, true}) {
    rules.time_stands_for_record = stands;
    for (const char* at : {"\"yesterday\"", "1.5", "1e3", "\"\""}) {
      const decoded e{rules, std::string{"{\"a\":\"x\",\"at\":"} + at + "}"};
      EXPECT_EQ(e.verdict(), "time_invalid /at@14") << at;
    }
    for (const char* at : {"true", "{}", "[]"}) {
      const decoded e{rules, std::string{"{\"a\":\"x\",\"at\":"} + at + "}"};
      EXPECT_EQ(e.verdict(), "wrong_type /at@14") << at;
    }
  }
}

TEST(json_envelope, keeps_the_records_time_where_the_events_is_malformed) {
  decode_rules rules = bare_rules();
  rules.envelope.time = "/at";
  const decoded e{rules, {{}, R"({"a":"x","at":"yesterday"})", {}, timestamp{std::chrono::milliseconds{5}}}};
  EXPECT_EQ(e.verdict(), "time_invalid /at@14");
  EXPECT_EQ(e->record_time, timestamp{std::chrono::milliseconds{5}});
}

TEST(json_envelope, takes_a_time_for_the_records_where_it_stands_for_that) {
  decode_rules rules = bare_rules();
  rules.envelope.time = "/at";
  rules.time_stands_for_record = true;
  const decoded with{rules, {{}, R"({"a":"x","at":5})", {}, timestamp{std::chrono::milliseconds{99}}}};
  ASSERT_EQ(with.verdict(), "event");
  EXPECT_EQ(with->record_time, timestamp{std::chrono::milliseconds{5}});
  const decoded without{rules, {{}, R"({"a":"x"})", {}, timestamp{std::chrono::milliseconds{99}}}};
  ASSERT_EQ(without.verdict(), "event");
  EXPECT_FALSE(without->record_time);
  expect_rows(rules, {{R"({"a":"x","at":null})", "event"}});
}

TEST(json_envelope, refuses_lone_surrogates_only_where_it_decodes) {
  decode_rules rules = with_id();
  rules.envelope.type = "/t";
  rules.envelope.time = "/at";
  rules.payload_from = "/p";
  const std::string id = std::string{R"("id":")"} + k_id_text + "\",";
  const auto read = [&](const std::string& rest) { return decoded{rules, "{" + id + rest + "}"}.verdict(); };
  EXPECT_EQ(read(R"("a":"x\ud800","p":1)"), "lone_surrogate /a@51");
  EXPECT_EQ(read(R"("a":"\udc00x","p":1)"), "lone_surrogate /a@50");
  EXPECT_EQ(read(R"("a":"\ud800\ud800","p":1)"), "lone_surrogate /a@50");
  EXPECT_EQ(read(R"("a":"\ud800A","p":1)"), "lone_surrogate /a@50");
  EXPECT_EQ(read(R"("a":"x","t":"\ud800","p":1)"), "lone_surrogate /t@58");
  EXPECT_EQ(read(R"("a":"x","at":"\ud800","p":1)"), "lone_surrogate /at@59");
  EXPECT_EQ(read(R"("a":"x","p":"\ud800")"), "event");
  EXPECT_EQ(read(R"("a":"x","p":1,"other":"\ud800","\udfff":1)"), "event");
  EXPECT_EQ((decoded{rules, R"({"id":"\ud800","a":"x","p":1})"}.verdict()), "lone_surrogate /id@7");
}

TEST(json_envelope, needs_the_payload_to_be_there) {
  decode_rules rules = bare_rules();
  rules.payload_from = "/p/q";
  expect_rows(rules, {{R"({"a":"x"})", "missing_field /p/q@0"},
                      {R"({"a":"x","p":{}})", "missing_field /p/q@13"},
                      {R"({"a":"x","p":null})", "missing_field /p/q@13"},
                      {R"({"a":"x","p":{"q":null}})", "event"},
                      {R"({"a":"x","p":{"q":1,"q":1}})", "duplicate_field /p/q@20"}});
}

TEST(json_envelope, keeps_nothing_of_a_malformed_event_but_its_records_time) {
  decode_rules rules = payment_rules();
  const decoded e{rules,
                  {{},
                   R"({"id":"018f2b7c-1234-7abc-89ab-0123456789ab","payment":{"id":"p"}})",
                   {},
                   timestamp{std::chrono::milliseconds{5}}}};
  EXPECT_EQ(e->kind, decoded_kind::malformed);
  EXPECT_FALSE(e->has_id);
  EXPECT_EQ(e->aggregate, "");
  EXPECT_EQ(e->record_time, timestamp{std::chrono::milliseconds{5}});
  EXPECT_NE(e->from, nullptr);
}

}  // namespace
}  // namespace ratchet
