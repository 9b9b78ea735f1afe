// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What the serializers of schema registries write.
#include <gtest/gtest.h>

#include <string>

#include "decode/record_hash.hpp"
#include "decode/registry_frame.hpp"
#include "unit/decode/support.hpp"

namespace ratchet {
namespace {

using namespace std::string_literals;

const std::string k_confluent = "\0\0\0\0\x2A"s;
const std::string k_apicurio = "\0\0\0\0\0\0\0\0\x2A"s;
const std::string k_glue = "\x03\0\x01\x8f\x2b\x7c\x12\x34\x7a\xbc\x89\xab\x01\x23\x45\x67\x89\xab"s;

TEST(frames, are_taken_off_json) {
  const std::string json = R"({"a":"x","s":7,"p":{"q":1}})";
  for (const std::string& frame : {k_confluent, k_apicurio, k_glue}) {
    const decoded e{plain_rules(), frame + json};
    ASSERT_EQ(e.verdict(), "event") << frame.size();
    EXPECT_EQ(e->aggregate, "x");
    EXPECT_EQ(e->sequence, seq(7));
    EXPECT_EQ(e->payload, json) << "the reducer gets the JSON alone";
    EXPECT_EQ(e->payload_hash, payload_hash(json));
    decode_rules part = plain_rules();
    part.payload_from = "/p";
    EXPECT_EQ((decoded { part, frame + " " + json } -> payload), R"({"q":1})");
  }
}

TEST(frames, leave_the_places_of_faults_in_the_record) {
  EXPECT_EQ((decoded{plain_rules(), k_confluent + R"({"a":"x","s":-1})"}.verdict()),
            "sequence_invalid /s@18");
  EXPECT_EQ((decoded{plain_rules(), k_confluent + R"({"a":"x",})"}.verdict()), "invalid_json @14");
  EXPECT_EQ((decoded{plain_rules(), k_confluent + R"({"a":"x"})"}.verdict()), "missing_field /s@5");
  EXPECT_EQ((decoded{plain_rules(), k_confluent + "null"}.verdict()), "null_value @5");
}

TEST(frames, before_something_else_are_named) {
  const auto verdict = [](const std::string& value) { return decoded{plain_rules(), value}.verdict(); };
  EXPECT_EQ(verdict(k_confluent + "\x02"
                                  "a\x02"),
            "avro @0");
  EXPECT_EQ(verdict(k_confluent + "\"" + "seventeen letters"), "avro @0") << "a string's length is a quote";
  EXPECT_EQ(verdict(k_confluent + "0twenty-four letters here"), "avro @0") << "a string's length is a digit";
  EXPECT_EQ(verdict(k_confluent + "\0\x0A\x01"
                                  "a\x10\x07"s),
            "protobuf @0");
  EXPECT_EQ(verdict(k_confluent + "\x02\x04\x0A\x01"
                                  "a"),
            "protobuf @0")
      << "the third type of its file";
  EXPECT_EQ(verdict(k_apicurio + "\x02"
                                 "a\x02"),
            "avro @0");
  EXPECT_EQ(verdict(k_glue + "\x02"
                             "a\x02"),
            "avro @0");
  std::string compressed = k_glue + "\x78\x9C\xAB\x56";
  compressed[1] = 5;
  EXPECT_EQ(verdict(compressed), "zlib @0") << "by AWS Glue's serializer, whatever is inside";
  EXPECT_EQ(verdict("\0\0\0\0\x2A"s), "invalid_json @0") << "nothing stands behind it";
  EXPECT_EQ(verdict("\x02\0\0\0\x2A{}"s), "invalid_json @0") << "no frame begins so";
}

TEST(frames, tell_the_schema) {
  EXPECT_EQ(read_frame(k_confluent + "\x02"
                                     "a")
                .value()
                .schema,
            "42");
  EXPECT_EQ(read_frame(k_apicurio + "\x02"
                                    "a")
                .value()
                .schema,
            "42");
  EXPECT_EQ(read_frame(k_glue + "\x02"
                                "a")
                .value()
                .schema,
            "018f2b7c-1234-7abc-89ab-0123456789ab");
  EXPECT_FALSE(read_frame("{}"));
}

std::string aggregate_of(const std::string& key, key_kind kind = key_kind::automatic) {
  decode_rules rules = plain_rules();
  rules.envelope.aggregate = "key";
  rules.envelope.key = kind;
  const decoded e{rules, {key, R"({"s":1})", {}, std::nullopt}};
  return e.verdict() == "event" ? std::string{e->aggregate} : e.verdict();
}

TEST(keys, are_read_behind_a_frame) {
  EXPECT_EQ(aggregate_of(k_confluent + R"("o-1")"), "o-1");
  EXPECT_EQ(aggregate_of(k_confluent + R"("a")"), "a") << "8 bytes that are a string";
  EXPECT_EQ(aggregate_of(k_confluent + R"("\u00e4\"")"), "\xC3\xA4\"");
  EXPECT_EQ(aggregate_of(k_confluent + "1234"), "1234");
  EXPECT_EQ(aggregate_of(k_confluent + R"({"id":5})"), R"({"id":5})");
  EXPECT_EQ(aggregate_of(k_confluent + "123"), "key_binary key@0") << "a number of 8 bytes may look so";
  EXPECT_EQ(aggregate_of(k_confluent + "123", key_kind::json), "123");
  EXPECT_EQ(aggregate_of(k_confluent + "\x02"
                                       "a"),
            "key_binary key@0")
      << "Avro";
}

TEST(keys, of_binary_serializers_are_refused_where_nobody_says_what_they_are) {
  EXPECT_EQ(aggregate_of("\0\0\0\x05"s), "key_binary key@0");
  EXPECT_EQ(aggregate_of("\0\0\0\0\0\0\0A"s), "key_binary key@0");
  EXPECT_EQ(aggregate_of("\x1A\x0A"
                         "bcdefg"),
            "key_binary key@0")
      << "a number that fills its bytes";
  EXPECT_EQ(aggregate_of("ABC\0"s), "key_binary key@0");
  EXPECT_EQ(aggregate_of("\xFF\xFF\xFF\xFB"), "key_binary key@0");
  EXPECT_EQ(aggregate_of("i(\x11@"), "key_binary key@0") << "seconds of 2025, the first two of them letters";
  EXPECT_EQ(aggregate_of("\t\x1A"
                         "bc"),
            "key_binary key@0")
      << "a number that begins with a tab";
  EXPECT_EQ(aggregate_of("\nabc"), "key_binary key@0");
  EXPECT_EQ(aggregate_of("abc\x7F"), "key_binary key@0");
  EXPECT_EQ(aggregate_of("\x0D!"), "key_binary key@0") << "a short";
  EXPECT_EQ(aggregate_of("\x40\x5E\xDD\x2F\x1A\x9F\xBE\x77"), "key_binary key@0") << "a double, 123.456";
  EXPECT_EQ(aggregate_of("\x41\xC8\x41\x41"), "key_binary key@0") << "a float";
  EXPECT_EQ(aggregate_of("sixteen letters\x80"), "key_binary key@0") << "as long as a UUID";
  EXPECT_EQ(aggregate_of("Stra\xDF"
                         "e"),
            "invalid_utf8 key@4")
      << "text in Latin-1";
  EXPECT_EQ(aggregate_of("a\x1F"
                         "b"),
            "key_binary key@0")
      << "parts with a separator of control between them: nobody can tell them from a number";
  EXPECT_EQ(aggregate_of("a\tb", key_kind::text), "a\tb");
  EXPECT_EQ(aggregate_of("Stra\xC3\x9F"
                         "e 1"),
            "Stra\xC3\x9F"
            "e 1");
  EXPECT_EQ(aggregate_of(""), "aggregate_size key@0");
  EXPECT_EQ(aggregate_of("\0\0\0\x05"s, key_kind::text), "\0\0\0\x05"s) << "who says text means it";
}

TEST(keys, of_binary_serializers_are_numbers_and_uuids) {
  EXPECT_EQ(aggregate_of("\0\0\0\x05"s, key_kind::i32), "5");
  EXPECT_EQ(aggregate_of("\xFF\xFF\xFF\xFB", key_kind::i32), "-5");
  EXPECT_EQ(aggregate_of("5", key_kind::i32), "key_invalid key@0");
  EXPECT_EQ(aggregate_of("\0\0\0\0\0\0\x01\0"s, key_kind::i64), "256");
  EXPECT_EQ(aggregate_of("\x80\0\0\0\0\0\0\0"s, key_kind::i64), "-9223372036854775808");
  EXPECT_EQ(aggregate_of("\0\0\0\x05"s, key_kind::i64), "key_invalid key@0");
  const std::string uuid = "\x01\x8f\x2b\x7c\x12\x34\x7a\xbc\x89\xab\x01\x23\x45\x67\x89\xab";
  EXPECT_EQ(aggregate_of(uuid, key_kind::uuid), k_id_text);
  EXPECT_EQ(aggregate_of("018F2B7C-1234-7ABC-89AB-0123456789AB", key_kind::uuid), k_id_text);
  EXPECT_EQ(aggregate_of("018F2B7C-1234-7ABC-89AB-0123456789AX", key_kind::uuid), "key_invalid key@35");
  EXPECT_EQ(aggregate_of(uuid.substr(1), key_kind::uuid), "key_invalid key@0");
}

TEST(keys, in_quotes_are_as_they_come_unless_they_are_json) {
  EXPECT_EQ(aggregate_of(R"("o-1")"), R"("o-1")");
  EXPECT_EQ(aggregate_of(R"("o-1")", key_kind::json), "o-1");
  EXPECT_EQ(aggregate_of(" 17 ", key_kind::json), "17");
  EXPECT_EQ(aggregate_of("o-1", key_kind::json), "key_invalid key@0");
  EXPECT_EQ(aggregate_of("{}", key_kind::json), "key_invalid key@0");
  EXPECT_EQ(aggregate_of("null", key_kind::json), "key_invalid key@0");
  EXPECT_EQ(aggregate_of(R"("\ud800")", key_kind::json), "lone_surrogate key@1");
  EXPECT_EQ(aggregate_of(R"("")", key_kind::json), "aggregate_size key@0");
}

}  // namespace
}  // namespace ratchet
