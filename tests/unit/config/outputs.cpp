// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The keys `outputs`, `emit` and `outbox` of the config.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "config/text.hpp"
#include "ratchet/config.hpp"
#include "streams/stream_definition.hpp"

namespace ratchet::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

reported<config> parsed(const std::string& lines, const std::string& top = "",
                        const std::string& type = ", type: /t") {
  return parse_config(R"(version: 1
kafka: {brokers: [localhost:9092], group: g}
state: {path: /var/lib/ratchet}
)" + top + R"(streams:
  - name: payments
    topics: [in]
    start: earliest
    envelope: {event_id: /id, aggregate: /a, sequence: /s)" +
                          type + "}\n" + lines,
                      "f.yaml");
}

TEST(config_of_outputs, is_read_whole) {
  const auto c = parsed(R"(    outputs: [cashback]
    emit:
      - {types: [paid, refunded], topic: money, key: /customer/id, payload: /amount, as: moved}
      - {topic: all}
)",
                        "outbox: {message_bytes: 2MiB}\n");
  ASSERT_TRUE(c.has_value()) << to_text(c.error());
  EXPECT_EQ(c.value().outbox.message_bytes, 2U << 20U);
  EXPECT_EQ(c.value().outbox.bytes, 1U << 30U);
  const stream_config& s = c.value().streams[0];
  EXPECT_THAT(s.outputs, ElementsAre("cashback"));
  ASSERT_EQ(s.emit.size(), 2U);
  EXPECT_THAT(s.emit[0].types, ElementsAre("paid", "refunded"));
  EXPECT_EQ(s.emit[0].topic, "money");
  EXPECT_EQ(s.emit[0].key, "/customer/id");
  EXPECT_EQ(s.emit[0].payload, "/amount");
  EXPECT_EQ(s.emit[0].as, "moved");
  EXPECT_TRUE(s.emit[1].types.empty());
  EXPECT_EQ(s.emit[1].key, "aggregate");
  EXPECT_EQ(s.emit[1].payload, "");
  EXPECT_THAT(describe(s),
              HasSubstr("; publishes to money, all; lets the code of a program publish to cashback"));
  EXPECT_THAT(limits_of(s), Contains(HasSubstr("nothing is published to cashback by kind: replace")));
  EXPECT_THAT(limits_of(s), Not(Contains(HasSubstr("nothing is published to money"))));
  EXPECT_THAT(limits_of(s), Contains(HasSubstr("drop repeats by ce_id")));
  auto twice = s;
  twice.outputs.push_back(s.emit.front().topic);
  EXPECT_EQ(topics_published_to(twice).size(), topics_published_to(s).size()) << "each is named once";
}

TEST(config_of_outputs, takes_one_emit_without_a_list) {
  const auto c = parsed("    emit: {topic: out, key: none}\n");
  ASSERT_TRUE(c.has_value()) << to_text(c.error());
  EXPECT_EQ(c.value().streams[0].emit.at(0).key, "none");
}

TEST(config_of_outputs, names_each_topic_that_is_written_to_once) {
  const auto c = parsed("    outputs: [b, a]\n    emit: {topic: b}\n    dead_letter: {topic: d}\n");
  ASSERT_TRUE(c.has_value()) << to_text(c.error());
  const auto streams = make_streams(c.value(), {});
  ASSERT_TRUE(streams.has_value());
  EXPECT_THAT(output_topics(streams.value()), ElementsAre("a", "b", "d"));
  EXPECT_THAT(*streams.value()[0]->rules.outputs.topics, ElementsAre("b", "a"));
}

struct refused {
  const char* name;
  const char* lines;
  const char* path;
  const char* message;
  const char* top{""};
};
std::ostream& operator<<(std::ostream& out, const refused& r) {
  return out << r.name;
}

class output_refusal : public ::testing::TestWithParam<refused> {};

TEST_P(output_refusal, is_one_finding_with_its_place_and_a_hint) {
  const auto c = parsed(GetParam().lines, GetParam().top);
  ASSERT_FALSE(c.has_value());
  ASSERT_EQ(c.error().diagnostics.size(), 1U) << to_text(c.error());
  EXPECT_EQ(c.error().diagnostics.front().path, GetParam().path);
  EXPECT_THAT(c.error().diagnostics.front().message, HasSubstr(GetParam().message));
  EXPECT_FALSE(c.error().diagnostics.front().hint.empty());
}

constexpr refused k_refused[] = {
    {"own_topic", "    outputs: [in]\n", "streams[0].outputs[0]",
     "in is a topic that the stream reads itself"},
    {"emit_to_own_topic", "    emit: [{topic: in}]\n", "streams[0].emit[0].topic",
     "in is a topic that the stream reads itself"},
    {"one_emit_to_own_topic", "    emit: {topic: in}\n", "streams[0].emit.topic",
     "in is a topic that the stream reads itself"},
    {"no_topic", "    emit: {types: [paid]}\n", "streams[0].emit.topic", "is missing"},
    {"bad_topic", "    emit: {topic: a/b}\n", "streams[0].emit.topic", "is not a topic's name"},
    {"bad_output", "    outputs: [a/b]\n", "streams[0].outputs[0]", "is not a topic's name"},
    {"bad_key", "    emit: {topic: o, key: customer}\n", "streams[0].emit.key", "is not a key"},
    {"bad_payload", "    emit: {topic: o, payload: amount}\n", "streams[0].emit.payload",
     "is not a JSON Pointer"},
    {"no_types", "    emit: {topic: o, types: []}\n", "streams[0].emit.types", "names no type"},
    {"empty_type", "    emit: {topic: o, types: ['']}\n", "streams[0].emit.types[0]", "is empty"},
    {"empty_as", "    emit: {topic: o, as: ''}\n", "streams[0].emit.as", "is empty"},
    {"unknown_key", "    emit: {topic: o, value: /a}\n", "streams[0].emit.value", "is not a known key"},
    {"small_messages", "", "outbox.message_bytes", "is out of range", "outbox: {message_bytes: 1KiB}\n"},
};

reported<config> with_snapshots_of(const std::string& bytes) {
  return parse_config("version: 1\nstate: {path: /var/lib/ratchet, snapshot_bytes: " + bytes + R"(}
streams:
  - name: payments
    envelope: {event_id: /id, aggregate: /a, sequence: /s}
)",
                      "f.yaml");
}

TEST(config_of_outputs, bounds_snapshots_further_where_steps_go_through_a_log) {
  const auto with_log = [](const std::string& bytes) {
    return parse_config("version: 1\nstate: {path: /var/lib/ratchet, snapshot_bytes: " + bytes + R"(}
replicate: {topic: l, instance: a}
streams:
  - name: payments
    envelope: {event_id: /id, aggregate: /a, sequence: /s}
)",
                        "f.yaml");
  };
  EXPECT_TRUE(with_log("256MiB").has_value());
  const auto refused = with_log("257MiB");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().diagnostics.front().path, "replicate");
  EXPECT_NE(refused.error().diagnostics.front().message.find("`state.snapshot_bytes` above 256MiB"),
            std::string::npos);
}

TEST(config_of_outputs, bounds_snapshots) {
  const auto by_default = parsed("    outputs: [cashback]\n");
  ASSERT_TRUE(by_default.has_value()) << to_text(by_default.error());
  EXPECT_EQ(by_default.value().state.snapshot_bytes, 16U << 20U);
  for (const auto& [text, bytes] : {std::pair{"4KiB", 4096U}, {"32MiB", 32U << 20U}, {"1GiB", 1U << 30U}}) {
    const auto c = with_snapshots_of(text);
    ASSERT_TRUE(c.has_value()) << to_text(c.error());
    EXPECT_EQ(c.value().state.snapshot_bytes, bytes);
    const auto streams = make_streams(c.value(), {});
    ASSERT_TRUE(streams.has_value()) << to_text(streams.error());
    EXPECT_EQ(streams.value()[0]->rules.outputs.snapshot_bytes, bytes);
  }
  for (const char* text : {"4095", "1GiB1", "2GiB", "off"}) {
    const auto c = with_snapshots_of(text);
    ASSERT_FALSE(c.has_value()) << text;
    EXPECT_EQ(c.error().diagnostics.front().path, "state.snapshot_bytes");
  }
}

INSTANTIATE_TEST_SUITE_P(config_of_outputs, output_refusal, ::testing::ValuesIn(k_refused),
                         [](const auto& tested) { return std::string{tested.param.name}; });

TEST(config_of_outputs, wants_the_type_of_events_where_an_emit_asks_for_it) {
  const auto c = parsed("    emit: {topic: o, types: [paid]}\n", "", "");
  ASSERT_FALSE(c.has_value());
  ASSERT_EQ(c.error().diagnostics.size(), 1U) << to_text(c.error());
  EXPECT_EQ(c.error().diagnostics.front().path, "streams[0].envelope.type");
}

}  // namespace
}  // namespace ratchet::testing
