// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The key `tables` of the config.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "config/text.hpp"
#include "ratchet/config.hpp"
#include "streams/stream_definition.hpp"
#include "streams/stream_meaning.hpp"

namespace ratchet::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

reported<config> parsed(const std::string& lines) {
  return parse_config(R"(version: 1
state: {path: /var/lib/ratchet}
streams:
  - name: payments
    envelope: {event_id: /id, aggregate: /a, sequence: /s}
)" + lines,
                      "f.yaml");
}

TEST(config_of_tables, is_read_whole) {
  const auto c =
      parsed("    tables: [{name: by-customer, key: text}, {name: n, key: u64}, {name: b, key: bytes}]\n");
  ASSERT_TRUE(c.has_value()) << to_text(c.error());
  const stream_config& s = c.value().streams[0];
  EXPECT_THAT(s.tables,
              ElementsAre(table_config{"by-customer", key_encoding::text},
                          table_config{"n", key_encoding::u64}, table_config{"b", key_encoding::bytes}));
  EXPECT_THAT(describe(s), HasSubstr("; has the tables by-customer (text), n (u64), b (bytes)"));
  EXPECT_THAT(limits_of(s), Contains(HasSubstr("nothing is put into the table n by kind: replace")));
  const auto streams = make_streams(c.value(), {});
  ASSERT_TRUE(streams.has_value());
  EXPECT_EQ(streams.value()[0]->rules.outputs.tables, s.tables);
  EXPECT_THAT(meaning_of(s, "replace", 1).lines,
              Contains(std::pair<std::string, std::string>{"table.n", "u64"}));
}

TEST(config_of_tables, takes_one_without_a_list_and_none) {
  const auto one = parsed("    tables: {name: t, key: bytes}\n");
  ASSERT_TRUE(one.has_value()) << to_text(one.error());
  EXPECT_THAT(one.value().streams[0].tables, ElementsAre(table_config{"t", key_encoding::bytes}));
  const auto none = parsed("");
  ASSERT_TRUE(none.has_value());
  EXPECT_THAT(none.value().streams[0].tables, IsEmpty());
  EXPECT_TRUE(make_streams(none.value(), {}).value()[0]->rules.outputs.tables.has_value())
      << "so that none may be written";
}

struct refused {
  const char* name;
  const char* lines;
  const char* path;
  const char* message;
};
std::ostream& operator<<(std::ostream& out, const refused& r) {
  return out << r.name;
}

class table_refusal : public ::testing::TestWithParam<refused> {};

TEST_P(table_refusal, is_one_finding_with_its_place_and_a_hint) {
  const auto c = parsed(GetParam().lines);
  ASSERT_FALSE(c.has_value());
  ASSERT_EQ(c.error().diagnostics.size(), 1U) << to_text(c.error());
  EXPECT_EQ(c.error().diagnostics.front().path, GetParam().path);
  EXPECT_THAT(c.error().diagnostics.front().message, HasSubstr(GetParam().message));
  EXPECT_FALSE(c.error().diagnostics.front().hint.empty());
}

constexpr refused k_refused[] = {
    {"no_name", "    tables: [{key: text}]\n", "streams[0].tables[0].name", "is missing"},
    {"bad_name", "    tables: [{name: a/b, key: text}]\n", "streams[0].tables[0].name",
     "is not a table's name"},
    {"no_key", "    tables: [{name: t}]\n", "streams[0].tables[0].key", "is missing"},
    {"bad_key", "    tables: [{name: t, key: i64}]\n", "streams[0].tables[0].key", "i64"},
    {"unknown_key", "    tables: {name: t, key: u64, value: json}\n", "streams[0].tables.value",
     "is not a known key"},
    {"twice", "    tables: [{name: t, key: u64}, {name: t, key: u64}]\n", "streams[0].tables[1].name",
     "t is taken by streams[0].tables[0].name"},
    {"of_two_streams",
     "    tables: {name: t, key: u64}\n"
     "  - name: refunds\n"
     "    envelope: {event_id: /id, aggregate: /a, sequence: /s}\n"
     "    tables: {name: t, key: text}\n",
     "streams[1].tables.name", "t is taken by streams[0].tables[0].name"},
    {"a_word", "    tables: by-customer\n", "streams[0].tables", "text"},
};
INSTANTIATE_TEST_SUITE_P(config_of_tables, table_refusal, ::testing::ValuesIn(k_refused),
                         [](const auto& tested) { return std::string{tested.param.name}; });

}  // namespace
}  // namespace ratchet::testing
