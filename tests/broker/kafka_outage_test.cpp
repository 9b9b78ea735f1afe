// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <fstream>

#include "broker/kafka_fixture.hpp"
#include "kafka/admin.hpp"
#include "support/each_answer.hpp"
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
  EXPECT_EQ(testing::bounds_of(*source, at("t", 0), 300ms).error(), errc::source_unavailable);
  EXPECT_EQ(source->committed(std::vector{at("t", 0)}, 300ms).error(), errc::source_unavailable);
  EXPECT_EQ(source->partitions(std::vector<std::string>{"t"}, 300ms).error(), errc::source_unavailable);
  EXPECT_EQ(testing::record_at(*source, at("t", 0), 9, 300ms).error(), errc::source_unavailable);
  EXPECT_EQ(source->commit_and_wait(request, 300ms).error(), errc::source_unavailable);
  EXPECT_TRUE(source->poll(10, 300ms));
  source->close(300ms);
  EXPECT_EQ(source->poll(10, 1ms).error(), errc::source_fatal);
  broker.resume();
}

/// Writes over one byte of a batch (KIP-98: base offset 8 bytes, length 4, leader epoch 4, magic 1, checksum
/// 4).
void damage_batch(const std::string& segment, int batch, std::streamoff at, char byte) {
  std::fstream file{segment, std::ios::binary | std::ios::in | std::ios::out};
  std::streamoff begins = 0;
  for (int i = 0; i < batch; ++i) {
    std::array<char, 12> head{};
    file.seekg(begins);
    file.read(head.data(), head.size());
    std::uint32_t length = 0;
    for (std::size_t k = 8; k < head.size(); ++k)
      length = length << 8U | static_cast<unsigned char>(head.at(k));
    begins += static_cast<std::streamoff>(head.size()) + length;
  }
  file.seekp(begins + at);
  file.write(&byte, 1);
  ASSERT_TRUE(file.flush()) << segment;
}

TEST(kafka_outage, gives_out_nothing_behind_a_batch_that_it_cannot_read) {
  constexpr std::streamoff k_magic = 16;
  constexpr std::streamoff k_checksum = 17;
  local_broker broker;
  const std::string brokers = broker.bootstrap();
  const auto damage = [&](const std::string& topic, std::streamoff at, char byte) {
    ASSERT_TRUE(create_topic(brokers, topic, 1));
    for (int i = 0; i < 4; ++i) produce(brokers, topic, 0, i, i + 1);
    damage_batch(broker.dir() + "/data/" + topic + "-0/00000000000000000000.log", 2, at, byte);
  };
  // librdkafka goes on behind the first one by itself, and fetches the second one again and again.
  damage("magic", k_magic, 3);
  damage("checksum", k_checksum, 'x');
  for (const std::string topic : {"magic", "checksum"}) {
    SCOPED_TRACE(topic);
    auto source = open_source({{brokers}, "g-" + topic, {}});
    join_and_assign(*source, {topic});
    const auto read_from = [&](std::int64_t offset) {
      EXPECT_TRUE(source->assign(std::vector<position>{{at(topic, 0), offset}}));
      collected seen;
      EXPECT_TRUE(poll_until(*source, seen, [&] { return seen.has<notice::unreadable>(); }));
      for (int i = 0; i < 20; ++i) seen.add(source->poll(500, 50ms).value());
      EXPECT_EQ(seen.all<notice::unreadable>().size(), 1U) << "it is told once, until it is read again";
      return seen.values(at(topic, 0));
    };
    EXPECT_EQ(read_from(0), numbered(0, 2));
    EXPECT_EQ(read_from(2), numbered(0, 0));
    EXPECT_TRUE(source->assign(std::vector<position>{{at(topic, 0), 3}}));
    collected behind;
    EXPECT_TRUE(poll_until(*source, behind, [&] { return !behind.records.empty(); }));
    EXPECT_EQ(behind.values(at(topic, 0)), numbered(3, 4));
  }
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
  EXPECT_TRUE(testing::record_at(*source, at("t", 0), 9, k_patience).value().has_value());
  EXPECT_FALSE(testing::record_at(*source, at("t", 0), 10, k_patience).value().has_value());  // the marker
  EXPECT_EQ(testing::bounds_of(*source, at("t", 0), k_patience).value().end, 11);
  join_and_assign(*source, {"t"});
  collected seen;
  ASSERT_TRUE(poll_until(*source, seen, [&] { return seen.has<notice::end_of_partition>(); }));
  EXPECT_EQ(seen.records.size(), 10U);
  EXPECT_EQ(seen.all<notice::end_of_partition>()[0].offset, 11);
}

}  // namespace
}  // namespace ratchet::testing
