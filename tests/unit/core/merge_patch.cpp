// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/merge_patch.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/reducers.hpp"
#include "support/core_world.hpp"

namespace ratchet {
namespace {

struct patch_row {
  const char* name;
  const char* original;
  const char* patch;
  const char* result;
};

// RFC 7396, appendix A, all of it.
// clang-format off
constexpr patch_row k_rfc[] = {
    {"replaces_a_member", R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
    {"adds_a_member", R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
    {"removes_the_only_member", R"({"a":"b"})", R"({"a":null})", R"({})"},
    {"removes_one_of_two", R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
    {"replaces_an_array", R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
    {"replaces_by_an_array", R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
    {"patches_a_nested_object", R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
    {"replaces_an_array_of_objects", R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
    {"replaces_an_array_as_a_whole", R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
    {"replaces_an_object_by_an_array", R"({"a":"b"})", R"(["c"])", R"(["c"])"},
    {"null_is_the_result", R"({"a":"foo"})", R"(null)", R"(null)"},
    {"a_string_is_the_result", R"({"a":"foo"})", R"("bar")", R"("bar")"},
    {"keeps_a_null_of_the_target", R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
    {"makes_an_object_of_an_array", R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
    {"strips_nulls_of_what_is_new", R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
};

constexpr patch_row k_more[] = {
    {"nothing_is_patched_to_the_patch", "", R"({"a":1,"b":null})", R"({"a":1})"},
    {"nothing_and_no_object", "", R"(17)", R"(17)"},
    {"an_empty_patch_changes_nothing", R"({"a":1})", R"({})", R"({"a":1})"},
    {"keeps_the_order_of_the_target", R"({"z":1,"a":2,"m":3})", R"({"b":5,"a":4})", R"({"z":1,"a":4,"m":3,"b":5})"},
    {"removes_what_is_not_there", R"({"a":1})", R"({"b":null})", R"({"a":1})"},
    {"replaces_an_object_by_a_number", R"({"a":{"b":1}})", R"({"a":2})", R"({"a":2})"},
    {"nulls_inside_arrays_stay", R"({"a":1})", R"({"a":[null,{"b":null}]})", R"({"a":[null,{"b":null}]})"},
    {"numbers_keep_their_spelling", R"({"a":1.50,"b":1E400})", R"({"c":0.10})", R"({"a":1.50,"b":1E400,"c":0.10})"},
    {"untouched_values_keep_every_byte", R"({"a":{ "x" : [ 1 , 2 ] },"b":1})", R"({"b":2})", R"({"a":{ "x" : [ 1 , 2 ] },"b":2})"},
    {"white_space_around_is_no_matter", " \n{ \"a\" : 1 , \"b\" : 2 }\t", " { \"b\" : null } ", R"({"a":1})"},
    {"compares_names_unescaped", R"({"a/b":1,"\u0063":2})", R"({"\u0061\/b":3,"c":4})", R"({"a/b":3,"\u0063":4})"},
    {"knows_the_short_escapes", R"({"\b\f\n\r\t\"\\":1})", R"({"\u0008\u000C\u000a\u000D\u0009\u0022\u005c":2})", R"({"\b\f\n\r\t\"\\":2})"},
    {"knows_utf8_of_two_bytes", "{\"\xC3\xA9\":1}", R"({"\u00e9":2})", "{\"\xC3\xA9\":2}"},
    {"knows_utf8_of_three_bytes", "{\"\xE2\x82\xAC\":1}", R"({"\u20AC":null,"x":1})", R"({"x":1})"},
    {"knows_surrogate_pairs", "{\"\xF0\x9F\x98\x80\":1}", R"({"\ud83d\uDE00":2})", "{\"\xF0\x9F\x98\x80\":2}"},
    {"tells_lone_surrogates_apart", R"({"\ud83d":1,"\ude00":2})", R"({"\ud83d":null})", R"({"\ude00":2})"},
    {"a_lone_surrogate_before_an_escape", R"({"\ud83d\u0041":1})", R"({"\ud83dA":2})", R"({"\ud83d\u0041":2})"},
    {"of_two_members_the_last_counts", R"({"a":1,"a":2})", R"({"b":1})", R"({"a":2,"b":1})"},
    {"of_two_changes_the_last_counts", R"({"a":1})", R"({"a":2,"\u0061":3})", R"({"a":3})"},
    {"of_two_changes_a_last_null_removes", R"({"a":1})", R"({"a":2,"a":null})", R"({})"},
    {"brackets_inside_strings", R"({"a":"}]\"{","b":["]"]})", R"({"c":"{\\"})", R"({"a":"}]\"{","b":["]"],"c":"{\\"})"},
    {"an_empty_name", R"({"":1})", R"({"":2})", R"({"":2})"},
    {"a_string_null_is_a_string", R"({"a":1})", R"({"a":"null"})", R"({"a":"null"})"},
    {"an_object_over_a_scalar_drops_nulls", R"({"a":1})", R"({"a":{"b":null,"c":2}})", R"({"a":{"c":2}})"},
};

// clang-format on

class merge_patch_rfc_7396 : public ::testing::TestWithParam<patch_row> {};
TEST_P(merge_patch_rfc_7396, gives_the_result) {
  EXPECT_EQ(merge_patch(GetParam().original, GetParam().patch), GetParam().result);
}
const auto k_name = [](const auto& tested) { return std::string{tested.param.name}; };
INSTANTIATE_TEST_SUITE_P(appendix_a, merge_patch_rfc_7396, ::testing::ValuesIn(k_rfc), k_name);
INSTANTIATE_TEST_SUITE_P(beyond, merge_patch_rfc_7396, ::testing::ValuesIn(k_more), k_name);

/// {"a":{"a": … inner … }} of this many levels.
std::string nested(int levels, const std::string& inner) {
  std::string text;
  for (int i = 0; i < levels; ++i) text += R"({"a":)";
  text += inner;
  text.append(static_cast<std::size_t>(levels), '}');
  return text;
}

TEST(merge_patch, goes_a_thousand_levels_deep) {
  EXPECT_EQ(merge_patch(nested(1000, "1"), nested(1000, "2")), nested(1000, "2"));
  EXPECT_EQ(merge_patch(nested(1000, "1"), nested(1000, "null")), nested(999, "{}"));
  EXPECT_EQ(merge_patch("1", nested(1000, "2")), nested(1000, "2"));
}

TEST(merge_patch, reads_a_deep_target_with_much_in_it_in_reasonable_time) {
  // A thousand levels over 4 MiB: one that looks at everything anew on each level reads 4 GiB.
  const std::string much = "\"" + std::string(std::size_t{4} << 20U, 'x') + "\"";
  const std::string result = merge_patch(nested(999, R"({"much":)" + much + "}"), nested(999, R"({"b":1})"));
  EXPECT_EQ(result, nested(999, R"({"much":)" + much + R"(,"b":1})"));
}

TEST(merge_patch, passes_over_long_and_short_values_of_every_kind) {
  // From 512 bytes on the ends of containers are looked up; shorter ones inside, and arrays, are found all
  // the same.
  std::string numbers = "[0";
  for (int i = 1; i < 400; ++i) numbers += "," + std::to_string(i);
  numbers += "]";
  const std::string brackets = R"(["]}[{\"",{"x":[[],{}]}])";
  // The object stands first: an end that was taken for its own would be found.
  const std::string target = R"({"object":{"x":)" + numbers + R"(,"y":{}},"long":)" + numbers +
                             R"(,"short":[1],"both":[)" + brackets + "," + numbers + R"(],"end":[[2]]})";
  std::string want = target;
  want.insert(want.size() - 1, R"(,"new":1)");
  EXPECT_EQ(merge_patch(target, R"({"new":1})"), want);
  EXPECT_EQ(merge_patch(target, R"({"long":null,"both":3,"object":{"x":null}})"),
            R"({"object":{"y":{}},"short":[1],"both":3,"end":[[2]]})");
}

TEST(merge_patch, compares_names_with_surrogates_by_what_they_stand_for) {
  EXPECT_EQ(merge_patch(R"({"\ud83d\ude00":1})", "{\"\xF0\x9F\x98\x80\":2}"), R"({"\ud83d\ude00":2})");
  // No pair: a leading one before something that trails nothing, on either side of the range.
  EXPECT_EQ(merge_patch(R"({"\ud83d\ue000":1})", R"({"\uD83D\uE000":2})"), R"({"\ud83d\ue000":2})");
  // U+1F800 is what the first would be if anything could trail.
  EXPECT_EQ(merge_patch(R"({"\ud83d\ue000":1})", "{\"\xF0\x9F\xA0\x80\":2}"),
            "{\"\\ud83d\\ue000\":1,\"\xF0\x9F\xA0\x80\":2}");
  EXPECT_EQ(merge_patch(R"({"\ud83d\ud83d":1})", R"({"\ud83d":2})"), R"({"\ud83d\ud83d":1,"\ud83d":2})");
}

TEST(merge_patch, handles_an_object_of_many_members) {
  std::string target = "{";
  std::string patch = "{";
  std::string want = "{";
  constexpr int k_members = 100'000;
  for (int i = 0; i < k_members; ++i) {
    const std::string name = (i == 0 ? "\"m" : ",\"m") + std::to_string(i) + "\":";
    target += name + "1";
    patch += name + (i % 2 == 0 ? "2" : "null");
    if (i % 2 == 0) want += name + "2";
  }
  EXPECT_EQ(merge_patch(target + "}", patch + "}"), want + "}");
}

TEST(merge_patch, keeps_the_order_of_many_members_that_repeat) {
  std::string target = "{";
  std::string want = "{";
  constexpr int k_names = 300;
  for (int i = 0; i < 3 * k_names; ++i) {
    // Spelt in three ways, in an order that is not that of the names.
    const std::string letter = i < k_names ? "m" : i < 2 * k_names ? R"(\u006d)" : R"(\u006D)";
    const std::string name = std::to_string(i % k_names * 7 % k_names);
    target += (i == 0 ? "\"" : ",\"") + letter + name + "\":" + std::to_string(i);
    if (i < k_names) want += (i == 0 ? "\"m" : ",\"m") + name + "\":" + std::to_string(i + 2 * k_names);
  }
  EXPECT_EQ(merge_patch(target + "}", "{}"), want + "}");
}

TEST(merge_patch_reducer, folds_patches_and_only_tombstones_delete) {
  testing::world w{merge_patch_reducer{}, order::arrival};
  w.step({{.payload = R"({"a":1,"b":{"c":2}})", .offset = 0},
          {.payload = R"({"b":{"c":null,"d":3}})", .offset = 1}});
  EXPECT_EQ(w.snapshot(), R"({"a":1,"b":{"d":3}})");
  w.step({{.payload = "null", .offset = 2}});
  EXPECT_EQ(w.snapshot(), "null");
  w.step({{.kind = decoded_kind::tombstone, .offset = 3}});
  EXPECT_EQ(w.snapshot(), "-");
  w.step({{.payload = R"({"e":1})", .offset = 4}});
  EXPECT_EQ(w.snapshot(), R"({"e":1})");
}

TEST(replace_reducer, keeps_the_very_bytes) {
  testing::world w{replace_reducer{}};
  const std::string bytes{"{\"a\": 1.0 ,\n \"b\":\"\xC3\xA9\\u00e9\"}\0", 26};
  w.step({{.payload = bytes}});
  EXPECT_EQ(w.snapshot(), bytes);
}

}  // namespace
}  // namespace ratchet
