// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Partitions that stop while the rest goes on, and how a run comes to its end.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "core/transactions.hpp"
#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

/// Fails for the aggregate "bad" until it is mended.
struct fragile {
  static constexpr reducer_traits traits{
      .name = "fragile", .version = 1, .full_state = true, .has_effects = false};
  std::shared_ptr<std::atomic<bool>> mended = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<outcome> answer = std::make_shared<outcome>(stop(make_error_code(errc::internal)));

  outcome apply(const ratchet::event& e, state& s, effects&) const {
    if (e.aggregate == "bad" && !*mended) return *answer;
    s.assign(e.payload);
    return done();
  }
};

stream_config poisoned_at(std::uint32_t limit) {
  stream_config s = payments();
  s.poison = limit;
  return s;
}

TEST(session_stops, stops_a_poisoned_partition_before_the_record_that_reaches_the_limit) {
  session_world w{{poisoned_at(3)}};
  w.source.most_per_poll = 1;  // so that it is paused long before its end
  w.produce(k_p0, 1, 2);
  for (int i = 0; i < 8; ++i) w.source.produce(k_p0, "not json");
  w.produce(k_p1, 1, 5);
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up) << "a stopped partition counts as ended";
  EXPECT_EQ(w.state_of(k_p0).next_offset, 4) << "two events and two malformed ones were handled";
  EXPECT_EQ(w.source.logs[k_p0].committed, 4);
  EXPECT_EQ(w.state_of(k_p1).next_offset, 5) << "the rest goes on";
  EXPECT_EQ(w.counted().rejected_malformed, 2U);
  ASSERT_TRUE(w.stop_of(k_p0));
  EXPECT_NE(w.stop_of(k_p0)->find("at offset 4"), std::string::npos);
  EXPECT_NE(w.stop_of(k_p0)->find("poison: off"), std::string::npos) << "it says what to do";
  EXPECT_FALSE(w.stop_of(k_p1));
  EXPECT_FALSE(w.status.snapshot().ready);
  EXPECT_NE(w.calls.find("pause t[0]"), journal::npos);
}

TEST(session_stops, says_once_what_to_do_where_many_partitions_stop_for_one_cause) {
  session_world w{{poisoned_at(3)}};
  for (const topic_partition& where : {k_p0, k_p1}) {
    for (int i = 0; i < 4; ++i) w.source.produce(where, "not json");
  }
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.logged("stopped: too many records in a row are malformed"), 2U) << w.logged();
  EXPECT_EQ(w.logged("set `poison: off`"), 1U) << w.logged();
}

TEST(session_stops, stops_again_at_the_same_record_after_a_restart) {
  session_world w{{poisoned_at(3)}};
  for (int i = 0; i < 4; ++i) w.source.produce(k_p0, "not json");
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.state_of(k_p0).next_offset, 2);
  EXPECT_EQ(w.counted().consumed, 2U);
}

TEST(session_stops, stops_a_partition_before_the_event_that_its_reducer_cannot_handle) {
  const fragile reduce;
  session_world w{{payments()}, reducers{}.add("payments", reduce)};
  w.produce(k_p0, 1, 2);
  w.source.produce(k_p0, event("bad", 1));
  w.produce(k_p0, 3, 4);
  w.produce(k_p1, 1, 5);
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.state_of(k_p0).next_offset, 2);
  EXPECT_EQ(w.store.snapshot_of("payments", "bad"), "nothing");
  EXPECT_EQ(w.store.snapshot_of("payments", "at[0]"), "2") << "nothing behind the failed event";
  EXPECT_EQ(w.store.snapshot_of("payments", "at[1]"), "5");
  ASSERT_TRUE(w.stop_of(k_p0));
  EXPECT_NE(w.stop_of(k_p0)->find("`bad`"), std::string::npos);

  *reduce.mended = true;
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.counted().consumed, 10U) << "nothing was lost";
  EXPECT_EQ(w.store.snapshot_of("payments", "bad"), "1");
  EXPECT_FALSE(w.stop_of(k_p0)) << "the status of the same process forgets it";
  EXPECT_TRUE(w.live_at_stop.ready);
}

TEST(session_stops, keeps_an_event_that_fails_and_tries_it_again_in_the_next_run) {
  const fragile reduce;
  *reduce.answer = retry(make_error_code(errc::io));
  stream_config stream = payments();
  stream.retry = {
      .attempts = 8, .backoff = std::chrono::milliseconds{1}, .most = std::chrono::milliseconds{1}};
  session_world w{{stream}, reducers{}.add("payments", reduce)};
  w.source.produce(k_p0, event("bad", 1));
  w.produce(k_p0, 1, 2);
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_FALSE(w.stop_of(k_p0));
  EXPECT_EQ(w.state_of(k_p0).next_offset, 3) << "the partition never waits";
  EXPECT_EQ(w.counted().waiting(), 1U);
  EXPECT_EQ(w.store.snapshot_of("payments", "at[0]"), "2");

  *reduce.mended = true;
  w.clock.advance(std::chrono::seconds{1});
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.store.snapshot_of("payments", "bad"), "1");
  EXPECT_EQ(w.counted().waiting(), 0U);
  EXPECT_EQ(w.counted().applied + w.counted().superseded, w.counted().consumed);
}

TEST(session_stops, passes_over_what_still_comes_of_a_stopped_partition) {
  session_world w{{poisoned_at(2)}};
  w.source.honours_pause = false;
  w.source.most_per_poll = 1;
  w.produce(k_p0, 1, 1);
  for (int i = 0; i < 2; ++i) w.source.produce(k_p0, "not json");
  w.produce(k_p0, 2, 6);
  w.produce(k_p1, 1, 6);
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.state_of(k_p0).next_offset, 2);
  EXPECT_EQ(w.source.logs[k_p0].committed, 2);
  EXPECT_EQ(w.store.snapshot_of("payments", "at[0]"), "1");
  EXPECT_EQ(w.counted().consumed, 8U);
}

TEST(session_stops, does_not_move_a_stopped_partition_to_its_end) {
  session_world w{{poisoned_at(1)}};
  w.source.honours_pause = false;
  w.source.produce(k_p0, "not json");
  w.produce(k_p0, 1, 3);
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.state_of(k_p0).next_offset, 0);
}

TEST(session_stops, forgets_a_stop_when_the_partition_is_assigned_anew) {
  const fragile reduce;
  session_world w{{payments()}, reducers{}.add("payments", reduce)};
  w.source.produce(k_p0, event("bad", 1));
  w.source.script = {
      [&] {
        EXPECT_TRUE(w.stop_of(k_p0));
        *reduce.mended = true;
        w.source.say(notice::revoked{{k_p0}, false});
      },
      [&] { w.source.say(notice::assigned{{k_p0}}); },
  };
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(w.counted().applied, 1U);
  EXPECT_FALSE(w.stop_of(k_p0));
  EXPECT_TRUE(w.live_at_stop.ready);
}

TEST(session_stops, stops_a_partition_whose_log_moved_away_under_it_and_names_the_range) {
  two_partitions w;
  w.source.script = {
      [&] {
        fake_log& log = w.source.logs[k_p0];
        log.records.clear();
        log.start = 7;
        log.end = 9;
        w.source.say(notice::out_of_range{k_p0, "offset out of range"});
      },
      [&] { w.produce(k_p1, 4, 6); },
  };
  ASSERT_EQ(w.run().end, session_end::drained);
  ASSERT_TRUE(w.stop_of(k_p0));
  EXPECT_NE(w.stop_of(k_p0)->find("offsets [3, 7) were deleted"), std::string::npos) << *w.stop_of(k_p0);
  EXPECT_FALSE(w.status.snapshot().ready);
  EXPECT_EQ(w.state_of(k_p0).next_offset, 3) << "nothing is skipped in silence";
  EXPECT_EQ(w.counted().consumed, 9U);
}

TEST(session_stops, reads_a_partition_again_where_its_offset_is_in_range_after_all) {
  two_partitions w;
  w.source.script = {
      [&] {
        w.source.say(notice::out_of_range{k_p0, "offset out of range"});
      },
      [&] { w.produce(k_p0, 4, 6); },
      [&] {
        EXPECT_FALSE(w.stop_of(k_p0));
        EXPECT_EQ(w.counted().consumed, 9U);
        w.source.say(notice::out_of_range{k_p0, "offset out of range"});
      },
      [&] {
        w.source.say(notice::out_of_range{k_p0, "offset out of range"});
      },
  };
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(w.calls.count("assign t[0]@3 t[1]@3"), 1U);
  EXPECT_EQ(w.calls.count("assign t[0]@6 t[1]@3"), 1U) << "another offset, another try";
  EXPECT_TRUE(w.stop_of(k_p0)) << "but not twice at one offset";
  EXPECT_EQ(w.counted().duplicate, 0U);
}

TEST(session_stops, leaves_stopped_partitions_out_when_it_assigns_again) {
  session_world w{{poisoned_at(1)}};
  w.source.produce(k_p0, "not json");
  w.produce(k_p1, 1, 3);
  w.source.script = {[&] { w.source.say(notice::out_of_range{k_p1, "offset out of range"}); }};
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(w.calls.count("assign t[1]@3"), 1U);
  EXPECT_EQ(w.calls.count("assign t[0]"), 1U) << "the first assignment only";
}

TEST(session_end, moves_past_transaction_markers_so_that_the_lag_is_0) {
  session_world w;
  w.produce(k_p0, 1, 3);
  w.source.logs[k_p0].end = 5;  // two markers
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.state_of(k_p0).next_offset, 5);
  EXPECT_EQ(w.source.logs[k_p0].committed, 5);
  ASSERT_TRUE(w.state_of(k_p0).last_record);
  EXPECT_EQ(w.state_of(k_p0).last_record->offset, 2) << "the markers are no records";
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.logged("cannot check whether"), 0U) << "it was compared";
  EXPECT_NE(w.calls.find("assign t[0]@5"), journal::npos);
}

TEST(session_end, is_told_by_the_end_of_partition_and_not_by_counting) {
  session_world w;
  w.source.tells_ends = false;
  w.produce(k_p0, 1, 3);
  EXPECT_EQ(w.run_until_end().end, session_end::drained) << "it waited until it was told to stop";
  EXPECT_EQ(w.counted().consumed, 3U);
}

TEST(session_end, is_the_end_that_each_partition_had_at_the_start) {
  session_world w;
  w.source.most_per_poll = 1;
  w.produce(k_p0, 1, 4);
  w.source.produce(k_p1, event("b", 1));
  w.source.script = {[&] { ADD_FAILURE() << "it should have ended"; }};
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.counted().consumed, 5U);
  EXPECT_EQ(w.store.durable_offset(k_p0), 4);
  EXPECT_EQ(w.source.logs[k_p0].committed, 4);
}

TEST(session_end, comes_at_once_for_empty_partitions) {
  session_world w;
  w.source.logs[k_p0] = {};
  w.source.logs[k_p1] = {};
  w.source.script = {[&] { ADD_FAILURE() << "it should have ended"; }};
  EXPECT_EQ(w.run_until_end().end, session_end::caught_up);
}

TEST(session_floor, leaves_out_a_partition_that_had_nothing_to_read_for_ten_seconds) {
  floors w;
  w.source.produce(k_p0, event("a", 1), w.early);
  w.source.produce(k_p1, event("b", 1), w.late);
  w.source.script = {
      [&] {
        EXPECT_EQ(w.floor(), w.early - k_window) << "the partition that lags holds it back";
        w.clock.advance(std::chrono::seconds{9});
        w.source.produce(k_p1, event("b", 2), w.late + std::chrono::seconds{1});
      },
      [&] {
        EXPECT_FALSE(w.state_of(k_p1).idle);
        EXPECT_FALSE(w.state_of(k_p0).idle) << "nine seconds are not ten";
        w.clock.advance(std::chrono::seconds{2});
        w.source.produce(k_p1, event("b", 3), w.late + std::chrono::seconds{2});
      },
      [&] {
        EXPECT_TRUE(w.state_of(k_p0).idle);
        EXPECT_FALSE(w.state_of(k_p1).idle);
        EXPECT_EQ(w.floor(), w.late + std::chrono::seconds{2} - k_window);
        w.source.produce(k_p0, event("a", 2), w.early + std::chrono::seconds{1});
      },
      [&] { EXPECT_FALSE(w.state_of(k_p0).idle) << "its next record brings it back"; },
  };
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(w.floor(), w.late + std::chrono::seconds{2} - k_window) << "and the floor never falls";
}

TEST(session_floor, is_held_back_by_a_stopped_partition) {
  const fragile reduce;
  floors w{{payments()}, reducers{}.add("payments", reduce)};
  w.source.produce(k_p0, event("a", 1), w.early);
  w.source.produce(k_p1, event("b", 1), w.late);
  w.source.script = {
      [&] {
        w.source.tells_ends = false;  // it is paused at once
        w.source.produce(k_p0, event("bad", 1), w.early);
      },
      [&] {
        EXPECT_TRUE(w.stop_of(k_p0));
        w.clock.advance(std::chrono::seconds{30});
      },
      [&] { w.clock.advance(std::chrono::seconds{30}); },
  };
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_FALSE(w.state_of(k_p0).idle) << "it has more to read, however old";
  EXPECT_EQ(w.floor(), w.early - k_window);
}

TEST(session_floor, is_held_back_by_a_partition_that_is_not_at_its_end) {
  floors w;
  w.source.produce(k_p0, event("a", 1), w.early);
  w.source.produce(k_p1, event("b", 1), w.late);
  w.source.script = {
      [&] {
        w.source.tells_ends = false;  // the leader is lost in the middle of what there is
        w.source.produce(k_p0, event("a", 2), w.early);
      },
      [&] { w.clock.advance(std::chrono::seconds{30}); },
      [&] { w.clock.advance(std::chrono::seconds{30}); },
  };
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_FALSE(w.state_of(k_p0).idle);
  EXPECT_TRUE(w.state_of(k_p1).idle);
}

TEST(session_floor, is_not_held_back_by_what_nothing_reads_any_more) {
  floors w;
  const topic_partition gone = at("gone", 3);
  const topic_partition file = at("", 0);
  {
    const step_plan nothing;
    stream_change change;
    for (const topic_partition& where : {gone, file, k_transactions}) {
      change.after.partitions[where].highest_time = w.early - std::chrono::hours{24 * 30};
      change.touched.push_back(where);
    }
    change.after.partitions[gone].next_offset = 7;
    step_batch batch;
    batch.step = 1;
    batch.parts.push_back(
        {.stream = w.store.id_of("payments"), .plan = &nothing, .change = &change, .rejected = {}});
    ASSERT_TRUE(w.store.write(batch));
  }
  for (int n = 1; n <= 2; ++n) {
    w.source.produce(k_p0, event("a", n), w.late + std::chrono::seconds{n});
    ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
    EXPECT_EQ(w.floor(), w.late + std::chrono::seconds{n} - k_window);
    for (const topic_partition& where : {gone, file, k_transactions}) EXPECT_TRUE(w.state_of(where).idle);
    EXPECT_EQ(w.state_of(gone).next_offset, 7) << "there it goes on if the topic comes back";
    ASSERT_EQ(w.store.audits().size(), 1U) << "once, and of the topic alone";
    EXPECT_EQ(w.store.audits()[0].kind, "topic_left");
    EXPECT_EQ(w.store.audits()[0].text,
              "the topic `gone` is no longer read: 1 partition of it held the window back and are left out "
              "from then on; the offsets are kept");
  }
}

TEST(session_floor, is_left_alone_before_the_group_is_claimed) {
  floors w;
  {
    const step_plan nothing;
    stream_change change;
    change.after.partitions[at("gone", 0)].highest_time = w.early;
    change.touched.push_back(at("gone", 0));
    step_batch batch;
    batch.step = 1;
    batch.parts.push_back(
        {.stream = w.store.id_of("payments"), .plan = &nothing, .change = &change, .rejected = {}});
    ASSERT_TRUE(w.store.write(batch));
  }
  w.source.logs[k_p0] = {};
  w.source.logs[k_p0].committed = 5;
  w.source.logs[k_p0].metadata = session_world::mark(k_other_uuid, {1, 1});
  EXPECT_EQ(w.run().end, session_end::refused);
  EXPECT_FALSE(w.state_of(at("gone", 0)).idle) << "the config may be the wrong one";
}

}  // namespace
}  // namespace ratchet::testing
