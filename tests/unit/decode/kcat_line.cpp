// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/kcat_line.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ratchet {
namespace {

/// "reason pointer@offset", or "ok".
std::string verdict(std::string_view line) {
  kcat_line_reader reader;
  kcat_record to;
  const malformed_detail broken = reader.read(line, to);
  if (broken.reason == malformed_reason::none) return "ok";
  return std::string{name_of(broken.reason)} + ' ' + std::string{broken.pointer} + '@' +
         std::to_string(broken.byte_offset);
}

kcat_record read(std::string_view line) {
  kcat_line_reader reader;
  kcat_record to;
  EXPECT_EQ(verdict(line), "ok") << line;
  EXPECT_EQ(reader.read(line, to).reason, malformed_reason::none);
  return to;
}

using headers = std::vector<std::pair<std::string, std::optional<std::string>>>;

TEST(kcat_line, is_read_as_kcat_prints_it) {
  const kcat_record r = read(
      R"({"topic":"payments","partition":3,"offset":42,"tstype":"create","ts":1767225600123,"broker":1,)"
      R"("headers":["id","a","none",null,"id","b"],"key":"p\u00001","payload":"{\"x\":\"\\u00e4\",\"y\":\t1}"})"
      "\r");
  EXPECT_EQ(r.topic, "payments");
  EXPECT_EQ(r.partition, partition_id{3});
  EXPECT_EQ(r.offset, 42);
  EXPECT_EQ(r.time, timestamp{std::chrono::milliseconds{1767225600123}});
  EXPECT_EQ(r.key, std::string("p\0"
                               "1",
                               3));
  EXPECT_EQ(r.headers, (headers{{"id", "a"}, {"none", std::nullopt}, {"id", "b"}}));
  EXPECT_EQ(r.payload, "{\"x\":\"\\u00e4\",\"y\":\t1}");
}

TEST(kcat_line, tells_null_from_empty) {
  const kcat_record nulls = read(R"({"topic":"t","partition":0,"offset":0,"key":null,"payload":null})");
  EXPECT_FALSE(nulls.key);
  EXPECT_FALSE(nulls.payload);
  EXPECT_TRUE(nulls.headers.empty());
  const kcat_record empty =
      read(R"({"topic":"t","partition":0,"offset":0,"headers":["",""],"key":"","payload":""})");
  EXPECT_EQ(empty.key, "");
  EXPECT_EQ(empty.payload, "");
  EXPECT_EQ(empty.headers, (headers{{"", ""}}));
}

TEST(kcat_line, may_have_no_time) {
  const auto time = [](const std::string& rest) {
    return read(R"({"topic":"t","partition":0,"offset":0,"key":null,"payload":null)" + rest + "}").time;
  };
  EXPECT_FALSE(time(""));
  EXPECT_FALSE(time(R"(,"tstype":"create","ts":-1)"));
  EXPECT_FALSE(time(R"(,"tstype":"unknown","ts":0)"));
  EXPECT_FALSE(time(R"(,"ts":null)"));
  EXPECT_EQ(time(R"(,"tstype":"logappend","ts":0)"), timestamp{});
  EXPECT_EQ(time(R"(,"ts":5)"), timestamp{std::chrono::milliseconds{5}});
}

TEST(kcat_line, takes_headers_as_an_object_too) {
  const auto with = [](const std::string& h) {
    return read(R"({"topic":"t","partition":0,"offset":0,"key":null,"payload":null,"headers":)" + h + "}")
        .headers;
  };
  EXPECT_EQ(with(R"({"a":"1","b":null})"), (headers{{"a", "1"}, {"b", std::nullopt}}));
  EXPECT_EQ(with(R"({ "a" : [ "1" , null ] , "b" : [ ] , "\u0063" : [ "3" ] , "d":"4" })"),
            (headers{{"a", "1"}, {"a", std::nullopt}, {"c", "3"}, {"d", "4"}}));
  EXPECT_EQ(with("{ }"), headers{});
  EXPECT_EQ(with("[ ]"), headers{});
  EXPECT_EQ(with("null"), headers{});
  EXPECT_EQ(with(R"([ "a" , "1" ])"), (headers{{"a", "1"}}));
}

TEST(kcat_line, passes_over_members_that_it_does_not_know) {
  const kcat_record r = read(
      R"({"broker":{"topic":"x"},"more":[1,{"offset":9}],"topic":"t","partition":0,"offset":1,"key":"k","payload":"v"})");
  EXPECT_EQ(r.topic, "t");
  EXPECT_EQ(r.offset, 1);
}

TEST(kcat_line, gives_bytes_as_kcat_prints_them) {
  EXPECT_EQ(read("{\"topic\":\"t\",\"partition\":0,\"offset\":0,\"key\":null,\"payload\":\"a\xFF\"}").payload,
            "a\xFF");
}

TEST(kcat_line, says_where_it_is_not_what_kcat_prints) {
  EXPECT_EQ(verdict(""), "invalid_json @0");
  EXPECT_EQ(verdict("x"), "invalid_json @0");
  EXPECT_EQ(verdict(R"({"topic":"t",})"), "invalid_json @13");
  EXPECT_EQ(verdict("\xEF\xBB\xBF{}"), "byte_order_mark @0");
  EXPECT_EQ(verdict(std::string(2000, '[')), "too_deep @1000");
  EXPECT_EQ(verdict("{}"), "position_invalid /topic@0");
  EXPECT_EQ(verdict("[]"), "position_invalid /topic@0");
  const auto with = [](const std::string& members) { return verdict("{" + members + "}"); };
  const std::string rest = R"(,"key":null,"payload":null)";
  EXPECT_EQ(with(R"("topic":"t","partition":0)" + rest), "position_invalid /offset@0");
  EXPECT_EQ(with(R"("topic":"t","partition":0,"offset":1,"key":null)"), "position_invalid /payload@0");
  EXPECT_EQ(with(R"("topic":"t","partition":0,"offset":1,"payload":null)"), "position_invalid /key@0");
  EXPECT_EQ(with(R"("topic":7,"partition":0,"offset":1)" + rest), "position_invalid /topic@9");
  EXPECT_EQ(with(R"("topic":"","partition":0,"offset":1)" + rest), "position_invalid /topic@9");
  EXPECT_EQ(with(R"("topic":"t","topic":"u","partition":0,"offset":1)" + rest), "position_invalid /topic@13");
  for (const char* partition : {"-1", "2147483648", "1.0", "1e1", "\"0\"", "null"}) {
    EXPECT_EQ(with(R"("topic":"t","partition":)" + std::string{partition} + R"(,"offset":1)" + rest),
              "position_invalid /partition@25")
        << partition;
  }
  for (const char* offset : {"-1", "9223372036854775807", "9223372036854775808", "1.0", "\"1\"", "null"}) {
    EXPECT_EQ(with(R"("topic":"t","partition":0,"offset":)" + std::string{offset} + rest),
              "position_invalid /offset@36")
        << offset;
  }
  const std::string position = R"("topic":"t","partition":0,"offset":1)";
  for (const char* ts : {"-2", "1.5", "\"1\"", "99999999999999999999"}) {
    EXPECT_EQ(with(position + R"(,"ts":)" + ts + rest), "position_invalid /ts@43") << ts;
  }
  EXPECT_EQ(with(position + R"(,"key":"\ud800","payload":null)"), "position_invalid /key@44");
  EXPECT_EQ(with(position + R"(,"key":null,"payload":{}})"), "invalid_json @62");
  EXPECT_EQ(with(position + R"(,"key":null,"payload":"\ud800")"), "position_invalid /payload@59");
}

/// `kcat -s avro` prints Avro as JSON, not as text.
TEST(kcat_line, takes_json_for_the_bytes_where_kcat_made_it) {
  const kcat_record r =
      read(R"({"topic":"t","partition":0,"offset":1,"key":{"id": 7},"payload":{"a":[1, 2]}})");
  EXPECT_EQ(r.key, R"({"id": 7})");
  EXPECT_EQ(r.payload, R"({"a":[1, 2]})");
  EXPECT_EQ(read(R"({"topic":"t","partition":0,"offset":1,"key":7,"payload":1.50})").key, "7");
}

TEST(kcat_line, may_be_of_rpk) {
  const kcat_record r = read(
      R"({"topic":"t","key":"k","value":"{\"a\":1}","headers":[{"key":"h","value":"v"},{"value":"w","key":"h"}],)"
      R"("timestamp":1704110400000,"partition":2,"offset":5})");
  EXPECT_EQ(r.topic, "t");
  EXPECT_EQ(r.partition, partition_id{2});
  EXPECT_EQ(r.offset, 5);
  EXPECT_EQ(r.time, timestamp{std::chrono::milliseconds{1'704'110'400'000}});
  EXPECT_EQ(r.key, "k");
  EXPECT_EQ(r.payload, R"({"a":1})");
  ASSERT_EQ(r.headers.size(), 2U);
  EXPECT_EQ(r.headers[0], (std::pair<std::string, std::optional<std::string>>{"h", "v"}));
  EXPECT_EQ(r.headers[1], (std::pair<std::string, std::optional<std::string>>{"h", "w"}));
  const kcat_record bare = read(R"({"topic":"t","timestamp":5,"partition":0,"offset":1})");
  EXPECT_FALSE(bare.key);
  EXPECT_FALSE(bare.payload) << "it prints nothing of a null value";
  EXPECT_EQ(verdict(R"({"topic":"t","value_size":9,"timestamp":5,"partition":0,"offset":1})"),
            "position_invalid /value_size@26")
      << "of --meta-only";
  EXPECT_EQ(
      verdict(R"({"topic":"t","headers":[{"key":"h","x":"v"}],"timestamp":5,"partition":0,"offset":1})"),
      "position_invalid /headers@39");
}

TEST(kcat_line, refuses_headers_of_another_shape) {
  const auto with = [](const std::string& h) {
    return verdict(R"({"topic":"t","partition":0,"offset":1,"key":null,"payload":null,"headers":)" + h + "}");
  };
  EXPECT_EQ(with("7"), "position_invalid /headers@74");
  EXPECT_EQ(with("\"a\""), "position_invalid /headers@74");
  EXPECT_EQ(with(R"(["a"])"), "position_invalid /headers@78");
  EXPECT_EQ(with(R"([null,"a"])"), "position_invalid /headers@79");
  EXPECT_EQ(with(R"(["a",1])"), "position_invalid /headers@79");
  EXPECT_EQ(with(R"([["a","b"]])"), "position_invalid /headers@75");
  EXPECT_EQ(with(R"({"a":1})"), "position_invalid /headers@79");
  EXPECT_EQ(with(R"({"a":{"b":"c"}})"), "position_invalid /headers@79");
  EXPECT_EQ(with(R"({"a":["b",["c"]]})"), "position_invalid /headers@84");
}

/// kcat prints null for what an Avro schema could not read: that is no tombstone.
TEST(kcat_line, refuses_what_kcat_could_not_decode) {
  EXPECT_EQ(
      verdict(R"({"topic":"t","partition":0,"offset":1,"key":null,"payload":null,"payload_error":"no"})"),
      "position_invalid /payload_error@80");
  EXPECT_EQ(verdict(R"({"topic":"t","partition":0,"offset":1,"key":null,"key_error":"no","payload":"x"})"),
            "position_invalid /key_error@61");
}

TEST(kcat_line_reader, leaves_nothing_of_the_line_before) {
  kcat_line_reader reader;
  kcat_record to;
  ASSERT_EQ(
      reader
          .read(
              R"({"topic":"t","partition":1,"offset":2,"ts":3,"headers":["a","b"],"key":"k","payload":"v"})",
              to)
          .reason,
      malformed_reason::none);
  ASSERT_EQ(reader.read(R"({"topic":"t","partition":0,"offset":0,"key":null,"payload":null})", to).reason,
            malformed_reason::none);
  EXPECT_FALSE(to.time || to.key || to.payload);
  EXPECT_TRUE(to.headers.empty());
}

TEST(kcat_line, tells_its_position_and_time_by_its_beginning) {
  kcat_line_reader reader;
  kcat_record to;
  const std::string begins = R"({"topic":"a,\"b\\","partition":3,"offset":42,"tstype":"create","ts":1000,)";
  for (const char* rest : {R"("payload":"x)", R"("headers":["n","1",)",
                           R"("headers":{"n":"1"},"payload":"{\"topic\":)", R"("pay)"}) {
    ASSERT_TRUE(reader.read_beginning(begins + rest, to)) << rest;
    EXPECT_EQ(to.topic, R"(a,"b\)");
    EXPECT_EQ(to.partition, partition_id{3});
    EXPECT_EQ(to.offset, 42);
    EXPECT_EQ(to.time, timestamp{std::chrono::milliseconds{1000}});
    EXPECT_TRUE(to.headers.empty());
    EXPECT_FALSE(to.payload);
  }
  ASSERT_TRUE(
      reader.read_beginning(R"({"topic":"t","partition":3,"offset":42,"tstype":"create","ts":10)", to));
  EXPECT_FALSE(to.time) << "a number that is cut off is another one";
}

TEST(kcat_line, tells_nothing_by_a_beginning_that_does_not_say_its_position) {
  kcat_line_reader reader;
  kcat_record to;
  for (const char* begins :
       {"", "xxx", "[1,2,3", "{", R"({"topic":"t","partition":3,"offset":4)", R"({"payload":"x)",
        R"({"topic":"t","topic":"t","partition":3,"offset":42,"payload":"x)",
        R"({"topic":7,"partition":3,"offset":42,"payload":"x)",
        R"({"topic":"t","partition":3,"offset":4x,"payload":"x)",
        R"({"topic":"t"}},"partition":3,"offset":42,)"}) {
    EXPECT_FALSE(reader.read_beginning(begins, to)) << begins;
  }
}

}  // namespace
}  // namespace ratchet
