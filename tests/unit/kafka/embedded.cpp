// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <thread>

#include "kafka/embedded_broker.hpp"
#include "kafka/raw_consume.hpp"
#include "ports/source_condition.hpp"
#include "support/kafka_testing.hpp"

namespace ratchet::testing {
namespace {

struct embedded_kafka : ::testing::Test {
  std::unique_ptr<embedded_broker> broker = embedded_broker::start().value();
  std::string brokers = broker->bootstrap();
  void topic(const std::string& name, int partitions) { ASSERT_TRUE(broker->create_topic(name, partitions)); }
};

TEST_F(embedded_kafka, delivers_in_order_from_the_offset_that_was_assigned) {
  topic("t", 2);
  produce(brokers, "t", 0, 0, 100);
  produce(brokers, "t", 1, 0, 50);
  auto source = open_source(config_of(brokers, "g"));
  const auto partitions = join_and_assign(*source, {"t"}, 10);
  EXPECT_EQ(partitions, (std::vector{at("t", 0), at("t", 1)}));
  collected seen;
  ASSERT_TRUE(poll_until(
      *source, seen, [&] { return seen.all<notice::end_of_partition>().size() == 2; }, 7));
  EXPECT_EQ(seen.values(at("t", 0)), numbered(10, 100));
  EXPECT_EQ(seen.values(at("t", 1)), numbered(10, 50));
  for (const auto& end : seen.all<notice::end_of_partition>()) {
    EXPECT_EQ(end.offset, end.where == at("t", 0) ? 100 : 50);
  }
}

/// librdkafka's names end at a NUL, written and read: what lies behind it is lost, and nothing else.
TEST_F(embedded_kafka, cuts_the_name_of_a_header_at_a_nul) {
  topic("t", 1);
  using namespace std::string_view_literals;
  auto made = record_producer::make(brokers);
  ASSERT_TRUE(made) << to_text(made.error());
  const std::vector<header> headers{{"a\0b"sv, "one\0two"sv}, {"c"sv, "three"sv}};
  ASSERT_TRUE((*made)->send("t", partition_id{0}, "k", "v", {}, headers));
  ASSERT_TRUE((*made)->flush(k_patience));
  kafka_source_options options;
  options.wants_headers = true;
  auto source = open_source(config_of(brokers, "g"), options);
  join_and_assign(*source, {"t"});
  std::unique_ptr<record_batch> batch;
  while (batch == nullptr) batch = source->poll(100, 100ms).value().batch;
  ASSERT_EQ(batch->records().size(), 1U);
  const record& read = batch->records().front();
  ASSERT_EQ(read.headers.size(), 2U);
  EXPECT_EQ(read.headers[0].name, "a");
  EXPECT_EQ(read.headers[0].value, "one\0two"sv);
  EXPECT_EQ(read.headers[1].name, "c");
  EXPECT_EQ(read.headers[1].value, "three"sv);
}

TEST_F(embedded_kafka, gives_an_assignment_to_the_owner_and_waits_for_the_answer) {
  topic("t", 1);
  produce(brokers, "t", 0, 0, 10);
  auto source = open_source(config_of(brokers, "g"));
  ASSERT_TRUE(source->join(std::vector<std::string>{"t"}));
  collected seen;
  ASSERT_TRUE(poll_until(*source, seen, [&] { return seen.has<notice::assigned>(); }));
  for (int i = 0; i < 10; ++i) seen.add(source->poll(100, 100ms).value());
  EXPECT_TRUE(seen.records.empty());
  EXPECT_EQ(seen.all<notice::assigned>().size(), 1U);
  ASSERT_TRUE(source->assign(std::vector<position>{{at("t", 0), 3}}));
  ASSERT_TRUE(poll_until(*source, seen, [&] { return seen.has<notice::end_of_partition>(); }));
  EXPECT_EQ(seen.values(at("t", 0)), numbered(3, 10));
}

TEST_F(embedded_kafka, keeps_a_batch_readable_after_the_source_was_closed) {
  topic("t", 1);
  produce(brokers, "t", 0, 0, 10);
  std::unique_ptr<record_batch> batch;
  {
    auto source = open_source(config_of(brokers, "g"));
    join_and_assign(*source, {"t"});
    while (batch == nullptr) batch = source->poll(100, 100ms).value().batch;
    source->close(5s);
  }
  std::thread{[batch = std::move(batch)]() mutable {
    EXPECT_EQ(batch->records().front().value, "v0");
    EXPECT_EQ(*batch->records().front().where, at("t", 0));
    batch.reset();
  }}.join();
}

TEST_F(embedded_kafka, commits_offsets_with_their_metadata) {
  topic("t", 2);
  produce(brokers, "t", 0, 0, 10);
  auto source = open_source(config_of(brokers, "g"));
  const std::vector<topic_partition> both{at("t", 0), at("t", 1)};
  const auto before = source->committed(both, k_patience).value();
  ASSERT_EQ(before.size(), 2U);
  EXPECT_FALSE(before[0].offset.has_value());
  join_and_assign(*source, {"t"});
  ASSERT_TRUE(
      source->commit_and_wait(std::vector<commit_request>{{at("t", 0), 4, "ratchet1:mark"}}, k_patience));
  ASSERT_TRUE(source->commit(std::vector<commit_request>{{at("t", 1), 7, "other"}}));
  EXPECT_FALSE(source->commit(std::vector<commit_request>{{at("t", 1), 8, ""}}));  // one at a time
  collected seen;
  ASSERT_TRUE(poll_until(*source, seen, [&] { return seen.has<notice::commit_done>(); }));
  const auto done = seen.all<notice::commit_done>().front();
  EXPECT_FALSE(done.code);
  ASSERT_EQ(done.offsets.size(), 1U);
  EXPECT_EQ(done.offsets[0].offset, 7);
  const auto after = source->committed(both, k_patience).value();
  EXPECT_EQ(after[0].offset, 4);
  EXPECT_EQ(after[0].metadata, "ratchet1:mark");
  EXPECT_EQ(after[1].offset, 7);
  EXPECT_EQ(after[1].metadata, "other");
}

/// Nothing of it lists a group's members; a real broker does.
TEST_F(embedded_kafka, says_that_it_cannot_tell_who_is_in_a_group) {
  topic("t", 1);
  auto source = open_source(config_of(brokers, "g"));
  const auto members = source->members(k_patience);
  ASSERT_FALSE(members);
  EXPECT_EQ(members.error(), source_condition::not_offered) << members.error().message();
}

TEST_F(embedded_kafka, counts_and_times_raw_consumption) {
  topic("t", 2);
  produce(brokers, "t", 0, 0, 100);
  produce(brokers, "t", 1, 0, 50);
  const auto figures = raw_consume(brokers, "t", {}, 150).value();
  EXPECT_EQ(figures.records, 150U);
  EXPECT_GT(figures.bytes, 150U * 4);
  EXPECT_GT(figures.seconds, 0);
}

}  // namespace
}  // namespace ratchet::testing
