// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The object alone; what the resume rules decide with it is in session_resume.cpp and session_group.cpp.
#include "consumer/group_ownership.hpp"

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include "kafka/kafka_error.hpp"
#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

using namespace std::chrono_literals;

struct ownership : ::testing::Test {
  session_world w;
  std::vector<std::string> topics{"t"};
  bool stop{false};
  partition_set partitions;
  std::optional<pipeline> steps;
  std::optional<offset_commits> commits;
  std::optional<cluster_questions> questions;
  std::optional<group_ownership> of;

  void SetUp() override {
    w.source.produce(k_p0, event("a", 1));
    w.source.produce(k_p1, event("b", 1));
    partitions.know({k_p0, k_p1});
    begin({});
  }
  void begin(resume_wish wish) {
    ASSERT_TRUE(load_tasks(w.streams(), w.tasks(), w.store));
    steps.emplace(w.tasks(), w.store, w.clock);
    commits.emplace(offset_commits::dependencies{w.settings, w.store, w.source, w.clock, w.status, w.meter,
                                                 w.log, topics,
                                                 [](const topic_partition&) { return "payments"; }});
    questions.emplace(cluster_questions::dependencies{w.settings, w.streams(), w.store, w.source, w.clock,
                                                      topics, wish.option, [this] { return stop; },
                                                      []() -> turn_result<> { return go_on(); }});
    of.emplace(group_ownership::dependencies{w.settings, w.store, w.source, w.clock, w.status, w.log, *steps,
                                             *commits, partitions, *questions, std::move(wish), 7,
                                             [this] { return stop; }});
  }
  /// True where everything was taken.
  turn_result<bool> take_all(bool more = false) {
    RATCHET_TRY(of->sign());
    RATCHET_TRY(auto resolved, of->resolve(partitions.all(), more));
    if (!resolved) return false;
    return of->take(*resolved, partitions.all(), more);
  }
};

TEST_F(ownership, takes_a_fresh_group_durably_and_claims_it) {
  ASSERT_TRUE(of->check_before_joining());
  EXPECT_FALSE(of->has_taken());
  const auto taken = take_all();
  ASSERT_TRUE(taken);
  EXPECT_TRUE(taken.value());
  EXPECT_TRUE(of->has_taken());
  EXPECT_EQ(w.store.durable_step(), w.store.last_step()) << "before it was claimed";
  for (const topic_partition& where : partitions.all()) {
    const auto mark = parse_metadata(w.source.logs.at(where).metadata);
    ASSERT_TRUE(mark) << place(where);
    EXPECT_EQ(mark->store_uuid, k_own_uuid);
  }
}

TEST_F(ownership, is_left_for_the_next_assignment_where_the_group_moved_on) {
  w.source.failing_waits = 1;
  w.source.wait_error = kafka_error(RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION);
  const auto taken = take_all();
  ASSERT_TRUE(taken);
  EXPECT_FALSE(taken.value());
  EXPECT_FALSE(of->has_taken());
  EXPECT_EQ(w.calls.count("assign"), 1U) << "an assignment that is not answered blocks the member";
}

TEST_F(ownership, is_tried_again_where_more_partitions_were_not_claimed) {
  ASSERT_TRUE(take_all());
  w.source.failing_waits = 1;
  const auto taken = take_all(true);
  ASSERT_TRUE(taken);
  EXPECT_FALSE(taken.value());
  EXPECT_EQ(w.calls.count("assign"), 0U) << "what is read goes on";
}

TEST_F(ownership, ends_the_session_where_it_cannot_be_claimed) {
  w.source.failing_waits = 1;
  const auto taken = take_all();
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().end, session_end::client_lost);
  EXPECT_FALSE(of->has_taken());
}

TEST_F(ownership, is_not_sought_without_the_lowest_partition_before_the_claim_alone) {
  const turn_result<> refused = of->check_first_assignment({k_p1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().end, session_end::refused);
  ASSERT_TRUE(refused.error().why);
  EXPECT_EQ(refused.error().why->code, errc::group_taken);
  EXPECT_TRUE(of->check_first_assignment({k_p0}));
  ASSERT_TRUE(take_all());
  EXPECT_TRUE(of->check_first_assignment({k_p1})) << "who has claimed never leaves";
}

TEST_F(ownership, needs_all_answers_for_an_option_until_it_was_taken) {
  EXPECT_FALSE(of->needs_all_answers());
  resume_wish wish;
  wish.option = resume_option::kafka;
  begin(wish);
  EXPECT_TRUE(of->needs_all_answers());
  ASSERT_TRUE(take_all());
  EXPECT_FALSE(of->needs_all_answers());
}

TEST_F(ownership, asks_about_more_partitions_again_where_their_brokers_are_away) {
  w.source.failing_committed_queries = 1;
  const auto more = of->resolve(partitions.all(), true);
  ASSERT_TRUE(more);
  EXPECT_FALSE(more.value());
  w.source.failing_committed_queries = 1;
  const auto first = of->resolve(partitions.all(), false);
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().end, session_end::client_lost);
}

TEST_F(ownership, knows_how_long_a_killed_member_is_listed) {
  EXPECT_EQ(of->session_timeout(), 45s);
  w.settings.kafka.properties["session.timeout.ms"] = "6000";
  EXPECT_EQ(of->longest_absence(), 8s);
}

TEST_F(ownership, knows_that_the_session_of_a_pair_is_shorter) {
  w.settings.replicate = replicate_config{"log", "a", {}, "lz4", {}, {}};
  EXPECT_EQ(of->longest_absence(), 8s);
}

}  // namespace
}  // namespace ratchet::testing
