// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "broker/kafka_fixture.hpp"
#include "kafka/admin.hpp"
#include "support/kafka_testing.hpp"

namespace ratchet::testing {
namespace {

TEST(kafka_outage, goes_on_without_gap_or_repeat_after_the_broker_was_killed_and_started_again) {
  local_broker broker;
  const std::string brokers = broker.bootstrap();
  ASSERT_TRUE(create_topic(brokers, "t", 1));
  produce(brokers, "t", 0, 0, 3000);
  auto source = open_source({{brokers}, "g", {}});
  join_and_assign(*source, {"t"});
  collected seen;
  ASSERT_TRUE(poll_until(
      *source, seen, [&] { return seen.records.size() >= 1000; }, 100));
  broker.kill();
  ASSERT_TRUE(poll_until(
      *source, seen, [&] { return seen.has<notice::trouble>(); }, 100));
  broker.start();
  produce(brokers, "t", 0, 3000, 4000);
  ASSERT_TRUE(poll_until(
      *source, seen, [&] { return seen.records.size() >= 4000; }, 100));
  EXPECT_EQ(seen.values(at("t", 0)), numbered(0, 4000));
  EXPECT_FALSE(seen.has<notice::fatal>());
  // Commits work again, too.
  auto committed = source->commit_and_wait(std::vector<commit_request>{{at("t", 0), 4000, "m"}}, k_patience);
  EXPECT_TRUE(committed) << committed.error().message();
}

TEST(kafka_outage, bounds_every_wait_while_the_broker_does_not_answer) {
  local_broker broker;
  const std::string brokers = broker.bootstrap();
  ASSERT_TRUE(create_topic(brokers, "t", 1));
  produce(brokers, "t", 0, 0, 10);
  auto source = open_source({{brokers}, "g", {}});
  join_and_assign(*source, {"t"});
  collected seen;
  ASSERT_TRUE(poll_until(*source, seen, [&] { return seen.has<notice::end_of_partition>(); }));
  broker.pause();
  const std::vector<commit_request> request{{at("t", 0), 10, "m"}};
  EXPECT_EQ(source->bounds(at("t", 0), 300ms).error(), errc::source_unavailable);
  EXPECT_EQ(source->committed(std::vector{at("t", 0)}, 300ms).error(), errc::source_unavailable);
  EXPECT_EQ(source->partitions(std::vector<std::string>{"t"}, 300ms).error(), errc::source_unavailable);
  EXPECT_EQ(source->read_at(at("t", 0), 9, 300ms).error(), errc::source_unavailable);
  EXPECT_EQ(source->commit_and_wait(request, 300ms).error(), errc::source_unavailable);
  EXPECT_TRUE(source->poll(10, 300ms));
  source->close(300ms);
  EXPECT_EQ(source->poll(10, 1ms).error(), errc::source_fatal);
  broker.resume();
}

TEST(kafka_outage, passes_over_transaction_markers_and_ends_behind_them) {
  local_broker broker;
  const std::string brokers = broker.bootstrap();
  ASSERT_TRUE(create_topic(brokers, "t", 1));
  broker.run(
      "org.apache.kafka.tools.ProducerPerformance --topic t --num-records 10 --record-size 20 --throughput "
      "-1 "
      "--transactional-id x --transaction-duration-ms 60000 --producer-props bootstrap.servers=" +
      brokers);
  auto source = open_source({{brokers}, "g", {}});
  EXPECT_TRUE(source->read_at(at("t", 0), 9, k_patience).value().has_value());
  EXPECT_FALSE(source->read_at(at("t", 0), 10, k_patience).value().has_value());  // the marker
  EXPECT_EQ(source->bounds(at("t", 0), k_patience).value().end, 11);
  join_and_assign(*source, {"t"});
  collected seen;
  ASSERT_TRUE(poll_until(*source, seen, [&] { return seen.has<notice::end_of_partition>(); }));
  EXPECT_EQ(seen.records.size(), 10U);
  EXPECT_EQ(seen.all<notice::end_of_partition>()[0].offset, 11);
}

}  // namespace
}  // namespace ratchet::testing
