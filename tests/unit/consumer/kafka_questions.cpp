// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What a program is asked by the public app, and what its answer does, over the embedded broker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kafka/embedded_broker.hpp"
#include "ratchet/ratchet.hpp"
#include "support/kafka_testing.hpp"
#include "support/temporary_directory.hpp"

namespace ratchet::testing {
namespace {

using ::testing::IsEmpty;

struct counting {
  static constexpr reducer_traits traits{.name = "counting", .version = 1};
  outcome apply(const ratchet::event& e, state& s, effects&) const {
    s.assign(e.payload);
    return done();
  }
};

TEST(app_over_kafka, is_asked_about_a_rewound_topic_and_answers_its_next_run) {
  const support::temporary_directory files;
  auto broker = embedded_broker::start();
  ASSERT_TRUE(broker);
  ASSERT_TRUE(broker.value()->create_topic("t", 1));
  auto producer = record_producer::make(broker.value()->bootstrap(), {});
  ASSERT_TRUE(producer);
  const auto produce = [&](int n) {
    const std::string value = R"({"a":"p1","n":)" + std::to_string(n) + "}";
    ASSERT_TRUE(producer.value()->send("t", partition_id{0}, "k", value));
    ASSERT_TRUE(producer.value()->flush(k_patience));
  };
  for (int n = 1; n <= 3; ++n) produce(n);
  const auto settings = parse_config("version: 1\nkafka: {brokers: [\"" + broker.value()->bootstrap() +
                                         "\"], group: g, properties: {session.timeout.ms: 6000, "
                                         "heartbeat.interval.ms: 300}}\nstate: {path: " +
                                         (files.path() / "state").string() +
                                         "}\nstreams:\n  - {name: payments, topics: [t], start: earliest, "
                                         "dedup: off, envelope: {aggregate: /a, "
                                         "sequence: /n}, reducer: {kind: own, name: counting, version: 1}}\n",
                                     "f.yaml");
  ASSERT_TRUE(settings) << to_text(settings.error());
  auto opened = app::open(*settings, reducers{}.add("payments", counting{}));
  ASSERT_TRUE(opened) << to_text(opened.error());
  app& a = opened.value();
  auto ended = a.run(until_end());
  ASSERT_TRUE(ended) << to_text(ended.error());
  {
    auto somebody = open_source(config_of(broker.value()->bootstrap(), "g"));
    join_and_assign(*somebody, {"t"});
    const commit_request back[] = {{at("t", 0), 1, ""}};
    ASSERT_TRUE(somebody->commit_and_wait(back, k_patience));
    somebody->close(k_patience);
  }
  produce(4);
  ended = a.run(until_end());
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, errc::partition_stopped);
  const auto open = a.questions();
  ASSERT_EQ(open.size(), 1U);
  EXPECT_EQ(ended.error().questions, open);
  EXPECT_EQ(open[0].kind, question_kind::rewound);
  EXPECT_EQ(open[0].stream, "payments");
  EXPECT_EQ(open[0].stored, 3);
  EXPECT_EQ(open[0].committed, 1);
  EXPECT_EQ(open[0].log_end, 4);
  EXPECT_EQ(a.read("payments", "p1").value().sequence, seq(3)) << "nothing was handled";

  ended = a.run(until_end(), {resume_option::store, "alice", "a slip"});
  ASSERT_TRUE(ended) << to_text(ended.error());
  EXPECT_THAT(a.questions(), IsEmpty());
  EXPECT_EQ(a.read("payments", "p1").value().sequence, seq(4));
}

}  // namespace
}  // namespace ratchet::testing
