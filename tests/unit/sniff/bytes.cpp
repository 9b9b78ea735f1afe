// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What `ratchet sniff` makes of bytes: values and headers that are not plain JSON, and keys of serializers.
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

TEST(sniff, tells_what_cannot_be_read) {
  const auto of = [](const std::string& value) {
    return report(numbered({record_of("k", value), record_of("k", value)}));
  };
  const std::string avro = of(std::string{"\0\0\0\0\x2a\x02\x0cpaid", 11});
  EXPECT_THAT(avro, HasSubstr("most likely Avro"));
  EXPECT_THAT(avro, HasSubstr("schema id 42"));
  EXPECT_THAT(avro, Not(HasSubstr("version: 1")));
  EXPECT_THAT(of("\x1f\x8b\x08"), HasSubstr("gzip"));
  EXPECT_THAT(of("plain words"), Not(HasSubstr("version: 1")));
  EXPECT_THAT(of(std::string{"\0\0\0\0\x07{\"id\":1,\"seq\":2}", 21}),
              HasSubstr("behind the frame of a schema registry"));
  std::string glue = "\x03x0123456789abcdef{\"id\":1,\"seq\":2}";
  glue[1] = 0;
  EXPECT_THAT(of(glue), HasSubstr("JSON behind the frame of a schema registry"));
  EXPECT_THAT(of(glue), HasSubstr("version: 1"));
  glue[1] = 5;
  EXPECT_THAT(of(glue), HasSubstr("compressed with zlib, behind the frame of AWS Glue"));
  EXPECT_THAT(of(glue), HasSubstr("set its compression to NONE"));
  EXPECT_THAT(of("\x80\x04\x95\x15"), HasSubstr("Python pickle"));
}

TEST(sniff, tells_of_json_within_text) {
  const auto of = [](const std::string& value, const std::string& topic) {
    return report(numbered({record_of("k", value), record_of("k", value)}), topic);
  };
  const std::string quoted = R"("{\"id\":\"a\",\"seq\":1}")";
  EXPECT_THAT(of(quoted, ""), HasSubstr("jq -c fromjson orders.ndjson | ratchet sniff -"));
  EXPECT_THAT(of(quoted, "orders"), HasSubstr("encoded twice: let the producer send the inner text"));
  const std::string base64 = "eyJpZCI6ImEiLCJzZXEiOjF9";
  EXPECT_THAT(of(base64, ""), HasSubstr("jq -Rc '@base64d | fromjson' orders.ndjson | ratchet sniff -"));
  EXPECT_THAT(of("\"" + base64 + "\"", ""), HasSubstr("jq -c '@base64d | fromjson' orders.ndjson"));
  EXPECT_THAT(of(base64, "orders"), HasSubstr("JSON in base64: let the producer send the JSON as it is"));
  const std::string within =
      of(R"({"id":"a","seq":1,"payload":"{\"n\":1}","data":")" + base64 + "\"}", "orders");
  EXPECT_THAT(within, HasSubstr("/payload holds JSON as text"));
  EXPECT_THAT(within, HasSubstr("/data holds JSON in base64"));
}

/// Records whose keys are these; of each key there are three.
std::vector<sniffed_record> keyed(const std::vector<std::string>& keys) {
  std::vector<sniffed_record> records;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < keys.size(); ++i)
      records.push_back(record_of(keys[i], R"({"event_id":"e)" + std::to_string(records.size()) + "\"}"));
  }
  return numbered(std::move(records));
}

TEST(sniff, tells_the_kind_of_binary_keys_by_all_of_them) {
  struct row {
    const char* what;
    std::vector<std::string> keys;
    key_kind kind;
  };
  const row k_rows[] = {
      {"big-endian integers of 8 bytes",
       {big_endian(5, 8), big_endian(70000, 8), big_endian(~0ULL, 8)},
       key_kind::i64},
      {"big-endian integers of 4 bytes",
       {big_endian(1684234849, 4), big_endian(7, 4), big_endian(9, 4)},
       key_kind::i32},
      {"IEEE doubles of 8 bytes",
       {big_endian(0x405EDD2F1A9FBE77, 8), big_endian(0x4000000000000000, 8)},
       key_kind::i64},
      {"IEEE floats of 4 bytes", {big_endian(0x41280000, 4), big_endian(0x3F800000, 4)}, key_kind::i32},
      {"16 bytes, as a UUID",
       {big_endian(0x018f2b7c12347abc, 8) + big_endian(0x89ab012345678901, 8)},
       key_kind::uuid},
      {"JSON strings in quotes", {"\"o-1\"", "\"o-2\""}, key_kind::json},
  };
  for (const row& r : k_rows) {
    const std::string text = report(keyed(r.keys));
    EXPECT_THAT(text, HasSubstr(r.what));
    const stream_config s = stream_in(text);
    EXPECT_EQ(s.envelope.aggregate, "key") << r.what;
    EXPECT_EQ(s.envelope.key, r.kind) << r.what;
  }
  EXPECT_EQ(stream_in(report(keyed({"abcd", "efgh"}))).envelope.key, key_kind::automatic);
}

TEST(sniff, suggests_no_key_that_cannot_be_read) {
  for (const std::string& key : {std::string{"\0\x05", 2}, std::string{"\0\0\0\0\x2a\x02\x0cpaid", 11}}) {
    const std::string text = report(keyed({key, key + key}));
    EXPECT_THAT(text, HasSubstr("keys cannot be read"));
    EXPECT_NE(stream_in(text).envelope.aggregate, "key");
  }
}

TEST(sniff, tells_of_headers_that_are_bytes) {
  std::vector<sniffed_record> records = payments();
  for (sniffed_record& r : records) r.headers = {{"version", big_endian(7, 8)}};
  const std::string text = report(records);
  EXPECT_THAT(text, HasSubstr("in 120, bytes that are not text"));
  EXPECT_THAT(text, HasSubstr("Ratchet reads no field from them"));
}

TEST(value_form, goes_by_the_bytes) {
  const auto form = [](const std::string& bytes) { return look_at(bytes).form; };
  EXPECT_EQ(look_at(std::nullopt).form, byte_form::none);
  EXPECT_EQ(form(""), byte_form::empty);
  EXPECT_EQ(form(" {\"a\":1} "), byte_form::json_object);
  EXPECT_EQ(form("[1]"), byte_form::json_array);
  EXPECT_EQ(form("\"x\""), byte_form::json_scalar);
  EXPECT_EQ(form("{}\n{}\n"), byte_form::json_lines);
  EXPECT_EQ(form("p-1001"), byte_form::text);
  EXPECT_EQ(form(std::string{"\0\0\0\x05", 4}), byte_form::number_4);
  EXPECT_EQ(form(std::string{"{\0\"\0a\0\"\0:\0001\0", 12}), byte_form::utf16);
  EXPECT_EQ(form("\xff\xfe{"), byte_form::utf16);
  EXPECT_EQ(form(std::string(16, '\x90')), byte_form::bytes_16);
}

}  // namespace
}  // namespace ratchet::sniff
