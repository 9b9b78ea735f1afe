// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>

#include "broker/kafka_fixture.hpp"
#include "kafka/admin.hpp"
#include "support/kafka_testing.hpp"

namespace ratchet::testing {
namespace {

/// A member that does what an owner does between steps: commits and gives back at a revoke, resumes from what
/// is committed at an assignment.
struct member {
  std::unique_ptr<source> from;
  collected seen;
  std::map<topic_partition, std::int64_t> next;
  std::size_t lost{0};

  void commit_all() {
    std::vector<commit_request> requests;
    for (const auto& [where, offset] : next) requests.push_back({where, offset, "m"});
    if (requests.empty()) return;
    ASSERT_TRUE(from->commit_and_wait(requests, k_patience));
  }
  void turn() {
    auto got = from->poll(20, 50ms);
    ASSERT_TRUE(got) << got.error().message();
    seen.add(got.value());
    if (got.value().batch != nullptr) {
      for (const record& r : got.value().batch->records()) {
        ASSERT_TRUE(next.contains(*r.where));
        ASSERT_EQ(next[*r.where], r.offset);  // no gap, no repeat
        next[*r.where] = r.offset + 1;
      }
    }
    for (const auto& n : got.value().notices) {
      if (const auto* revoked = std::get_if<notice::revoked>(&n)) {
        if (revoked->lost) ++lost;
        commit_all();
        next.clear();
        ASSERT_TRUE(from->unassign());
      } else if (const auto* assigned = std::get_if<notice::assigned>(&n)) {
        start(assigned->partitions);
      }
    }
  }
  void start(const std::vector<topic_partition>& partitions) {
    const auto committed = from->committed(partitions, k_patience);
    ASSERT_TRUE(committed) << committed.error().message();
    std::vector<position> positions;
    for (const auto& c : committed.value()) {
      positions.push_back({c.where, c.offset.value_or(0)});
      next[c.where] = c.offset.value_or(0);
    }
    ASSERT_TRUE(from->assign(positions));
  }
};

TEST(kafka_rebalance, hands_partitions_over_so_that_each_record_is_seen_once) {
  const std::string brokers = shared_brokers();
  const std::string topic = fresh_name("topic");
  const std::string group = fresh_name("group");
  constexpr int k_partitions = 4;
  constexpr int k_records = 2000;
  ASSERT_TRUE(create_topic(brokers, topic, k_partitions));
  for (int p = 0; p < k_partitions; ++p) produce(brokers, topic, p, 0, k_records);
  std::vector<member> members(2);
  const auto total = [&] { return members[0].seen.records.size() + members[1].seen.records.size(); };
  const auto deadline = std::chrono::steady_clock::now() + k_patience;
  const auto late = [&] { return std::chrono::steady_clock::now() > deadline; };

  members[0].from = open_source(config_of(brokers, group));
  ASSERT_TRUE(members[0].from->join(std::vector{topic}));
  while (total() < 500 && !late()) members[0].turn();
  EXPECT_EQ(members[0].next.size(), 4U);

  members[1].from = open_source(config_of(brokers, group));
  ASSERT_TRUE(members[1].from->join(std::vector{topic}));
  while (!members[1].seen.has<notice::assigned>() && !late()) {
    for (auto& m : members) m.turn();
  }
  while ((members[0].next.size() != 2 || members[1].next.size() != 2) && !late()) {
    for (auto& m : members) m.turn();
  }
  EXPECT_EQ(members[0].next.size(), 2U);
  EXPECT_EQ(members[1].next.size(), 2U);
  EXPECT_EQ(members[0].lost, 0U);

  // One leaves in the middle; the other takes everything over.
  members[1].commit_all();
  members[1].from->close(10s);
  while (total() < k_partitions * k_records && !late()) members[0].turn();
  EXPECT_EQ(members[0].next.size(), 4U);
  std::map<std::pair<topic_partition, std::int64_t>, int> times;
  for (const auto& m : members) {
    for (const auto& r : m.seen.records) ++times[{r.where, r.offset}];
  }
  EXPECT_EQ(times.size(), static_cast<std::size_t>(k_partitions * k_records));
  for (const auto& [what, count] : times) EXPECT_EQ(count, 1) << what.first.topic << " " << what.second;
}

TEST(kafka_rebalance, waits_for_the_answer_to_a_revoke_and_refuses_an_assign_in_its_stead) {
  const std::string brokers = shared_brokers();
  const std::string topic = fresh_name("topic");
  const std::string group = fresh_name("group");
  ASSERT_TRUE(create_topic(brokers, topic, 2));
  auto first = open_source(config_of(brokers, group));
  join_and_assign(*first, {topic});
  auto second = open_source(config_of(brokers, group));
  ASSERT_TRUE(second->join(std::vector{topic}));
  collected seen_first;
  collected seen_second;
  ASSERT_TRUE(poll_until(*first, seen_first, [&] {
    seen_second.add(second->poll(1, 10ms).value());
    return seen_first.has<notice::revoked>();
  }));
  EXPECT_EQ(seen_first.all<notice::revoked>()[0].partitions.size(), 2U);
  EXPECT_FALSE(seen_first.all<notice::revoked>()[0].lost);
  EXPECT_FALSE(first->assign(std::vector<position>{{at(topic, 0), 0}}));
  EXPECT_FALSE(seen_second.has<notice::assigned>());
  ASSERT_TRUE(first->unassign());
  ASSERT_TRUE(poll_until(*first, seen_first, [&] {
    seen_second.add(second->poll(1, 10ms).value());
    return seen_first.has<notice::assigned>() && seen_second.has<notice::assigned>();
  }));
  EXPECT_EQ(seen_first.all<notice::assigned>().back().partitions.size(), 1U);
  EXPECT_EQ(seen_second.all<notice::assigned>().back().partitions.size(), 1U);
}

TEST(kafka_rebalance, closes_in_time_with_a_notice_that_was_never_answered) {
  const std::string brokers = shared_brokers();
  const std::string topic = fresh_name("topic");
  const std::string group = fresh_name("group");
  ASSERT_TRUE(create_topic(brokers, topic, 2));
  auto first = open_source(config_of(brokers, group));
  ASSERT_TRUE(first->join(std::vector{topic}));
  collected seen;
  ASSERT_TRUE(poll_until(*first, seen, [&] { return seen.has<notice::assigned>(); }));
  first->close(10s);
  // It has left: the next one gets everything at once, not after a session time-out.
  auto second = open_source({{brokers}, group, {{"session.timeout.ms", "300000"}}});
  EXPECT_EQ(join_and_assign(*second, {topic}).size(), 2U);
}

TEST(kafka_rebalance, closes_in_time_with_a_revoke_that_was_never_answered) {
  const std::string brokers = shared_brokers();
  const std::string topic = fresh_name("topic");
  const std::string group = fresh_name("group");
  ASSERT_TRUE(create_topic(brokers, topic, 2));
  const kafka_config patient{
      {brokers}, group, {{"session.timeout.ms", "300000"}, {"heartbeat.interval.ms", "300"}}};
  auto first = open_source(patient);
  join_and_assign(*first, {topic});
  auto second = open_source(patient);
  ASSERT_TRUE(second->join(std::vector{topic}));
  collected seen_first;
  collected seen_second;
  ASSERT_TRUE(poll_until(*first, seen_first, [&] {
    seen_second.add(second->poll(1, 10ms).value());
    return seen_first.has<notice::revoked>();
  }));
  first->close(10s);
  ASSERT_TRUE(poll_until(*second, seen_second, [&] { return seen_second.has<notice::assigned>(); }));
  EXPECT_EQ(seen_second.all<notice::assigned>().back().partitions.size(), 2U);
}

}  // namespace
}  // namespace ratchet::testing
