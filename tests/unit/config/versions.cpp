// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What a config says of versions, and what does not go together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <stdexcept>
#include <string>

#include "config/text.hpp"
#include "decode/sequence_kinds.hpp"
#include "ratchet/config.hpp"
#include "streams/stream_definition.hpp"
#include "streams/stream_meaning.hpp"

namespace ratchet {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

reported<config> parsed(const std::string& envelope, const std::string& rest) {
  return parse_config("version: 1\nstate: {path: s}\nstreams:\n  - name: payments\n    envelope: " +
                          envelope + "\n    " + rest + "\n    reducer: {kind: replace}\n",
                      "f.yaml");
}

stream_config stream(const std::string& envelope, const std::string& rest = "dedup: off") {
  auto c = parsed(envelope, rest);
  return c ? c.value().streams.at(0) : throw std::runtime_error{to_text(c.error())};
}

sequence_kind kind(const std::string& envelope, const std::string& rest = "dedup: off") {
  const stream_config s = stream(envelope, rest);
  return kind_of_sequences(s.envelope, s.order);
}

TEST(config_of_versions, names_each_kind) {
  for (int n = 1; n <= static_cast<int>(sequence_kind::text); ++n) {
    const auto as = static_cast<sequence_kind>(n);
    EXPECT_EQ(kind("{aggregate: /id, sequence: {from: /s, as: " + std::string{word_of(as)} + "}}"), as);
  }
  EXPECT_EQ(kind("{aggregate: /id, sequence: /s}"), sequence_kind::integer);
  EXPECT_EQ(kind("{format: cloudevents}"), sequence_kind::text) << "as the extension says";
  EXPECT_EQ(kind("{format: cloudevents, sequence: {from: attribute:sequence, bits: 64}}"),
            sequence_kind::integer);
  EXPECT_EQ(kind("{format: cloudevents, epoch: attribute:era}"), sequence_kind::integer);
  EXPECT_EQ(kind("{format: cloudevents}", "order: strict\n    dedup: off"), sequence_kind::integer);
}

TEST(config_of_versions, lets_an_integer_be_as_long_as_its_order_allows) {
  EXPECT_EQ(stream("{aggregate: /id, sequence: /s}").envelope.sequence_bits, 64);
  EXPECT_EQ(stream("{aggregate: /id, sequence: {from: /s, as: integer}}").envelope.sequence_bits, 128);
  EXPECT_EQ(stream("{aggregate: /id, sequence: {from: /s, as: integer, bits: 64}}").envelope.sequence_bits,
            64);
  EXPECT_EQ(stream("{aggregate: /id, sequence: {from: /s, as: integer}, epoch: /e}").envelope.sequence_bits,
            64);
  EXPECT_EQ(stream("{aggregate: /id, sequence: {from: /s, as: integer}}", "order: strict\n    dedup: off")
                .envelope.sequence_bits,
            64);
}

TEST(config_of_versions, takes_the_offset_where_the_key_is_the_aggregate) {
  EXPECT_EQ(stream("{aggregate: key}").envelope.sequence, "offset");
  EXPECT_EQ(stream("{aggregate: key, sequence: timestamp}").envelope.sequence, "timestamp");
  EXPECT_FALSE(parsed("{aggregate: /id}", "dedup: off")) << "an event's own id says nothing of its partition";
  EXPECT_FALSE(parsed("{aggregate: key}", "order: strict\n    dedup: off"));
}

TEST(config_of_versions, keeps_what_the_state_depends_on) {
  const auto lines = [](const stream_config& s) { return meaning_of(s, "replace", 1).lines; };
  EXPECT_THAT(lines(stream("{aggregate: /id, sequence: {from: /s, as: time}}")),
              Contains(Pair("envelope.sequence.as", "time")));
  EXPECT_THAT(lines(stream("{aggregate: /id, sequence: /s}")),
              Not(Contains(Pair("envelope.sequence.as", "integer"))))
      << "as every state was before there was a choice";
  EXPECT_THAT(lines(stream("{aggregate: /id, sequence: /s}", "dedup: off\n    after_delete: restart")),
              Contains(Pair("after_delete", "restart")));
  const stream_config ranges =
      stream("{aggregate: /id, sequence: {from: /u, first: /U}}", "order: strict\n    dedup: off");
  EXPECT_THAT(lines(ranges), Contains(Pair("envelope.sequence.first", "/U")));
}

TEST(config_of_versions, decides_about_ties) {
  const auto later = [](const std::string& envelope, const std::string& rest = "dedup: off") {
    config c;
    c.streams = {stream(envelope, rest)};
    return make_streams(c, {}).value().at(0)->rules.gate.ties_by_offset;
  };
  EXPECT_FALSE(later("{aggregate: /id, sequence: /s}"));
  EXPECT_TRUE(later("{aggregate: /id, sequence: /s}", "dedup: off\n    ties: later"));
  EXPECT_TRUE(later("{aggregate: /id, sequence: {from: /s, as: time}}"));
  EXPECT_TRUE(later("{aggregate: key, sequence: timestamp}"));
  EXPECT_FALSE(later("{aggregate: key, sequence: timestamp}", "dedup: off\n    ties: reject"));
  EXPECT_TRUE(later("{format: debezium-cdc}"));
}

TEST(config_of_versions, is_told_in_words) {
  EXPECT_THAT(limits_of(stream("{aggregate: /id, sequence: /s}")), Contains(HasSubstr("set ties: later")));
  EXPECT_THAT(limits_of(stream("{aggregate: /id, sequence: /s}")),
              Contains(HasSubstr("set after_delete: restart")));
  EXPECT_THAT(limits_of(stream("{format: cloudevents}")),
              Contains(HasSubstr("numbers of two sources are compared")));
  EXPECT_THAT(limits_of(stream("{format: cloudevents}")), Contains(HasSubstr("\"10\" is below \"9\"")));
  EXPECT_THAT(limits_of(stream("{aggregate: key}")), Contains(HasSubstr("with the highest offset wins")));
  EXPECT_THAT(limits_of(stream("{aggregate: /id, event_id: /e}", "order: arrival\n    too_old: park")),
              Contains(HasSubstr("older than the stream waits")));
  EXPECT_THAT(limits_of(stream("{aggregate: /id, sequence: /s}",
                               "order: strict\n    dedup: off\n    retention: 9d\n    too_old: park")),
              Contains(HasSubstr("waits for an operator if it is too old")));
}

TEST(config_of_versions, lets_old_events_wait_where_aggregates_are_forgotten) {
  for (const char* order : {"strict", "latest"}) {
    config c;
    c.streams = {stream("{aggregate: /id, sequence: /s}", std::string{"order: "} + order +
                                                              "\n    dedup: off\n    too_old: park\n    "
                                                              "retention: 9d")};
    const auto made = make_streams(c, {});
    ASSERT_TRUE(made) << order;
    EXPECT_TRUE(made.value().at(0)->rules.parks_too_old);
  }
}

struct refused {
  const char* name;
  const char* envelope;
  const char* rest;
  const char* path;
};
std::ostream& operator<<(std::ostream& out, const refused& r) {
  return out << r.name;
}

class version_refusal : public ::testing::TestWithParam<refused> {};

TEST_P(version_refusal, is_one_finding_with_its_place) {
  const auto c = parsed(GetParam().envelope, GetParam().rest);
  ASSERT_FALSE(c.has_value());
  ASSERT_EQ(c.error().diagnostics.size(), 1U) << to_text(c.error());
  EXPECT_EQ(c.error().diagnostics.front().path, std::string{"streams[0]."} + GetParam().path);
  EXPECT_FALSE(c.error().diagnostics.front().hint.empty());
}

constexpr const char* k_off = "dedup: off";
constexpr const char* k_strict = "order: strict\n    dedup: off";

constexpr refused k_refused[] = {
    {"unknown_kind", "{aggregate: /id, sequence: {from: /s, as: date}}", k_off, "envelope.sequence.as"},
    {"bits_of_a_time", "{aggregate: /id, sequence: {from: /s, as: time, bits: 128}}", k_off,
     "envelope.sequence.bits"},
    {"epoch_of_text", "{aggregate: /id, sequence: {from: /s, as: text}, epoch: /e}", k_off, "envelope.epoch"},
    {"epoch_of_offsets", "{aggregate: key, sequence: offset, epoch: /e}", k_off, "envelope.epoch"},
    {"times_in_strict_order", "{aggregate: /id, sequence: {from: /s, as: time}}", k_strict, "order"},
    {"offsets_in_strict_order", "{aggregate: key, sequence: offset}", k_strict, "order"},
    {"range_of_latest", "{aggregate: /id, sequence: {from: /u, first: /U}}", k_off,
     "envelope.sequence.first"},
    {"previous_of_latest", "{aggregate: /id, sequence: /u, previous: /pu}", k_off, "envelope.previous"},
    {"two_ranges", "{aggregate: /id, sequence: {from: /u, first: /U}, previous: /pu}", k_strict,
     "envelope.previous"},
    {"no_pointer", "{aggregate: /id, sequence: /u, previous: pu}", k_strict, "envelope.previous"},
    {"previous_of_rows", "{format: debezium-cdc, previous: /pu}", "order: latest", "envelope.previous"},
    {"ties_of_strict", "{aggregate: /id, sequence: /s}", "order: strict\n    dedup: off\n    ties: later",
     "ties"},
    {"ties_of_rows", "{format: debezium-cdc}", "ties: reject", "ties"},
    {"unknown_ties", "{aggregate: /id, sequence: /s}", "dedup: off\n    ties: earlier", "ties"},
    {"restart_of_strict", "{aggregate: /id, sequence: /s}",
     "order: strict\n    dedup: off\n    after_delete: restart", "after_delete"},
    {"restart_of_times", "{aggregate: /id, sequence: {from: /s, as: time}}",
     "dedup: off\n    after_delete: restart", "after_delete"},
    {"too_old_of_latest", "{aggregate: /id, sequence: /s}", "dedup: off\n    too_old: park", "too_old"},
    {"too_old_of_strict", "{aggregate: /id, sequence: /s}",
     "order: strict\n    dedup: off\n    too_old: park", "too_old"},
    {"too_old_of_strict_and_deferred", "{aggregate: /id, sequence: /s}",
     "order: strict\n    dedup: off\n    too_old: park\n    retention: 9d\n    handling: deferred",
     "too_old"},
    {"too_old_and_deferred", "{aggregate: /id, event_id: /e}",
     "order: arrival\n    too_old: park\n    handling: deferred", "too_old"},
    {"too_old_of_growing_ids", "{aggregate: /id, event_id: /e}",
     "order: arrival\n    too_old: park\n    dedup: {ids: monotonic}", "too_old"},
};
INSTANTIATE_TEST_SUITE_P(kinds, version_refusal, ::testing::ValuesIn(k_refused),
                         [](const auto& tested) { return std::string{tested.param.name}; });

TEST(config_of_versions, refuses_offsets_of_two_topics) {
  config c;
  c.streams = {stream("{aggregate: key}")};
  c.streams[0].topics = {"a", "b"};
  EXPECT_FALSE(make_streams(c, {}));
}

}  // namespace
}  // namespace ratchet
