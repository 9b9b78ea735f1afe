// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What is told to Kafka, and when: never before it is durable, never while nothing is assigned.
#include <gtest/gtest.h>

#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

const topic_partition k_first = at("t", 0);
const topic_partition k_second = at("t", 1);

TEST(consumer_session, has_start_and_incarnation_durable_before_it_claims) {
  session_world w;
  w.produce(k_first, 1, 3);
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  const std::size_t draw = w.calls.find("draw_incarnation");
  const std::size_t join = w.calls.find("join");
  const std::size_t write = w.calls.find("write 1");
  const std::size_t sync = w.calls.find("sync");
  const std::size_t claim = w.calls.find("commit_and_wait t[0]@0");
  const std::size_t assign = w.calls.find("assign t[0]@0");
  ASSERT_NE(assign, journal::npos);
  EXPECT_LT(draw, join);
  EXPECT_LT(join, write);
  EXPECT_LT(write, sync);
  EXPECT_LT(sync, claim);
  EXPECT_LT(claim, assign);
}

TEST(consumer_session, commits_nothing_that_is_only_written) {
  session_world w;
  w.store.holds_syncs = true;
  w.produce(k_first, 1, 3);
  w.source.script = {[&] { EXPECT_EQ(w.source.commits_begun(), 0U); }, [&] { w.produce(k_first, 4, 5); },
                     [&] { EXPECT_EQ(w.source.commits_begun(), 0U); }};
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(w.source.commits_begun(), 0U);
  EXPECT_EQ(w.source.logs[k_first].committed, 5) << "the last commit waits for a sync of its own";
}

TEST(consumer_session, commits_what_a_sync_covers_while_it_runs) {
  session_world w;
  w.produce(k_first, 1, 3);
  w.source.script = {[&] { EXPECT_EQ(w.source.logs[k_first].committed, 3); }};
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_GE(w.source.commits_begun(), 1U);
}

TEST(consumer_session, syncs_every_step_where_the_config_says_so) {
  session_world w;
  w.settings.state.sync = sync_mode::every_step;
  w.store.holds_syncs = true;
  w.produce(k_first, 1, 3);
  w.source.script = {[&] { EXPECT_EQ(w.store.durable_offset(k_first), 3); }};
  ASSERT_EQ(w.run().end, session_end::drained);
}

TEST(consumer_session, has_one_commit_under_way_at_a_time) {
  session_world w;
  w.source.holds_commits = true;
  w.produce(k_first, 1, 3);
  w.source.script = {[&] { w.produce(k_first, 4, 6); }, [&] { w.produce(k_first, 7, 9); }};
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(w.source.commits_begun(), 1U);
  EXPECT_EQ(w.source.logs[k_first].committed, 9);
}

TEST(consumer_session, tries_a_failed_commit_again_and_logs_one_line_of_many) {
  session_world w;
  w.source.failing_commits = 30;
  w.produce(k_first, 1, 3);
  w.source.script = {[&] { EXPECT_EQ(w.source.logs[k_first].committed, 3); }};
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(w.source.commits_begun(), 31U);
  EXPECT_EQ(w.logged("will be tried again"), 1U);
}

TEST(consumer_session, syncs_and_commits_before_it_gives_partitions_back) {
  session_world w;
  w.store.holds_syncs = true;
  w.produce(k_first, 1, 3);
  w.source.script = {[&] { w.source.say(notice::revoked{{k_first}, false}); }};
  ASSERT_EQ(w.run().end, session_end::drained);
  const std::size_t assign = w.calls.find("assign");
  const std::size_t sync = w.calls.find("sync", assign);
  const std::size_t commit = w.calls.find("commit_and_wait t[0]@3", assign);
  const std::size_t unassign = w.calls.find("unassign");
  ASSERT_NE(unassign, journal::npos);
  EXPECT_LT(sync, commit);
  EXPECT_LT(commit, unassign);
  EXPECT_FALSE(w.status.snapshot().ready);
}

TEST(consumer_session, commits_nothing_of_partitions_that_were_lost) {
  session_world w;
  w.store.holds_syncs = true;
  w.produce(k_first, 1, 3);
  w.source.script = {[&] {
                       w.source.say(notice::revoked{{k_first}, true});
                     },
                     [&] { w.store.holds_syncs = false; }, [&] {}, [&] {}};
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_NE(w.calls.find("unassign"), journal::npos);
  EXPECT_EQ(w.source.logs[k_first].committed, 0) << "the claim is the last commit";
  EXPECT_EQ(w.state_of(k_first).next_offset, 3) << "the state keeps what was handled";
  EXPECT_EQ(w.store.durable_offset(k_first), 3);
}

TEST(consumer_session, commits_nothing_while_unassigned_and_goes_on_after) {
  session_world w;
  w.produce(k_first, 1, 3);
  w.source.failing_commits = 1'000;
  w.source.script = {
      [&] {
        w.source.say(notice::revoked{{k_first}, true});
      },
      [&] { w.source.failing_commits = 0; },
      [&] { w.source.say(notice::assigned{{k_first}}); },
      [&] { w.produce(k_first, 4, 5); },
  };
  w.source.on_poll = [&](int poll) {  // the commits that fail keep the script from going on
    if (poll == 12) w.source.failing_commits = 0;
  };
  ASSERT_EQ(w.run().end, session_end::drained);
  const std::size_t unassign = w.calls.find("unassign");
  const std::size_t again = w.calls.find("assign t[0]@3", unassign);
  ASSERT_NE(again, journal::npos) << "it resumes at the stored offset";
  EXPECT_EQ(w.calls.find("commit ", unassign), w.calls.find("commit ", again));
  EXPECT_EQ(w.source.logs[k_first].committed, 5);
  EXPECT_EQ(w.counted().applied + w.counted().superseded, 5U);
  EXPECT_EQ(w.counted().duplicate, 0U);
}

TEST(consumer_session, drains_when_told_to_stop_so_that_all_that_was_taken_is_durable_and_committed) {
  session_world w;
  w.source.most_per_poll = 1;
  w.store.holds_syncs = true;
  w.produce(k_first, 1, 20);
  w.source.on_poll = [&](int poll) {
    if (poll == 9) w.stop = true;
  };
  ASSERT_EQ(w.run().end, session_end::drained);
  const auto taken = static_cast<std::int64_t>(w.source.delivered());
  EXPECT_GT(taken, 3);
  EXPECT_LT(taken, 20);
  EXPECT_EQ(w.counted().consumed, w.source.delivered());
  EXPECT_EQ(w.store.durable_offset(k_first), taken);
  EXPECT_EQ(w.source.logs[k_first].committed, taken);
  EXPECT_TRUE(w.times.first_record && w.times.all_durable);
}

TEST(consumer_session, says_so_where_the_last_commit_fails_and_still_ends_well) {
  session_world w;
  w.store.holds_syncs = true;
  w.produce(k_first, 1, 3);
  w.source.script = {[&] { w.source.failing_waits = 1; }};
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(w.logged("the last offsets were not committed"), 1U);
  EXPECT_EQ(w.store.durable_offset(k_first), 3);
}

TEST(consumer_session, starts_nothing_where_it_is_told_to_stop_before) {
  session_world w;
  w.stop = true;
  EXPECT_EQ(w.run().end, session_end::drained);
  EXPECT_FALSE(w.source.joined());
}

TEST(consumer_session, takes_records_of_several_streams_in_one_step) {
  session_world w{{payments("payments", "t"), payments("refunds", "u")}};
  w.produce(at("t", 0), 1, 2);
  w.produce(at("u", 0), 1, 3);
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.calls.count("write "), 2U) << "the start, and one step";
  EXPECT_EQ(w.counted("payments").consumed, 2U);
  EXPECT_EQ(w.counted("refunds").consumed, 3U);
  EXPECT_EQ(w.store.snapshot_of("payments", "at[0]"), "2");
  EXPECT_EQ(w.store.snapshot_of("refunds", "au[0]"), "3");
}

TEST(consumer_session, waits_for_a_sync_where_those_in_the_background_brought_nothing_for_ten_seconds) {
  session_world w;
  w.store.holds_syncs = true;  // they fail, and nobody hears of it
  w.produce(k_first, 1, 3);
  w.source.script = {
      [&] {
        w.store.syncs_until_failure = 0;
        w.clock.advance(std::chrono::seconds{9});
        w.produce(k_first, 4, 4);
      },
      [&] {
        EXPECT_EQ(w.counted().consumed, 4U) << "it goes on meanwhile";
        w.clock.advance(std::chrono::seconds{2});
        w.produce(k_first, 5, 5);
      },
  };
  EXPECT_EQ(w.run().end, session_end::store_lost);
  EXPECT_FALSE(w.stop) << "it ended by itself";
}

TEST(consumer_session, ends_as_store_lost_where_a_write_fails) {
  session_world w;
  w.produce(k_first, 1, 3);
  w.store.writes_until_failure = 1;  // the start is written, the first step is not
  const session_result ended = w.run();
  EXPECT_EQ(ended.end, session_end::store_lost);
  ASSERT_TRUE(ended.why);
  EXPECT_EQ(ended.why->code, errc::write_indeterminate);
  EXPECT_EQ(w.source.logs[k_first].committed, 0);
}

TEST(consumer_session, claims_nothing_where_the_start_cannot_be_synced) {
  session_world w;
  w.produce(k_first, 1, 3);
  w.store.syncs_until_failure = 0;
  EXPECT_EQ(w.run().end, session_end::store_lost);
  EXPECT_EQ(w.calls.count("commit"), 0U);
  EXPECT_EQ(w.calls.count("assign"), 0U);
}

TEST(consumer_session, commits_nothing_at_a_revoke_where_the_sync_fails) {
  session_world w;
  w.store.holds_syncs = true;
  w.produce(k_first, 1, 3);
  w.source.script = {[&] {
    w.store.syncs_until_failure = 0;
    w.source.say(notice::revoked{{k_first}, false});
  }};
  EXPECT_EQ(w.run().end, session_end::store_lost);
  EXPECT_EQ(w.source.logs[k_first].committed, 0);
}

TEST(consumer_session, ends_as_client_lost_where_the_client_gives_up) {
  session_world w;
  w.produce(k_first, 1, 3);
  w.source.script = {[&] { w.source.say(notice::fatal{make_error_code(errc::source_fatal), "fenced"}); }};
  const session_result ended = w.run();
  EXPECT_EQ(ended.end, session_end::client_lost);
  ASSERT_TRUE(ended.why);
  EXPECT_NE(ended.why->message.find("fenced"), std::string::npos);

  w.source.script.clear();
  w.produce(k_first, 4, 6);
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up) << "a new client goes on from the store";
  EXPECT_EQ(w.counted().consumed, 6U);
  EXPECT_EQ(w.counted().duplicate, 0U);
}

TEST(consumer_session, logs_one_line_of_the_brokers_troubles_in_ten_seconds) {
  session_world w;
  w.produce(k_first, 1, 1);
  const auto trouble = [&] {
    w.source.say(notice::trouble{make_error_code(errc::source_unavailable), "all brokers are down"});
  };
  w.source.script = {[&] {
                       for (int i = 0; i < 30; ++i) trouble();
                     },
                     [&] {
                       w.clock.advance(std::chrono::seconds{11});
                       trouble();
                     }};
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(w.logged("all brokers are down"), 2U);
  EXPECT_EQ(w.logged("(29 more like it were not shown)"), 1U);
}

TEST(consumer_session, goes_on_from_the_synced_state_after_a_power_cut) {
  session_world w;
  w.source.most_per_poll = 2;
  w.produce(k_first, 1, 10);
  w.produce(k_second, 1, 10);
  w.source.on_poll = [&](int poll) {
    if (poll == 4) w.store.holds_syncs = true;
    if (poll == 8) w.source.say(notice::fatal{make_error_code(errc::source_fatal), "gone"});
  };
  ASSERT_EQ(w.run().end, session_end::client_lost);
  const auto before = w.counted().consumed;
  w.power_cut();
  EXPECT_LT(w.counted().consumed, before) << "else the cut proved nothing";
  w.source.on_poll = nullptr;
  w.store.holds_syncs = false;
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.counted().consumed, 20U);
  EXPECT_EQ(w.counted().duplicate, 0U);
  EXPECT_EQ(w.store.snapshot_of("payments", "at[1]"), "10");
}

}  // namespace
}  // namespace ratchet::testing
