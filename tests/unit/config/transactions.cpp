// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Streams that nothing but transactions feed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "config/text.hpp"
#include "ratchet/config.hpp"
#include "streams/stream_definition.hpp"

namespace ratchet::testing {
namespace {

using ::testing::HasSubstr;

reported<config> parsed(const std::string& lines, const std::string& top = "") {
  return parse_config(
      "version: 1\nstate: {path: /var/lib/ratchet}\n" + top + "streams:\n  - name: payments\n" + lines,
      "f.yaml");
}

std::string findings(const std::string& lines) {
  const auto c = parsed(lines);
  return c ? "" : to_text(c.error());
}

TEST(config_of_transactions, needs_neither_topics_nor_an_envelope) {
  const auto c =
      parsed("    order: arrival\n    outputs: [out]\n", "kafka: {brokers: [localhost:9092], group: g}\n");
  ASSERT_TRUE(c.has_value()) << to_text(c.error());
  EXPECT_EQ(describe(c.value().streams[0]),
            "payments: fed by the transactions of a program only; their keys remembered for 24h; lets the "
            "code of a program publish to out");
  EXPECT_THAT(findings("    order: arrival\n    outputs: [out]\n"), HasSubstr("kafka: is missing"));
  EXPECT_EQ(c.value().streams[0].dedup.ids, id_kind::opaque) << "the keys of transactions";
  const auto streams = make_streams(*c, {});
  ASSERT_TRUE(streams);
  EXPECT_FALSE(reads_topics(streams.value()));
  EXPECT_TRUE(streams.value()[0]->rules.transactions_move_floor);
}

TEST(config_of_transactions, takes_a_window) {
  const auto c = parsed("    order: arrival\n    dedup: {window: 7d}\n");
  ASSERT_TRUE(c.has_value()) << to_text(c.error());
  EXPECT_EQ(c.value().streams[0].dedup.ids, id_kind::opaque);
  EXPECT_EQ(c.value().streams[0].dedup.window, std::chrono::hours{24 * 7});
}

TEST(config_of_transactions, wants_an_envelope_in_every_other_order_and_with_topics) {
  EXPECT_THAT(findings("    order: latest\n"), HasSubstr("streams[0].envelope: is missing"));
  EXPECT_THAT(findings("    order: strict\n"), HasSubstr("streams[0].envelope: is missing"));
  EXPECT_THAT(findings("    order: arrival\n    topics: [t]\n    start: earliest\n"),
              HasSubstr("streams[0].envelope: is missing"));
}

TEST(config_of_transactions, refuses_other_ids) {
  EXPECT_THAT(findings("    order: arrival\n    dedup: {ids: uuidv7}\n"),
              HasSubstr("streams[0].dedup: must be {ids: opaque}"));
  EXPECT_THAT(findings("    order: arrival\n    dedup: off\n"),
              HasSubstr("streams[0].dedup: must be {ids: opaque}"));
}

TEST(config_of_transactions, refuses_what_only_events_would_make_use_of) {
  for (const char* line : {"emit: {topic: x}", "reducer: {kind: merge_patch}", "poison: 5", "start: earliest",
                           "retry: {attempts: 3}", "dead_letter: {topic: d}", "handling: direct"}) {
    const std::string key = std::string{line}.substr(0, std::string{line}.find(':'));
    EXPECT_THAT(findings("    order: arrival\n    " + std::string{line} + "\n"),
                HasSubstr("streams[0]." + key + ": does nothing in a stream without topics and envelope"));
  }
}

}  // namespace
}  // namespace ratchet::testing
