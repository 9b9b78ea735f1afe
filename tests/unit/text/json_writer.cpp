// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "text/json_writer.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "core/utf8.hpp"
#include "decode/json_grammar.hpp"

namespace ratchet {
namespace {

std::string quoted(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

std::string base64(std::string_view bytes) {
  std::string out;
  append_base64(out, bytes);
  return out;
}

TEST(json_string, escapes_what_rfc_8259_demands_and_nothing_else) {
  EXPECT_EQ(quoted("a\"b\\c/d"), R"("a\"b\\c/d")");
  EXPECT_EQ(quoted("\n\r\t\b\f"), R"("\n\r\t\b\f")");
  EXPECT_EQ(quoted(std::string_view{"\0\x1f\x7f", 3}), "\"\\u0000\\u001f\\u007f\"");
  EXPECT_EQ(quoted("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"), "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"");
}

TEST(json_string, replaces_what_is_not_utf8) {
  EXPECT_EQ(quoted("a\xFF"), "\"a\xEF\xBF\xBD\"");
  EXPECT_EQ(quoted("\xC3"), "\"\xEF\xBF\xBD\"");
  EXPECT_EQ(quoted("\xC3\"").size(), quoted("\xEF\xBF\xBD\"").size()) << "a quote behind it is still escaped";
}

TEST(json_string, is_valid_json_for_every_pair_of_bytes) {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const char pair[2] = {static_cast<char>(a), static_cast<char>(b)};
      const std::string text = quoted({pair, 2});
      ASSERT_EQ(json::check_json(text).reason, malformed_reason::none) << a << " " << b << ": " << text;
    }
  }
}

TEST(utf8, is_told_from_other_bytes) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("abc\xF4\x8F\xBF\xBF\xED\x9F\xBF"));
  EXPECT_FALSE(is_utf8("\xC0\x80")) << "overlong";
  EXPECT_FALSE(is_utf8("\xE0\x9F\xBF")) << "overlong";
  EXPECT_FALSE(is_utf8("\xF0\x8F\xBF\xBF")) << "overlong";
  EXPECT_FALSE(is_utf8("\xED\xA0\x80")) << "a surrogate";
  EXPECT_FALSE(is_utf8("\xF4\x90\x80\x80")) << "above U+10FFFF";
  EXPECT_FALSE(is_utf8("\xE2\x82")) << "cut off";
}

TEST(base64, is_that_of_rfc_4648) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xFF\xFE\xFD"), "//79");
}

TEST(json_writer, sets_commas_between_members_and_elements) {
  json_writer json;
  json.begin_object().key("a").number(1).key("b").begin_array().number(2).string("x").end_array();
  json.key("c").begin_object().end_object().key("d").null().key("e").boolean(true).end_object();
  EXPECT_EQ(json.text(), R"({"a":1,"b":[2,"x"],"c":{},"d":null,"e":true})");
}

TEST(json_writer, writes_whole_numbers_of_any_size) {
  json_writer json;
  json.begin_array();
  json.number(std::numeric_limits<std::uint64_t>::max()).number(std::numeric_limits<std::int64_t>::min());
  json.end_array();
  EXPECT_EQ(json.text(), "[18446744073709551615,-9223372036854775808]");
}

TEST(json_writer, writes_a_sequence_of_epoch_0_as_a_number_and_others_as_a_pair) {
  json_writer json;
  json.begin_array().sequence(seq(7)).sequence(seq(2, 7)).sequence(seq(0)).end_array();
  EXPECT_EQ(json.text(), "[7,[2,7],0]");
}

TEST(json_writer, writes_times_with_milliseconds_and_none_as_null) {
  json_writer json;
  json.begin_array().time(timestamp{std::chrono::milliseconds{1}}).time(std::nullopt).end_array();
  EXPECT_EQ(json.text(), R"(["1970-01-01T00:00:00.001Z",null])");
}

TEST(json_writer, keeps_raw_documents_byte_for_byte_or_on_one_line) {
  const std::string document = "{\r\n  \"a\": \"x\\n\"\n}";
  json_writer as_is;
  as_is.begin_array().raw(document).end_array();
  EXPECT_EQ(as_is.text(), "[" + document + "]");
  json_writer one_line;
  one_line.begin_array().raw(document, raw_layout::one_line).raw("1", raw_layout::one_line).end_array();
  EXPECT_EQ(one_line.text(), "[{    \"a\": \"x\\n\" },1]");
}

TEST(json_writer, starts_anew_after_take) {
  json_writer json;
  EXPECT_EQ(json.begin_array().end_array().take(), "[]");
  EXPECT_EQ(json.number(1).take(), "1");
}

}  // namespace
}  // namespace ratchet
