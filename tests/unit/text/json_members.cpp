// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "text/json_members.hpp"

#include <gtest/gtest.h>

#include <string>

#include "text/rejected_messages.hpp"

namespace ratchet {
namespace {

TEST(members_near, are_those_of_the_nearest_object) {
  const std::string event =
      R"({"eventId": "x", "payment" : {"id":1,"amount":{"cents":[1,{"a":2}]}},"list":[{"n":1},{"m":"]}"}]})";
  EXPECT_EQ(text_of_members_near(event, "/id"), "the value has `eventId`, `payment` and `list`");
  EXPECT_EQ(text_of_members_near(event, "/payment/ID"), "`/payment` has `id` and `amount`");
  EXPECT_EQ(text_of_members_near(event, "/payment/amount/cents/1/b"), "`/payment/amount/cents/1` has `a`");
  EXPECT_EQ(text_of_members_near(event, "/payment/amount/cents/7/b"), "`/payment/amount` has `cents`");
  EXPECT_EQ(text_of_members_near(event, "/nothing/of/that"), "the value has `eventId`, `payment` and `list`");
  EXPECT_EQ(text_of_members_near(event, "/list/1/n"), "`/list/1` has `m`");
  EXPECT_EQ(text_of_members_near(R"({"a/b":{"~":{"c":1}}})", "/a~1b/~0/d"), "`/a~1b/~0` has `c`");
  EXPECT_EQ(text_of_members_near(" {} ", "/id"), "the value has no fields");
}

TEST(members_near, are_few_and_short) {
  std::string event = "{";
  for (int i = 0; i < 1000; ++i) event += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":0";
  EXPECT_EQ(text_of_members_near(event + "}", "/id"),
            "the value has `0`, `1`, `2`, `3`, `4`, `5`, `6`, `7` and others");
  const std::string text = text_of_members_near("{\"" + std::string(39, 'x') + "\u00e9y\":1}", "/id");
  EXPECT_EQ(text, "the value has `" + std::string(39, 'x') + "…`") << "not within a character";
  const std::string whole = R"({"a":{"b":[1,"\"}",{"c":null}],"d":-1e3},"e":true})";
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_LT(text_of_members_near(whole.substr(0, size), "/a/b/2/x").size(), 60U) << "cut off at " << size;
}

TEST(members_near, are_none_where_there_is_no_object) {
  for (const char* const other : {"", "7", "[]", "[{\"a\":1}]", "\"{}\"", "null", "x", "{", "}", "\0{"})
    EXPECT_FALSE(members_near(other, "/id") && !members_near(other, "/id")->names.empty()) << other;
  EXPECT_FALSE(members_near("{\"a\":1}", ""));
  EXPECT_FALSE(members_near("{\"a\":1}", "header:id"));
}

TEST(members_near, are_told_of_a_rejected_record_that_lacks_a_field) {
  rejected_row row;
  row.reason = reject_reason::malformed;
  row.detail = "missing_field";
  row.pointer = "/id";
  EXPECT_EQ(hint_on(row), "") << "nothing was kept";
  row.value = R"({"eventId":1,"amount":2})";
  EXPECT_EQ(hint_on(row), "the value has `eventId` and `amount`");
  row.detail = "wrong_type";
  EXPECT_EQ(hint_on(row), "");
}

}  // namespace
}  // namespace ratchet
