// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/unavailable_columns.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/core_world.hpp"

namespace ratchet {
namespace {

constexpr const char* k_text = "__debezium_unavailable_value";
const unavailable_columns k_known{k_text};

std::string filled(const std::string& row, const std::string& before) {
  return k_known.filled(row, before);
}

TEST(unavailable_columns, keep_what_is_stored) {
  EXPECT_EQ(filled(R"({"id":1,"terms":"__debezium_unavailable_value","visits":2})",
                   R"({"id":1,"terms":"a long text","visits":1})"),
            R"({"id":1,"terms":"a long text","visits":2})");
  EXPECT_EQ(filled(R"( { "terms" : "__debezium_unavailable_value" , "n" : [ 1 ] } )",
                   R"({"n":0,"terms":{"a":[1,2]}})"),
            R"({"terms":{"a":[1,2]},"n":[ 1 ]})");
  EXPECT_EQ(filled(R"({"t\u0065rms":"__debezium_unavailable_value"})", R"({"terms":1})"),
            R"({"t\u0065rms":1})");
}

TEST(unavailable_columns, are_known_in_all_their_forms) {
  for (const char* form :
       {R"("__debezium_unavailable_value")", R"(["__debezium_unavailable_value"])",
        R"([ "__debezium_unavailable_value" ])",
        R"({"__debezium_unavailable_value":"__debezium_unavailable_value"})",
        R"("{\"__debezium_unavailable_value\":\"__debezium_unavailable_value\"}")",
        R"("X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==")", R"(["X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="])",
        R"("__debezium\u005funavailable_value")"}) {
    EXPECT_EQ(filled(std::string{R"({"c":)"} + form + "}", R"({"c":7})"), R"({"c":7})") << form;
  }
  for (const char* other :
       {R"("x __debezium_unavailable_value")", R"(["__debezium_unavailable_value","a"])", "[]", "{}",
        R"({"a":"__debezium_unavailable_value"})", "null", R"([["__debezium_unavailable_value"]])"}) {
    EXPECT_EQ(filled(std::string{R"({"c":)"} + other + "}", R"({"c":7})"),
              std::string{R"({"c":)"} + other + "}");
  }
}

TEST(unavailable_columns, are_left_out_where_nothing_is_stored_of_them) {
  EXPECT_EQ(filled(R"({"id":1,"c":"__debezium_unavailable_value"})", ""), R"({"id":1})");
  EXPECT_EQ(filled(R"({"c":"__debezium_unavailable_value"})", R"({"id":1})"), "{}");
  EXPECT_EQ(filled(R"({"c":"__debezium_unavailable_value"})", R"({"c":"__debezium_unavailable_value"})"),
            "{}");
  EXPECT_EQ(filled(R"({"c":"__debezium_unavailable_value"})", "null"), "{}");
  EXPECT_EQ(filled(R"("__debezium_unavailable_value")", R"({"a":1})"), R"({"a":1})");
  EXPECT_EQ(filled(R"("__debezium_unavailable_value")", ""), "null");
  EXPECT_EQ(filled("7", "8"), "7");
}

TEST(unavailable_columns, are_looked_for_as_the_config_spells_them) {
  EXPECT_TRUE(k_known.may_be_in(R"({"c":"__debezium_unavailable_value"})"));
  EXPECT_TRUE(k_known.may_be_in(k_text));
  EXPECT_FALSE(k_known.may_be_in("__debezium_unavailable_valu"));
  EXPECT_FALSE(k_known.may_be_in(""));
  EXPECT_FALSE(k_known.may_be_in(std::string(100, 'z')));
  EXPECT_TRUE(k_known.may_be_in(std::string(100, 'z') + k_text));
  const unavailable_columns other{"?"};
  EXPECT_TRUE(other.may_be_in(R"({"c":"?"})"));
  EXPECT_EQ(other.filled(R"({"c":"?"})", R"({"c":[1]})"), R"({"c":[1]})");
  EXPECT_EQ(other.filled(R"({"c":"Pw=="})", R"({"c":[1]})"), R"({"c":[1]})");
  EXPECT_FALSE(unavailable_columns{""}.may_be_in(R"({"c":""})"));
}

/// Changes of one row of which the later ones lack a column, in one step and in a step each.
TEST(rows_without_a_column, keep_it_however_they_are_cut) {
  const testing::world begin{row_reducer{k_text}};
  const std::vector<testing::spec> changes{
      {.sequence = seq(1), .payload = R"({"terms":"long","n":1})", .offset = 0},
      {.sequence = seq(2),
       .payload = R"({"terms":"__debezium_unavailable_value","n":2})",
       .offset = 1,
       .keeps_columns = true},
      {.sequence = seq(3),
       .payload = R"({"terms":"__debezium_unavailable_value","n":3})",
       .offset = 2,
       .keeps_columns = true}};
  testing::world at_once = begin;
  (void)at_once.step(changes);
  EXPECT_EQ(at_once.snapshot(), R"({"terms":"long","n":3})");
  testing::world one_by_one = begin;
  for (const testing::spec& s : changes) (void)one_by_one.step({s});
  EXPECT_EQ(one_by_one.snapshot(), R"({"terms":"long","n":3})");
}

}  // namespace
}  // namespace ratchet
