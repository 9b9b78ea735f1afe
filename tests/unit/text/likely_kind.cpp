// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "text/likely_kind.hpp"

#include <gtest/gtest.h>

#include <string>

#include "text/rejected_messages.hpp"

namespace ratchet {
namespace {

using namespace std::string_literals;

TEST(likely_kind, is_told_by_the_first_bytes) {
  EXPECT_EQ(kind_of_bytes("\x1F\x8B\x08"s).what, "gzip");
  EXPECT_EQ(kind_of_bytes("\x1F\x8B\x08"s).filter, "zcat");
  EXPECT_EQ(kind_of_bytes("\x28\xB5\x2F\xFD\x04").what, "Zstandard");
  EXPECT_EQ(kind_of_bytes("{\0\"\0"s).what, "UTF-16 (little-endian)");
  EXPECT_EQ(kind_of_bytes("\xFF\xFE{\0"s).filter, "iconv -f utf-16 -t utf-8");
  EXPECT_EQ(kind_of_bytes("\xFF\xFE\0\0{"s).what, "UTF-32");
  EXPECT_EQ(kind_of_bytes("<?xml").what, "XML");
  EXPECT_EQ(kind_of_bytes("{'id': 1}").what, "what Python prints of a dict, with single quotes");
  EXPECT_EQ(kind_of_bytes("hello").what, "text that is not JSON");
  EXPECT_EQ(kind_of_bytes("\x0A\x03"
                          "abc")
                .what,
            "a binary format, as Protobuf, Avro or MessagePack");
  EXPECT_EQ(kind_of_bytes("eyJpZCI6ImEiLCJ2IjoxfQ==").what, "JSON in base64");
  EXPECT_EQ(kind_of_bytes("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln").what, "text that is not JSON");
  EXPECT_EQ(kind_of_bytes("Struct{id=1}").what, "what Kafka Connect prints of a struct with StringConverter");
  EXPECT_EQ(kind_of_bytes("{id=1, name=a}").what, "what Java prints of a map, with = behind the names");
  EXPECT_EQ(kind_of_bytes("{ id: 1 }").what, "an object whose names have no quotes, as in JavaScript");
  EXPECT_EQ(kind_of_bytes(R"({"a":1}{"a":2})").what, "several JSON values one behind the other");
  EXPECT_FALSE(kind_of_bytes(R"({"a":"}{"})").certain) << "it may be within a string of JSON";
  EXPECT_EQ(kind_of_bytes("{").what, "");
  EXPECT_EQ(kind_of_bytes("{}").what, "");
  EXPECT_EQ(kind_of_bytes("  ").what, "nothing but white space");
  EXPECT_EQ(kind_of_bytes("{\"a\":1,}").what, "") << "JSON with a fault in it is no other kind";
  EXPECT_EQ(kind_of_bytes("\0\0\0\0\x2A\x02"
                          "a"s)
                .what,
            "Avro behind the frame of a schema registry, schema id 42");
}

TEST(likely_kind, of_a_rejected_record_is_a_hint) {
  EXPECT_EQ(
      hint_on_fault("avro",
                    "\0\0\0\0\x2A\x02"
                    "a"s),
      "schema id 42, Avro: not supported yet; have the topic written in JSON, or turn it into JSON first");
  EXPECT_EQ(hint_on_fault("protobuf",
                          "\0\0\0\0\x2A\0\x0A\x01"
                          "a"s),
            "schema id 42, Protobuf: not supported yet; have the topic written in JSON, or turn it into JSON "
            "first");
  EXPECT_EQ(hint_on_fault("invalid_json", "<x/>"),
            "most likely XML: have the topic written in JSON, or turn it into JSON first");
  EXPECT_EQ(hint_on_fault("invalid_json", "{"), "");
  EXPECT_NE(hint_on_fault("key_binary", "{}").find("key: i64"), std::string::npos);
  EXPECT_NE(hint_on_fault("null_value", std::nullopt, "/a").find("ignore: {tombstones: true}"),
            std::string::npos);
  EXPECT_EQ(hint_on_fault("null_value", std::nullopt).find("ignore:"), std::string::npos)
      << "row changes have no key for it";
  EXPECT_NE(hint_on_fault("sequence_invalid", "{}", "/seq").find("as:"), std::string::npos);
  for (const char* pointer : {"/source/commit_lsn", "/payload/source/pos", "/ts/0", "/__lsn"})
    EXPECT_EQ(hint_on_fault("sequence_invalid", "{}", pointer), "") << "row changes have no key for it";
  EXPECT_EQ(hint_on_fault("time_invalid", "{}", "/source/ts_ms"), "");
  EXPECT_NE(hint_on_fault("invalid_json", "{}", "key").find("JsonConverter"), std::string::npos);
  EXPECT_NE(hint_on_fault("invalid_utf8", "{}", "key").find("encoding"), std::string::npos);
  EXPECT_NE(hint_on_fault("header_binary", "{}", "header:seq").find("text"), std::string::npos);
  EXPECT_NE(hint_on_fault("zlib", std::nullopt).find("AWS Glue"), std::string::npos);
  EXPECT_NE(hint_on_fault("connector_unknown", R"({"source":{"origin":"cockroachdb"}})", "cockroachdb")
                .find("as: hlc"),
            std::string::npos);
  EXPECT_NE(hint_on_fault("connector_unknown", "{}", "/source/connector").find("position: partition"),
            std::string::npos);
  EXPECT_NE(hint_on_fault("null_value", "null").find("the JSON text null"), std::string::npos);
  EXPECT_NE(hint_on_fault("missing_field", "\"{}\"").find("encoded twice"), std::string::npos);
  EXPECT_EQ(hint_on_fault("missing_field", "{}"), "");
  EXPECT_NE(hint_on_fault("empty_value", "").find("without bytes"), std::string::npos);
  EXPECT_NE(hint_on_fault("range_invalid", "{}").find("`previous`"), std::string::npos);
  EXPECT_NE(hint_on_fault("sequence_invalid", R"({"gtid":"0-1-270"})").find("GTID"), std::string::npos);
  EXPECT_EQ(hint_on_fault("sequence_invalid", R"({"v":"x"})").find("GTID"), std::string::npos);
}

TEST(escaped_beginning, is_one_line_of_ascii_and_bounded) {
  EXPECT_EQ(escaped_beginning("a\"\\\n\0\xFF"s), R"("a\"\\\x0A\x00\xFF")");
  EXPECT_EQ(escaped_beginning(std::string(65, 'x')), "\"" + std::string(64, 'x') + "\" ...");
}

}  // namespace
}  // namespace ratchet
