// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What passes by itself (an election, a coordinator that loads, a broker that has just come back) is never
// taken for something that a person must mend: every such answer against every question.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "kafka/embedded_broker.hpp"
#include "kafka/kafka_error.hpp"
#include "support/each_answer.hpp"
#include "support/kafka_testing.hpp"

namespace ratchet::testing {
namespace {

const std::error_code k_unavailable = make_error_code(errc::source_unavailable);
const std::error_code k_missing = make_error_code(errc::topic_missing);

struct partly_led : ::testing::Test {
  partly_led() {
    EXPECT_TRUE(broker->create_topic("t", 2));
    produce(brokers, "t", 0, 0, 10);
    produce(brokers, "t", 1, 0, 20);
  }
  [[nodiscard]] std::error_code error_of_bounds(source& from, const topic_partition& where) {
    const auto found = testing::bounds_of(from, where, 3s);
    return found ? std::error_code{} : found.error();
  }
  std::unique_ptr<embedded_broker> broker = embedded_broker::start().value();
  std::string brokers = broker->bootstrap();
};

TEST_F(partly_led, a_partition_without_a_leader_is_away_and_not_missing) {
  ASSERT_TRUE(broker->set_led("t", 1, false));
  auto source = open_source(config_of(brokers, "g"));
  EXPECT_EQ(error_of_bounds(*source, at("t", 1)), k_unavailable);
  EXPECT_EQ(testing::bounds_of(*source, at("t", 0), k_patience).value().end, 10);
  EXPECT_EQ(error_of_bounds(*source, at("t", 7)), k_missing);
  ASSERT_TRUE(broker->set_led("t", 1, true));
  const auto deadline = std::chrono::steady_clock::now() + k_patience;
  while (error_of_bounds(*source, at("t", 1)) && std::chrono::steady_clock::now() < deadline) {
  }
  EXPECT_EQ(testing::bounds_of(*source, at("t", 1), k_patience).value().end, 20);
}

TEST_F(partly_led, bounds_are_told_beside_the_records_one_partition_for_itself) {
  ASSERT_TRUE(broker->set_led("t", 1, false));
  auto source = open_source(config_of(brokers, "g"));
  source->ask_bounds(std::vector{at("t", 1), at("t", 0)});
  collected seen;
  ASSERT_TRUE(poll_until(*source, seen, [&] { return seen.all<notice::bounds_told>().size() == 2; }));
  const auto told = seen.all<notice::bounds_told>();
  EXPECT_EQ(told[0].where, at("t", 1));
  EXPECT_EQ(told[0].code, k_unavailable);
  EXPECT_EQ(told[1].where, at("t", 0));
  EXPECT_FALSE(told[1].code);
  EXPECT_EQ(told[1].found.end, 10);
}

struct answer {
  int code;
  const char* name;
};
/// Kafka's own numbers.
constexpr answer k_passing[] = {{5, "LEADER_NOT_AVAILABLE"},
                                {6, "NOT_LEADER_OR_FOLLOWER"},
                                {7, "REQUEST_TIMED_OUT"},
                                {8, "BROKER_NOT_AVAILABLE"},
                                {9, "REPLICA_NOT_AVAILABLE"},
                                {13, "NETWORK_EXCEPTION"},
                                {14, "COORDINATOR_LOAD_IN_PROGRESS"},
                                {15, "COORDINATOR_NOT_AVAILABLE"},
                                {16, "NOT_COORDINATOR"},
                                {41, "NOT_CONTROLLER"},
                                {56, "KAFKA_STORAGE_ERROR"},
                                {72, "LISTENER_NOT_FOUND"},
                                {74, "FENCED_LEADER_EPOCH"},
                                {75, "UNKNOWN_LEADER_EPOCH"},
                                {78, "OFFSET_NOT_AVAILABLE"},
                                {80, "PREFERRED_LEADER_NOT_AVAILABLE"},
                                {83, "ELIGIBLE_LEADERS_NOT_AVAILABLE"},
                                {88, "UNSTABLE_OFFSET_COMMIT"},
                                {89, "THROTTLING_QUOTA_EXCEEDED"},
                                {-185, "local: timed out"},
                                {-195, "local: transport"},
                                {-187, "local: all brokers down"},
                                {-180, "local: waiting for the coordinator"}};

TEST(answers_that_pass, are_unavailability_whatever_was_asked) {
  for (const answer& a : k_passing) EXPECT_EQ(to_port_error(kafka_error(a.code)), k_unavailable) << a.name;
}

struct question {
  const char* name;
  std::int16_t api;
  std::function<std::error_code(source&)> ask;
};

template <class T>
std::error_code error_of(const result<T>& of) {
  return of ? std::error_code{} : of.error();
}

TEST_F(partly_led, no_answer_that_passes_makes_a_question_fail_for_good) {
  const std::vector<topic_partition> both{at("t", 0), at("t", 1)};
  const std::vector<std::string> topics{"t"};
  const std::vector<commit_request> commit{{at("t", 0), 4, ""}};
  const std::vector<question> questions{
      {"partitions", 3, [&](source& s) { return error_of(s.partitions(topics, 500ms)); }},
      {"bounds", 2, [&](source& s) { return error_of(testing::bounds_of(s, both[0], 500ms)); }},
      {"committed", 9, [&](source& s) { return error_of(s.committed(both, 500ms)); }},
      {"the coordinator", 10, [&](source& s) { return error_of(s.committed(both, 500ms)); }},
      {"a commit", 8, [&](source& s) { return error_of(s.commit_and_wait(commit, 500ms)); }},
      {"read_at", 1, [&](source& s) { return error_of(testing::record_at(s, both[0], 4, 500ms)); }},
  };
  auto source = open_source(config_of(brokers, "g"));
  for (const question& q : questions) {
    for (const answer& a : k_passing) {
      if (a.code < 0) continue;  // no broker says so
      broker->answer_with(q.api, a.code, 2);
      const std::error_code got = q.ask(*source);
      EXPECT_TRUE(!got || got == k_unavailable) << q.name << ": " << a.name << ": " << got.message();
      broker->answer_truly(q.api);
    }
    // A topic that a broker has not heard of yet: only the list of the topics' partitions may say so.
    broker->answer_with(q.api, 3, 2);
    const std::error_code got = q.ask(*source);
    const bool may_be_missing = q.api == 3 || q.api == 2;
    EXPECT_TRUE(!got || got == k_unavailable || (may_be_missing && got == k_missing))
        << q.name << ": UNKNOWN_TOPIC_OR_PARTITION: " << got.message();
    broker->answer_truly(q.api);
    std::error_code after;
    for (int i = 0; i < 20 && (i == 0 || after); ++i) after = q.ask(*source);
    EXPECT_FALSE(after) << q.name << " goes on: " << after.message();
  }
}

}  // namespace
}  // namespace ratchet::testing
