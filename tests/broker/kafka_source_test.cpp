// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "broker/kafka_fixture.hpp"
#include "kafka/admin.hpp"
#include "kafka/kafka_error.hpp"
#include "ports/source_condition.hpp"
#include "support/each_answer.hpp"
#include "support/kafka_testing.hpp"

namespace ratchet::testing {
namespace {

struct kafka_source : ::testing::Test {
  std::string brokers = shared_brokers();
  std::string topic = fresh_name("topic");
  std::string group = fresh_name("group");

  void create(int partitions, const std::map<std::string, std::string>& config = {}) {
    const auto made = create_topic(brokers, topic, partitions, config);
    ASSERT_TRUE(made) << made.error().message();
  }
  [[nodiscard]] std::unique_ptr<source> open(const kafka_source_options& options = {}) const {
    return open_source(config_of(brokers, group), options);
  }
  [[nodiscard]] auto ends(const collected& seen, std::size_t count) const {
    return [&seen, count] { return seen.all<notice::end_of_partition>().size() >= count; };
  }
};

TEST_F(kafka_source, delivers_every_partition_in_order_from_its_own_offset) {
  create(3);
  for (int p = 0; p < 3; ++p) produce(brokers, topic, p, 0, 1000);
  auto source = open();
  ASSERT_TRUE(source->join(std::vector{topic}));
  collected seen;
  ASSERT_TRUE(poll_until(*source, seen, [&] { return seen.has<notice::assigned>(); }));
  ASSERT_TRUE(
      source->assign(std::vector<position>{{at(topic, 0), 0}, {at(topic, 1), 999}, {at(topic, 2), 1000}}));
  ASSERT_TRUE(poll_until(*source, seen, ends(seen, 3), 64));
  EXPECT_EQ(seen.values(at(topic, 0)), numbered(0, 1000));
  EXPECT_EQ(seen.values(at(topic, 1)), numbered(999, 1000));
  EXPECT_TRUE(seen.values(at(topic, 2)).empty());
  for (const auto& end : seen.all<notice::end_of_partition>()) EXPECT_EQ(end.offset, 1000);
}

TEST_F(kafka_source, tells_null_from_empty_and_keeps_times_and_headers) {
  create(1);
  auto producer = std::move(record_producer::make(brokers).value());
  // Not one of long ago: the broker's retention would take the records away.
  const timestamp time = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const std::vector<header> headers{{"kind", "paid"}, {"nothing", std::nullopt}, {"empty", ""}};
  ASSERT_TRUE(producer->send(topic, partition_id{0}, "k", std::nullopt, time));
  ASSERT_TRUE(producer->send(topic, partition_id{0}, std::nullopt, "", time, headers));
  ASSERT_TRUE(producer->flush(k_patience));
  kafka_source_options options;
  options.wants_headers = true;
  auto source = open(options);
  join_and_assign(*source, {topic});
  std::unique_ptr<record_batch> batch;
  while (batch == nullptr) batch = source->poll(10, 1s).value().batch;
  ASSERT_EQ(batch->records().size(), 2U);
  const record& tombstone = batch->records()[0];
  EXPECT_EQ(tombstone.key, "k");
  EXPECT_EQ(tombstone.value, std::nullopt);
  EXPECT_EQ(tombstone.time, time);
  EXPECT_TRUE(tombstone.headers.empty());
  const record& empty = batch->records()[1];
  EXPECT_EQ(empty.key, std::nullopt);
  EXPECT_EQ(empty.value, "");
  ASSERT_EQ(empty.headers.size(), 3U);
  EXPECT_EQ(empty.headers[0].name, "kind");
  EXPECT_EQ(empty.headers[0].value, "paid");
  EXPECT_EQ(empty.headers[1].value, std::nullopt);
  EXPECT_EQ(empty.headers[2].value, "");
}

TEST_F(kafka_source, brings_committed_offsets_back_with_their_metadata) {
  create(2);
  produce(brokers, topic, 0, 0, 10);
  auto source = open();
  const std::vector<topic_partition> both{at(topic, 0), at(topic, 1)};
  EXPECT_EQ(source->committed(both, k_patience).value()[0].offset, std::nullopt);
  join_and_assign(*source, {topic});
  const std::string longest(4096, 'm');
  ASSERT_TRUE(source->commit_and_wait(std::vector<commit_request>{{at(topic, 0), 4, longest}}, k_patience));
  ASSERT_TRUE(source->commit(std::vector<commit_request>{{at(topic, 1), 0, "ratchet1:x"}}));
  collected seen;
  ASSERT_TRUE(poll_until(*source, seen, [&] { return seen.has<notice::commit_done>(); }));
  EXPECT_FALSE(seen.all<notice::commit_done>()[0].code);
  EXPECT_EQ(seen.all<notice::commit_done>()[0].offsets[0].metadata, "ratchet1:x");
  const auto found = source->committed(both, k_patience).value();
  EXPECT_EQ(found[0].offset, 4);
  EXPECT_EQ(found[0].metadata, longest);
  EXPECT_EQ(found[1].offset, 0);
  EXPECT_EQ(found[1].metadata, "ratchet1:x");
  const std::vector<commit_request> too_long{{at(topic, 0), 5, longest + "m"}};
  EXPECT_FALSE(source->commit_and_wait(too_long, k_patience));
  EXPECT_EQ(source->committed(both, k_patience).value()[0].offset, 4);
}

TEST_F(kafka_source, refuses_the_commit_of_a_stranger_to_an_active_group) {
  create(1);
  produce(brokers, topic, 0, 0, 10);
  auto member = open();
  join_and_assign(*member, {topic});
  ASSERT_TRUE(member->commit_and_wait(std::vector<commit_request>{{at(topic, 0), 3, "mine"}}, k_patience));
  auto stranger = open();
  const auto refused =
      stranger->commit_and_wait(std::vector<commit_request>{{at(topic, 0), 9, "theirs"}}, k_patience);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error() == source_condition::not_a_member) << refused.error().message();
  const auto found = stranger->committed(std::vector{at(topic, 0)}, k_patience).value();
  EXPECT_EQ(found[0].offset, 3);
  EXPECT_EQ(found[0].metadata, "mine");
}

TEST_F(kafka_source, knows_the_cluster_its_topics_and_the_bounds_of_their_logs) {
  create(2);
  produce(brokers, topic, 1, 0, 10);
  ASSERT_TRUE(delete_records(brokers, at(topic, 1), 4));
  auto source = open();
  EXPECT_FALSE(source->cluster_id(k_patience).value().empty());
  EXPECT_EQ(source->partitions(std::vector{topic}, k_patience).value(),
            (std::vector{at(topic, 0), at(topic, 1)}));
  const auto bounds = testing::bounds_of(*source, at(topic, 1), k_patience).value();
  EXPECT_EQ(bounds.start, 4);
  EXPECT_EQ(bounds.end, 10);
  EXPECT_EQ(source->partitions(std::vector{fresh_name("none")}, k_patience).error(), errc::topic_missing);
  EXPECT_EQ(testing::bounds_of(*source, at(fresh_name("none"), 0), k_patience).error(), errc::topic_missing);
}

TEST_F(kafka_source, reads_one_record_and_finds_none_outside_the_log) {
  create(1);
  produce(brokers, topic, 0, 0, 10);
  ASSERT_TRUE(delete_records(brokers, at(topic, 0), 4));
  auto source = open();
  const auto read = [&](std::int64_t offset) {
    return testing::record_at(*source, at(topic, 0), offset, k_patience).value();
  };
  ASSERT_TRUE(read(9).has_value());
  EXPECT_EQ(read(9)->value, "v9");
  EXPECT_EQ(read(9)->key, "k9");
  EXPECT_EQ(read(4)->value, "v4");
  EXPECT_FALSE(read(3).has_value());
  EXPECT_FALSE(read(10).has_value());
  EXPECT_FALSE(read(11).has_value());
  EXPECT_FALSE(read(-1).has_value());
  // It leaves the group alone.
  EXPECT_EQ(join_and_assign(*source, {topic}, 4).size(), 1U);
}

TEST_F(kafka_source, finds_no_record_where_compaction_took_it) {
  create(1, {{"cleanup.policy", "compact"},
             {"segment.ms", "100"},
             {"min.cleanable.dirty.ratio", "0.001"},
             {"max.compaction.lag.ms", "100"}});
  auto producer = std::move(record_producer::make(brokers).value());
  const auto send = [&](const char* key, const char* value) {
    ASSERT_TRUE(producer->send(topic, partition_id{0}, key, value));
    ASSERT_TRUE(producer->flush(k_patience));
  };
  send("a", "old");
  send("a", "new");
  auto source = open();
  const auto deadline = std::chrono::steady_clock::now() + k_patience;
  std::optional<owned_record> first;
  do {  // every send rolls a segment; the cleaner never touches the last one
    send("b", "filler");
    std::this_thread::sleep_for(200ms);
    first = testing::record_at(*source, at(topic, 0), 0, k_patience).value();
  } while (first && std::chrono::steady_clock::now() < deadline);
  EXPECT_FALSE(first.has_value());
  const auto kept = testing::record_at(*source, at(topic, 0), 1, k_patience).value();
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(kept->value, "new");
}

TEST_F(kafka_source, names_a_partition_whose_offset_is_gone_and_goes_on_with_the_rest) {
  create(3);
  for (int p = 0; p < 3; ++p) produce(brokers, topic, p, 0, 10);
  ASSERT_TRUE(delete_records(brokers, at(topic, 0), 5));
  auto source = open();
  ASSERT_TRUE(source->join(std::vector{topic}));
  collected seen;
  ASSERT_TRUE(poll_until(*source, seen, [&] { return seen.has<notice::assigned>(); }));
  ASSERT_TRUE(
      source->assign(std::vector<position>{{at(topic, 0), 2}, {at(topic, 1), 11}, {at(topic, 2), 0}}));
  ASSERT_TRUE(poll_until(*source, seen, [&] {
    return seen.all<notice::out_of_range>().size() == 2 && seen.has<notice::end_of_partition>();
  }));
  std::vector<topic_partition> named;
  for (const auto& gone : seen.all<notice::out_of_range>()) named.push_back(gone.where);
  std::sort(named.begin(), named.end());
  EXPECT_EQ(named, (std::vector{at(topic, 0), at(topic, 1)}));
  EXPECT_EQ(seen.records.size(), 10U);
  // Assigned again it lives.
  ASSERT_TRUE(source->assign(std::vector<position>{{at(topic, 0), 5}, {at(topic, 2), 10}}));
  ASSERT_TRUE(poll_until(*source, seen, [&] { return seen.values(at(topic, 0)).size() == 5; }));
  EXPECT_EQ(seen.values(at(topic, 0)), numbered(5, 10));
}

TEST_F(kafka_source, reads_only_what_it_was_told_of_an_assignment_and_stays_a_member) {
  create(2);
  for (int p = 0; p < 2; ++p) produce(brokers, topic, p, 0, 100);
  auto source = open();
  join_and_assign(*source, {topic});
  ASSERT_TRUE(source->assign(std::vector<position>{{at(topic, 1), 50}}));
  collected seen;
  ASSERT_TRUE(poll_until(*source, seen, ends(seen, 1)));
  ASSERT_TRUE(source->assign({}));
  for (int i = 0; i < 10; ++i) seen.add(source->poll(100, 100ms).value());
  EXPECT_TRUE(seen.values(at(topic, 0)).empty());
  EXPECT_EQ(seen.values(at(topic, 1)), numbered(50, 100));
  EXPECT_FALSE(seen.has<notice::revoked>());
  EXPECT_TRUE(source->commit_and_wait(std::vector<commit_request>{{at(topic, 0), 1, ""}}, k_patience));
  // From an earlier offset again: the whole rest, once.
  ASSERT_TRUE(source->assign(std::vector<position>{{at(topic, 0), 10}, {at(topic, 1), 90}}));
  collected again;
  ASSERT_TRUE(poll_until(*source, again, ends(again, 2)));
  EXPECT_EQ(again.values(at(topic, 0)), numbered(10, 100));
  EXPECT_EQ(again.values(at(topic, 1)), numbered(90, 100));
}

TEST_F(kafka_source, pauses_and_resumes_without_gap_or_repeat) {
  create(2);
  for (int p = 0; p < 2; ++p) produce(brokers, topic, p, 0, 2000);
  auto source = open();
  join_and_assign(*source, {topic});
  collected seen;
  const std::vector held{at(topic, 0)};
  ASSERT_TRUE(poll_until(
      *source, seen, [&] { return seen.values(at(topic, 0)).size() > 100; }, 50));
  ASSERT_TRUE(source->pause(held));
  ASSERT_TRUE(source->pause(held));  // once is enough
  const std::size_t before = seen.values(at(topic, 0)).size();
  ASSERT_TRUE(poll_until(
      *source, seen, [&] { return seen.values(at(topic, 1)).size() == 2000; }, 50));
  for (int i = 0; i < 5; ++i) seen.add(source->poll(100, 100ms).value());
  EXPECT_EQ(seen.values(at(topic, 0)).size(), before);
  ASSERT_TRUE(source->resume(std::vector{at(topic, 0), at(topic, 1)}));
  ASSERT_TRUE(poll_until(
      *source, seen, [&] { return seen.values(at(topic, 0)).size() >= 2000; }, 50));
  EXPECT_EQ(seen.values(at(topic, 0)), numbered(0, 2000));
  EXPECT_EQ(seen.values(at(topic, 1)), numbered(0, 2000));
  // A pause does not outlive its assignment.
  ASSERT_TRUE(source->pause(held));
  ASSERT_TRUE(source->assign(std::vector<position>{{at(topic, 0), 1990}}));
  collected again;
  ASSERT_TRUE(poll_until(*source, again, [&] { return again.records.size() == 10; }));
}

/// Versions of librdkafka that take the end of a partition for a record pass over the next one.
TEST_F(kafka_source, gives_out_what_comes_behind_an_end_while_it_is_paused) {
  create(1);
  auto source = open();
  join_and_assign(*source, {topic});
  collected seen;
  const std::vector held{at(topic, 0)};
  int sent = 0;
  for (int round = 0; round < 3; ++round) {
    produce(brokers, topic, 0, sent, sent + 10);
    sent += 10;
    std::this_thread::sleep_for(700ms);  // until records and their end are at hand together
    ASSERT_TRUE(poll_until(
        *source, seen, [&] { return seen.values(at(topic, 0)).size() == static_cast<std::size_t>(sent); }));
    for (int i = 0; i < 3; ++i) seen.add(source->poll(1000, 50ms).value());
    ASSERT_TRUE(source->pause(held));
    produce(brokers, topic, 0, sent, sent + 1);
    ++sent;
    ASSERT_TRUE(source->resume(held));
    ASSERT_TRUE(poll_until(
        *source, seen, [&] { return seen.values(at(topic, 0)).size() == static_cast<std::size_t>(sent); }))
        << "round " << round;
  }
  EXPECT_EQ(seen.values(at(topic, 0)), numbered(0, sent));
}

TEST_F(kafka_source, returns_from_a_long_wait_when_woken) {
  create(1);
  auto source = open();
  join_and_assign(*source, {topic});
  collected seen;
  ASSERT_TRUE(poll_until(*source, seen, ends(seen, 1)));
  std::thread waker{[&] {
    std::this_thread::sleep_for(200ms);
    source->wake();
  }};
  const auto got = source->poll(10, 24h);  // the test's own time-out would end this
  waker.join();
  ASSERT_TRUE(got);
  EXPECT_EQ(got.value().batch, nullptr);
}

TEST_F(kafka_source, tells_of_a_topic_that_is_not_there) {
  auto source = open();
  ASSERT_TRUE(source->join(std::vector{topic}));
  collected seen;
  ASSERT_TRUE(poll_until(*source, seen, [&] { return seen.has<notice::topic_gone>(); }));
  EXPECT_EQ(seen.all<notice::topic_gone>()[0].where.topic, topic);
}

TEST_F(kafka_source, closes_in_time_after_its_topic_was_made_anew) {
  create(1);
  produce(brokers, topic, 0, 0, 100);
  auto source = open();
  join_and_assign(*source, {topic});
  collected seen;
  ASSERT_TRUE(poll_until(*source, seen, ends(seen, 1)));
  ASSERT_TRUE(delete_topic(brokers, topic));
  create(1);
  for (int i = 0; i < 10; ++i) seen.add(source->poll(100, 100ms).value());
  source->close(2s);
  EXPECT_EQ(source->poll(1, 1ms).error(), errc::source_fatal);
}

}  // namespace
}  // namespace ratchet::testing
