// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What overrides of a config do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "ratchet/config.hpp"
#include "unit/config/example.hpp"

namespace ratchet {

namespace {

using config_support::errors_of;
using config_support::k_example;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

TEST(config_override, sets_a_value_by_index_and_by_name) {
  const auto parsed = parse_config(
      k_example, "f.yaml",
      {.set = {"streams[0].dedup.window=2h", "streams.payments.poison=off", "state.sync=every-step",
               "memory_limit=2GiB", "step.records=5000", "streams[0].topics=[a, b]", "state.path=/tmp/a=b",
               "kafka.properties.client.id=x.y"},
       .kafka_properties = {"session.timeout.ms=1", "client.rack=[r]"}});
  ASSERT_TRUE(parsed.has_value()) << to_text(parsed.error());
  const config& c = parsed.value();
  EXPECT_EQ(c.streams[0].dedup.window, std::chrono::hours{2});
  EXPECT_EQ(c.streams[0].poison, 0U);
  EXPECT_EQ(c.state.sync, sync_mode::every_step);
  EXPECT_EQ(c.memory_limit, 2147483648U);
  EXPECT_THAT(c.streams[0].topics, ElementsAre("a", "b"));
  EXPECT_EQ(c.state.path, "/tmp/a=b");
  EXPECT_THAT(c.kafka.properties, ElementsAre(Pair("client.id", "x.y"), Pair("client.rack", "[r]"),
                                              Pair("session.timeout.ms", "1")));
}

TEST(config_override, that_comes_later_wins) {
  const auto parsed = parse_config(
      k_example, "f.yaml", {.set = {"memory_limit=2GiB", "memory_limit=3GiB"}, .kafka_properties = {}});
  ASSERT_TRUE(parsed.has_value()) << to_text(parsed.error());
  EXPECT_EQ(parsed.value().memory_limit, 3U * (std::uint64_t{1} << 30));
}

TEST(config_override, prefers_the_longest_stream_name) {
  constexpr const char* k_streams = R"(version: 1
state: {path: s}
streams:
  - {name: a, dedup: off, envelope: {aggregate: /a, sequence: /s}}
  - {name: a.b.c, dedup: off, envelope: {aggregate: /a, sequence: /s}}
  - {name: a.b, dedup: off, envelope: {aggregate: /a, sequence: /s}}
)";
  const auto parsed =
      parse_config(k_streams, "f.yaml",
                   {.set = {"streams.a.poison=1", "streams.a.b.poison=2", "streams.a.b.c.poison=3"},
                    .kafka_properties = {}});
  ASSERT_TRUE(parsed.has_value()) << to_text(parsed.error());
  EXPECT_EQ(parsed.value().streams[0].poison, 1U);
  EXPECT_EQ(parsed.value().streams[1].poison, 3U);
  EXPECT_EQ(parsed.value().streams[2].poison, 2U);
}

struct bad_override {
  const char* name;
  const char* set;
  const char* want;
};

class config_override_refusal : public ::testing::TestWithParam<bad_override> {};

TEST_P(config_override_refusal, has_the_option_for_a_place) {
  const std::string errors = errors_of(k_example, {.set = {GetParam().set}, .kafka_properties = {}});
  EXPECT_THAT(errors, HasSubstr("f.yaml has an error\n"));
  EXPECT_THAT(errors, HasSubstr(GetParam().want));
}

constexpr bad_override k_bad_overrides[] = {
    {"value_refused", "streams[0].dedup.ids=uuidv1",
     "  --set streams[0].dedup.ids: streams[0].dedup.ids: \"uuidv1\" is not allowed here"},
    {"key_of_another_order", "streams[0].first=0",
     "  --set streams[0].first: streams[0].first: does nothing with order: latest"},
    {"rule_broken", "streams[0].reducer.kind=merge_patch",
     "  --set streams[0].reducer.kind: streams[0].reducer.kind: merge_patch does not go with order: latest"},
    {"key_misspelt", "state.pth=x",
     "  --set state.pth: state.pth: is not a known key; did you mean \"path\"?"},
    {"no_value", "memory_limit", "  --set: must be KEY=VALUE"},
    {"empty_value", "memory_limit=", "  --set memory_limit: memory_limit: has no value"},
    {"no_key", "=1", "  --set: must be KEY=VALUE"},
    {"empty_part", "state..path=x", "  --set state..path: state..path: has an empty part"},
    {"index_past_the_end", "streams[1].poison=1", "there is no [1] there"},
    {"index_that_is_none", "streams[x].poison=1", "has an invalid index"},
    {"index_not_closed", "streams[0.poison=1", "has an invalid index"},
    {"no_dot_behind_the_index", "streams[0]poison=1", "needs a dot after ]"},
    {"unknown_stream", "streams.payment.poison=1", "there is no item named payment; there is payments"},
    {"name_that_only_begins_like_a_stream", "streams.paymentsx.poison=1", "there is no item named paymentsx"},
    {"below_a_scalar", "state.path.x=1", "there is no map above x"},
    {"broken_yaml", "streams[0].topics=[a", "  --set streams[0].topics: streams[0].topics: not YAML"},
};

INSTANTIATE_TEST_SUITE_P(table, config_override_refusal, ::testing::ValuesIn(k_bad_overrides),
                         [](const auto& each) { return std::string{each.param.name}; });

TEST(config_override, with_a_property_of_ours_is_refused) {
  EXPECT_THAT(
      errors_of(k_example, {.set = {}, .kafka_properties = {"group.id=x"}}),
      HasSubstr("  -X group.id: kafka.properties.group.id: cannot be set here; set kafka.group instead"));
}

TEST(config_override, of_a_property_needs_a_kafka_section) {
  EXPECT_THAT(errors_of("version: 1\n", {.set = {}, .kafka_properties = {"a=b"}}),
              HasSubstr("  -X: kafka: the config has no kafka section"));
}

TEST(config_messages, never_show_the_value_of_a_property) {
  std::string text = k_example;
  text.replace(text.find("session.timeout.ms: 45000"), 25,
               "sasl.password: [hunter2], ssl.key.password: {hunter2: 1}, group.id: hunter2");
  const std::string errors = errors_of(
      text, {.set = {"kafka.properties.sasl.password.x=hunter2", "kafka.properties=hunter2", "hunter2"},
             .kafka_properties = {"group.id=hunter2", "hunter2"}});
  EXPECT_THAT(errors, HasSubstr("error"));
  EXPECT_THAT(errors, Not(HasSubstr("hunter2")));
  EXPECT_THAT(errors_of(text), HasSubstr("f.yaml has 3 errors"));
  EXPECT_THAT(errors_of(text), Not(HasSubstr("hunter2")));
}

}  // namespace

}  // namespace ratchet
