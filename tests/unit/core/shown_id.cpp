// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Whatever an id holds: the way it is shown is a name that commands read back as that id, and no other's.
#include "core/shown_id.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "core/shown_text.hpp"
#include "support/harmful_text.hpp"

namespace ratchet {
namespace {

using namespace std::string_literals;

TEST(shown_id, leaves_an_id_alone_that_can_be_typed_as_it_is) {
  for (const char* id : {"p-1", "a b", "a\\b", "C:\\new\\x", "\xC3\xA4\xF0\x9F\x98\x80", "\\u{}", "\\xg1"})
    EXPECT_EQ(shown_id(id), id);
}

TEST(shown_id, spells_out_what_nobody_could_see_or_type) {
  EXPECT_EQ(shown_id("x\0y"s), R"(x\x00y)");
  EXPECT_EQ(shown_id("p\ny/1"), R"(p\x0ay/1)");
  EXPECT_EQ(shown_id("p\xE2\x80\x8B"), R"(p\u{200b})");
  EXPECT_EQ(shown_id("\xFF"), R"(\xff)");
}

TEST(shown_id, has_no_space_that_looks_like_the_end_of_a_column) {
  EXPECT_EQ(shown_id("p-1/1  dead  x"), R"(p-1/1 \x20dead \x20x)");
  EXPECT_EQ(shown_id(" p "), R"(\x20p\x20)");
  EXPECT_EQ(shown_id("a\xC2\xA0\xE3\x80\x80z"), R"(a\u{a0}\u{3000}z)");
}

TEST(shown_id, doubles_backslashes_where_they_could_be_read_as_something_else) {
  EXPECT_EQ(shown_id(R"(\x1b)"), R"(\\x1b)") << "and not as the id of one ESC";
  EXPECT_EQ(shown_id("\x1b"), R"(\x1b)");
  EXPECT_EQ(shown_id(R"(a\\b)"), R"(a\\\\b)");
  EXPECT_EQ(shown_id("a\\b\n"), R"(a\\b\x0a)");
}

TEST(given_id, reads_what_no_id_would_be_shown_as) {
  EXPECT_EQ(given_id(R"(\X41\x4\x\u{110000}\u{d800}\u{1234567}\)"),
            R"(\X41\x4\x\u{110000}\u{d800}\u{1234567}\)");
  EXPECT_EQ(given_id(R"(\x41\u{0000E4}\\n)"), "A\xC3\xA4\\n");
}

TEST(shown_id, is_read_back_as_the_id_and_comes_through_every_output) {
  std::mt19937 random{7};
  const std::string pieces[] = {"\\", "x", "1", "b", "u{", "}", " ", "\x1b", "\xC2\xA0", "0a", "-"};
  for (int i = 0; i < 20'000; ++i) {
    std::string id = i % 2 == 0 ? testing::random_text(random) : "";
    for (auto n = random() % 8; n > 0; --n) id += pieces[random() % std::size(pieces)];
    const std::string shown = shown_id(id);
    ASSERT_EQ(given_id(shown), id) << shown;
    ASSERT_EQ(shown_text(shown), shown);
    ASSERT_EQ(shown.find("  "), std::string::npos) << shown;
  }
}

TEST(typed_id, is_one_word_that_is_no_option) {
  EXPECT_EQ(typed_id("p-1"), "p-1");
  EXPECT_EQ(typed_id("-p\n"), R"('\x2dp\x0a')");
  EXPECT_EQ(given_id(R"(\x2dp\x0a)"), "-p\n");
}

}  // namespace
}  // namespace ratchet
