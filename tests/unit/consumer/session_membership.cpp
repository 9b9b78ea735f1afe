// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Which of several instances stays in the group, and what becomes of one that is not given partitions.
#include <gtest/gtest.h>

#include "kafka/kafka_error.hpp"
#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

TEST(session_membership, leaves_where_a_second_fresh_instance_holds_the_lowest_partition) {
  two_partitions w;
  w.source.held_at_join = {k_p1};
  const session_result ended = w.run();
  ASSERT_EQ(ended.end, session_end::refused);
  EXPECT_EQ(ended.why->code, errc::group_taken);
  EXPECT_NE(ended.why->message.find("t/0"), std::string::npos);
  EXPECT_EQ(w.calls.count("commit"), 0U) << "it leaves without a claim";
}

TEST(session_membership, leaves_where_it_is_one_too_many) {
  session_world w;
  w.produce(k_p0, 1, 3);
  w.source.held_at_join = std::vector<topic_partition>{};
  EXPECT_EQ(w.run().end, session_end::refused);
}

TEST(session_membership, stays_where_it_holds_the_lowest_partition_and_is_not_ready) {
  two_partitions w;
  w.source.held_at_join = {k_p0};
  w.source.tick = std::chrono::seconds{10};
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_NE(w.calls.find("commit_and_wait t[0]@0"), journal::npos);
  EXPECT_EQ(w.counted().consumed, 3U);
  EXPECT_FALSE(w.status.snapshot().ready);
  EXPECT_NE(w.live_at_stop.ready_reason.find("1 of 2"), std::string::npos);
}

TEST(session_membership, waits_for_what_the_group_still_keeps_for_a_killed_member) {
  two_partitions w;
  w.source.held_at_join = {k_p0};
  w.source.script = {[&] {
    w.source.say(notice::revoked{{k_p0}, false});
    w.source.say(notice::assigned{{k_p0, k_p1}});
  }};
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.counted().consumed, 6U) << "the end of what it was given first is not the end";
}

TEST(session_membership, does_not_decide_to_stay_where_the_claims_cannot_be_read) {
  two_partitions w;
  w.source.held_at_join = {k_p1};
  w.source.on_poll = [&](int poll) {
    if (poll == 1) w.source.failing_committed_queries = 1;
  };
  EXPECT_EQ(w.run().end, session_end::client_lost);
  EXPECT_EQ(w.calls.count("commit"), 0U);
}

TEST(session_membership, goes_on_with_a_part_after_a_claim) {
  two_partitions w;
  w.source.script = {
      [&] {
        w.source.say(notice::revoked{{k_p0, k_p1}, false});
      },
      [&] { w.source.say(notice::assigned{{k_p1}}); },
      [&] { w.produce(k_p1, 4, 5); },
      [&] { EXPECT_FALSE(w.status.snapshot().ready); },
  };
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(w.counted().consumed, 8U);
  EXPECT_EQ(w.source.logs[k_p1].committed, 5);
}

TEST(session_membership, never_leaves_by_itself_once_it_has_claimed) {
  two_partitions w;
  w.source.script = {
      [&] {
        w.source.say(notice::revoked{{k_p0, k_p1}, false});
      },
      [&] {
        w.source.logs[k_p1].committed = 3;
        w.source.logs[k_p1].metadata = session_world::mark(k_other_uuid, {1, 1});
        w.source.say(notice::assigned{{k_p0, k_p1}});
      },
      [&] { w.produce(k_p0, 4, 5); },
  };
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(w.counted().consumed, 8U) << "it works on what it may read";
  const auto why = w.stop_of(k_p1);
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("held by another state directory"), std::string::npos);
  EXPECT_FALSE(w.status.snapshot().ready);
  EXPECT_EQ(w.source.logs[k_p1].metadata, session_world::mark(k_other_uuid, {1, 1})) << "not claimed back";
}

TEST(session_membership, reads_nothing_where_its_claim_fails) {
  session_world w;
  w.produce(k_p0, 1, 3);
  w.source.failing_waits = 1;
  EXPECT_EQ(w.run().end, session_end::client_lost);
  EXPECT_EQ(w.calls.count("assign"), 0U);
  EXPECT_EQ(w.counted().consumed, 0U);
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up) << "a new client claims again";
  EXPECT_EQ(w.counted().consumed, 3U);
}

TEST(session_membership, makes_a_new_client_where_it_is_never_assigned_again) {
  session_world w;
  w.produce(k_p0, 1, 3);
  w.source.script = {[&] {
                       w.source.say(notice::revoked{{k_p0}, true});
                     },
                     [&] { w.source.tick = std::chrono::seconds{30}; }, [&] {}, [&] {}};
  EXPECT_EQ(w.run().end, session_end::client_lost);
}

TEST(session_membership, says_what_a_user_may_not_read) {
  session_world w;
  w.produce(k_p0, 1, 3);
  w.source.failing_committed_queries = 1;
  constexpr int k_group_authorization_failed = 30;
  w.source.query_error = kafka_error(k_group_authorization_failed);
  const session_result ended = w.run();
  ASSERT_EQ(ended.end, session_end::refused) << "trying again would not help";
  EXPECT_EQ(ended.why->code, make_error_code(errc::access_denied));
  EXPECT_NE(ended.why->message.find("the consumer group `group-1`"), std::string::npos) << ended.why->message;
  EXPECT_NE(ended.why->hint.find("ACL"), std::string::npos);
}

}  // namespace
}  // namespace ratchet::testing
