// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/unavailable_columns.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "support/core_print.hpp"
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

TEST(unavailable_columns, stay_so_where_nothing_is_stored_of_them) {
  const std::string lacks = R"({"c":"__debezium_unavailable_value"})";
  EXPECT_EQ(filled(R"({"id":1,"c":"__debezium_unavailable_value"})", ""),
            R"({"id":1,"c":"__debezium_unavailable_value"})");
  for (const char* before : {"", R"({"id":1})", R"({"c":"__debezium_unavailable_value"})", "null"})
    EXPECT_EQ(filled(lacks, before), lacks) << before;
  EXPECT_EQ(filled(R"("__debezium_unavailable_value")", R"({"a":1})"), R"({"a":1})");
  EXPECT_EQ(filled(R"("__debezium_unavailable_value")", "null"), "null") << "a value that was stored";
  EXPECT_EQ(filled(R"("__debezium_unavailable_value")", ""), R"("__debezium_unavailable_value")");
  EXPECT_EQ(filled("7", "8"), "7");
}

TEST(unavailable_columns, are_found_by_name) {
  EXPECT_EQ(k_known.first_in(R"({"id":1,"terms": ["__debezium_unavailable_value"] ,"b":2})"), "terms");
  EXPECT_EQ(k_known.first_in(R"("__debezium_unavailable_value")"), "");
  EXPECT_EQ(k_known.first_in(R"({"a":"see __debezium_unavailable_value"})"), std::nullopt);
  EXPECT_EQ(k_known.first_in("{}"), std::nullopt);
  EXPECT_EQ(k_known.first_in("7"), std::nullopt);
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

/// The placeholder is no value of the column, and a row without the column is none that the table had.
TEST(rows_without_a_column, of_which_nothing_is_stored_are_given_up_by_name) {
  testing::world w{row_reducer{k_text}};
  w.rules.keeps_columns = true;
  w.rules.unavailable = k_text;
  const auto change = [](std::uint64_t number, const std::string& terms) {
    testing::spec s{.sequence = seq(number), .type = "u", .offset = static_cast<std::int64_t>(number)};
    s.payload = R"({"terms":")" + terms + R"(","n":)" + std::to_string(number) + "}";
    s.keeps_columns = terms == k_text;
    return s;
  };
  EXPECT_EQ(testing::verdicts_of(w.step({change(1, k_text)})), std::vector<verdict>{verdict::dead});
  ASSERT_EQ(w.waiting["a"].size(), 1U);
  EXPECT_EQ(w.waiting["a"].begin()->second.error,
            "unavailable_column: the change does not bring the column terms, and nothing is stored of it");
  (void)w.step({change(2, "whole")});
  EXPECT_EQ(w.snapshot(), R"({"terms":"whole","n":2})")
      << "a change that brings it goes past the one that did not";
  EXPECT_FALSE(w.backlogs.contains("a"));
}

}  // namespace
}  // namespace ratchet
