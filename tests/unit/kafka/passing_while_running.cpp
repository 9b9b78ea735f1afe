// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What passes by itself ends neither reading nor sending: every such answer against what is asked all the
// time.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "kafka/embedded_broker.hpp"
#include "kafka/kafka_publisher.hpp"
#include "support/kafka_testing.hpp"

namespace ratchet::testing {
namespace {

/// Kafka's own numbers, as in passing_answers.cpp; 3: brokers hear of a topic one after the other.
constexpr int k_passing[] = {3, 5, 6, 7, 8, 9, 13, 14, 15, 16, 41, 56, 72, 74, 75, 78, 80, 83, 88, 89};
constexpr int k_of_coordinators[] = {14, 15, 16};
constexpr std::int16_t k_produce = 0;
constexpr std::int16_t k_fetch = 1;
constexpr std::int16_t k_metadata = 3;
constexpr std::int16_t k_commit = 8;
constexpr std::int16_t k_find_coordinator = 10;
constexpr std::int16_t k_join_group = 11;
constexpr std::int16_t k_heartbeat = 12;
constexpr std::int16_t k_sync_group = 14;
constexpr std::int16_t k_init_producer_id = 22;

struct brokers_in_trouble : ::testing::Test {
  brokers_in_trouble() { EXPECT_TRUE(broker->create_topic("t", 1)); }
  std::unique_ptr<embedded_broker> broker = embedded_broker::start().value();
  std::string brokers = broker->bootstrap();
};

/// Sends it until it is there, and says whether it was refused meanwhile.
bool was_refused(publisher& to, const output_row& row) {
  const auto deadline = std::chrono::steady_clock::now() + k_patience;
  bool is_under_way = false;
  while (std::chrono::steady_clock::now() < deadline) {
    if (!is_under_way) is_under_way = is_taken(to.send(row));
    to.wait(20ms);
    for (const delivery& d : to.delivered()) {
      if (d.ended == delivery::how::refused) return true;
      if (d.ended == delivery::how::done) return false;
      is_under_way = false;
    }
  }
  ADD_FAILURE() << "it never came";
  return false;
}

TEST_F(brokers_in_trouble, refuse_no_message) {
  auto made = make_kafka_publisher(config_of(brokers, "g"), {});
  ASSERT_TRUE(made);
  output_row row;
  row.topic = "t";
  row.value = "v";
  for (const std::int16_t api : {k_produce, k_metadata}) {
    for (const int code : k_passing) {
      broker->answer_with(api, code, 2);
      EXPECT_FALSE(was_refused(*made.value(), row)) << "api " << api << ", answer " << code;
      ++row.position;
      broker->answer_truly(api);
    }
  }
}

TEST_F(brokers_in_trouble, refuse_no_message_while_a_producer_has_no_id) {
  // librdkafka asks again half a second later, so that all answers of one kind are given to one producer.
  for (const int code : {7, 13, 14, 15, 16, 41, 51, 56}) {
    broker->answer_with(k_init_producer_id, code, 1);
    auto made = make_kafka_publisher(config_of(brokers, "g"), {});
    ASSERT_TRUE(made);
    output_row row;
    row.topic = "t";
    row.value = "v";
    EXPECT_FALSE(was_refused(*made.value(), row)) << "answer " << code;
    broker->answer_truly(k_init_producer_id);
  }
}

TEST_F(brokers_in_trouble, end_no_reading) {
  kafka_config config = config_of(brokers, "g");
  config.properties["fetch.error.backoff.ms"] = "20";
  auto source = open_source(config);
  join_and_assign(*source, {"t"});
  collected seen;
  int next = 0;
  for (const std::int16_t api : {k_fetch, k_commit, k_heartbeat}) {
    for (const int code : k_passing) {
      const bool is_of_coordinator = code == 14 || code == 15 || code == 16;
      if (api != k_fetch && !is_of_coordinator) continue;
      broker->answer_with(api, code, 2);
      produce(brokers, "t", 0, next, next + 1);
      ++next;
      ASSERT_TRUE(poll_until(*source, seen, [&] { return seen.records.size() == std::size_t(next); }))
          << "api " << api << ", answer " << code;
      broker->answer_truly(api);
    }
  }
  EXPECT_FALSE(seen.has<notice::fatal>());
  EXPECT_EQ(seen.values(at("t", 0)), numbered(0, next)) << "each once, in order";
}

TEST_F(brokers_in_trouble, end_no_joining) {
  produce(brokers, "t", 0, 0, 3);
  for (const std::int16_t api : {k_find_coordinator, k_join_group, k_sync_group}) {
    for (const int code : k_of_coordinators) broker->answer_with(api, code, 1);
  }
  auto source = open_source(config_of(brokers, "g"));
  join_and_assign(*source, {"t"});
  collected seen;
  EXPECT_TRUE(poll_until(*source, seen, [&] { return seen.records.size() == 3; }));
  EXPECT_FALSE(seen.has<notice::fatal>());
}

}  // namespace
}  // namespace ratchet::testing
