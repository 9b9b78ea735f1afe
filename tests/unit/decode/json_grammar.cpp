// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/json_grammar.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace ratchet::json {
namespace {

using enum malformed_reason;

/// Checks a copy that ends where its memory ends, so that a sanitizer sees any read behind it.
fault check(std::string_view text) {
  const auto exact = std::make_unique<char[]>(text.size());
  std::copy(text.begin(), text.end(), exact.get());
  return check_json({exact.get(), text.size()});
}

TEST(json_grammar, accepts_what_rfc_8259_does) {
  for (const char* text : {"{}",
                           "[]",
                           "0",
                           "-0",
                           "\"\"",
                           "true",
                           "false",
                           "null",
                           " \t\r\n1 \t\r\n",
                           "[1,2]",
                           "[ 1 , 2 ]",
                           "{\"a\":1,\"b\":[{},[]]}",
                           "{ \"a\" : 1 }\r",
                           "1.5",
                           "-1.25e10",
                           "1E+5",
                           "1e-5",
                           "0.0",
                           "0e0",
                           "10",
                           "1e999999",
                           "123456789012345678901234567890123456789012345678901234567890",
                           R"("\"\\/\b\f\n\r\t\u00e4\uD83D\uDE00")",
                           R"("\ud800")",
                           R"("\udc00 \ud800\ud800")",  // the grammar lets surrogates stand alone
                           "\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\x7F\"",
                           "{\"a\":1,\"a\":2}",
                           "{\"\":1}"}) {
    EXPECT_EQ(check(text), fault{}) << text;
  }
}

struct fault_row {
  const char* text;
  std::size_t offset;
};

TEST(json_grammar, names_the_first_byte_that_cannot_be_there) {
  constexpr fault_row k_rows[] = {
      {"", 0},
      {"   ", 3},
      {"01", 1},
      {"-", 1},
      {"-01", 2},
      {"-a", 1},
      {"+1", 0},
      {"1.", 2},
      {"1.e5", 2},
      {".5", 0},
      {"1e", 2},
      {"1e+", 3},
      {"1ea", 2},
      {"0x10", 1},
      {"1_000", 1},
      {"NaN", 0},
      {"Infinity", 0},
      {"-Infinity", 1},
      {"tru", 3},
      {"trux", 3},
      {"truee", 4},
      {"True", 0},
      {"nul", 3},
      {"nulll", 4},
      {"fals", 4},
      {"{} {}", 3},
      {"{}x", 2},
      {"1 2", 2},
      {"[1 2]", 3},
      {"[1,]", 3},
      {"[,1]", 1},
      {"[", 1},
      {"[1", 2},
      {"[1,", 3},
      {"[1}", 2},
      {"]", 0},
      {"{", 1},
      {"{\"a\"", 4},
      {"{\"a\":", 5},
      {"{\"a\":1", 6},
      {"{\"a\":1,", 7},
      {"{\"a\":1,}", 7},
      {"{\"a\" 1}", 5},
      {"{\"a\"}", 4},
      {"{\"a\":}", 5},
      {"{a:1}", 1},
      {"{'a':1}", 1},
      {"{1:1}", 1},
      {"{\"a\":1]", 6},
      {"{,}", 1},
      {"\"", 1},
      {"\"abc", 4},
      {"\"abcdefghijklmnopqrstuvwxyz", 27},
      {"\"a\\", 3},
      {"\"\\", 2},
      {"\"\\q\"", 2},
      {"\"\\'\"", 2},
      {"\"\\x41\"", 2},
      {"\"\\u12G4\"", 5},
      {"\"\\u12\"", 5},
      {"\"\\u", 3},
      {"\"\\U0041\"", 2},
      {"\"a\tb\"", 2},
      {"\"a\nb\"", 2},
      {"\"0123456789abcdefghij\x1F\"", 21},
      {"/* no */ 1", 0},
      {"1 // no", 2},
      {"\xC3\xA4", 0},
      {"[1,\xC2\xA0 2]", 3},  // a no-break space is no white space
      {"\f1", 0},
  };
  for (const fault_row& row : k_rows) {
    EXPECT_EQ(check(row.text), (fault{invalid_json, row.offset})) << row.text;
  }
  EXPECT_EQ(check(std::string_view{"\"a\0b\"", 5}), (fault{invalid_json, 2}));
  EXPECT_EQ(check(std::string_view{"1\0", 2}), (fault{invalid_json, 1}));
}

TEST(json_grammar, names_where_ill_formed_utf8_begins) {
  constexpr fault_row k_rows[] = {
      {"\"\x80\"", 1},      // a continuation alone
      {"\"a\xC3\"", 2},     // cut short
      {"\"\xC0\x80\"", 1},  // overlong
      {"\"\xC1\xBF\"", 1},
      {"\"\xE0\x80\x80\"", 1},
      {"\"\xE0\x9F\xBF\"", 1},
      {"\"\xF0\x80\x80\x80\"", 1},
      {"\"\xF0\x8F\xBF\xBF\"", 1},
      {"\"\xED\xA0\x80\"", 1},  // a surrogate
      {"\"\xED\xBF\xBF\"", 1},
      {"\"\xF4\x90\x80\x80\"", 1},  // above U+10FFFF
      {"\"\xF5\x80\x80\x80\"", 1},
      {"\"\xFE\"", 1},
      {"\"\xFF\"", 1},
      {"\"\xC3\xA4\xE2\x82\"", 3},
      {"{\"\xFF\":1}", 2},  // in a key
      {"[\"\xC3\xA4\",{\"x\":\"0123456789abcdef0123456789abcdef\xFE\"}]", 44},
      {"\"\xE2\x82", 1},  // it begins before the document ends too early
      {"\xFF", 0},
      {"\xFF\xFE{\0}\0", 0},  // UTF-16
  };
  for (const fault_row& row : k_rows) {
    EXPECT_EQ(check(row.text), (fault{invalid_utf8, row.offset})) << row.text;
  }
}

TEST(json_grammar, names_the_first_of_two_kinds_of_fault) {
  EXPECT_EQ(check("[\"\xFF\",01]"), (fault{invalid_utf8, 2}));
  EXPECT_EQ(check("[01,\"\xFF\"]"), (fault{invalid_json, 2}));
}

TEST(json_grammar, takes_a_byte_order_mark_for_what_it_is) {
  EXPECT_EQ(check("\xEF\xBB\xBF{}"), (fault{byte_order_mark, 0}));
  EXPECT_EQ(check("{}\xEF\xBB\xBF"), (fault{invalid_json, 2}));
  EXPECT_EQ(check("\"\xEF\xBB\xBF\""), fault{});
}

std::string nested(std::size_t depth, std::string_view open, std::string_view middle,
                   std::string_view close) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += open;
  text += middle;
  for (std::size_t i = 0; i < depth; ++i) text += close;
  return text;
}

TEST(json_grammar, allows_a_thousand_levels_with_the_root_as_the_first) {
  EXPECT_EQ(check(nested(1000, "[", "", "]")), fault{});
  EXPECT_EQ(check(nested(1000, "[", "1", "]")), fault{});
  EXPECT_EQ(check(nested(1000, "{\"a\":", "1", "}")), fault{});
  EXPECT_EQ(check(nested(500, "[{\"a\":", "[]", "}]")), (fault{too_deep, 3000}));
  EXPECT_EQ(check(nested(1001, "[", "", "]")), (fault{too_deep, 1000}));
  EXPECT_EQ(check(nested(1001, "{\"a\":", "1", "}")), (fault{too_deep, 5000}));
}

TEST(json_grammar, survives_a_depth_bomb) {
  EXPECT_EQ(check(std::string(10'000'000, '[')), (fault{too_deep, 1000}));
}

TEST(json_grammar, finds_a_fault_at_every_distance_from_the_end) {
  for (std::size_t before = 0; before < 40; ++before) {
    for (std::size_t behind = 0; behind < 40; ++behind) {
      const std::string text = '"' + std::string(before, 'a') + '\x01' + std::string(behind, 'b') + '"';
      EXPECT_EQ(check(text), (fault{invalid_json, before + 1}));
      const std::string open = '"' + std::string(before, 'a');
      EXPECT_EQ(check(open), (fault{invalid_json, before + 1}));
    }
  }
}

TEST(json_walker, may_be_used_again_after_a_fault) {
  pointer_tree tree;
  const node_index a = tree.add({"a"});
  walker w{tree};
  EXPECT_EQ(w.walk("{\"a\":1,\"a\":2").reason, invalid_json);
  EXPECT_EQ(w.walk("{}"), fault{});
  EXPECT_EQ(w.at(a).what, kind::none);
  EXPECT_FALSE(w.any_duplicate());
}

TEST(json_walker, is_not_misled_by_the_keys_of_the_document_before) {
  pointer_tree tree;
  const node_index abc = tree.add({"abc"});
  const std::string behind = R"(:"0123456789abcdef"})";
  for (const std::string first :
       {"", "a", "abc", "abcd", "0123456789abcde", "0123456789abcdef", "0123456789abcdef0"}) {
    for (const char* second :
         {"abc", "ab", "abcd", "", "ab\\u0063", "a\\\"c", "0123456789abcde", "0123456789abcdef"}) {
      walker w{tree};
      ASSERT_EQ(w.walk("{\"" + first + "\"" + behind), fault{});
      ASSERT_EQ(w.walk(std::string{"{\""} + second + "\"" + behind), fault{}) << first << ' ' << second;
      const bool named = std::string_view{second} == "abc" || std::string_view{second} == "ab\\u0063";
      EXPECT_EQ(w.at(abc).what, named ? kind::string : kind::none) << first << ' ' << second;
    }
    for (const char* second : {"a\x01"
                               "c",
                               "a\xFF"
                               "c",
                               "a\\q"}) {
      walker w{tree};
      ASSERT_EQ(w.walk("{\"" + first + "\"" + behind), fault{});
      EXPECT_NE(w.walk(std::string{"{\""} + second + "\"" + behind), fault{}) << first << ' ' << second;
    }
  }
}

TEST(json_walker, lets_bytes_pass_that_are_not_utf8_where_it_is_told_to) {
  const pointer_tree tree;
  walker w{tree, encoding::unchecked};
  EXPECT_EQ(w.walk("\"\xFF\""), fault{});
  EXPECT_EQ(w.walk("\"\xFF\",").reason, invalid_json);
}

}  // namespace
}  // namespace ratchet::json
