// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// An event that is seen for the first time is not late merely because another partition was read before it,
// as long as its own was not read to its end: the window's floor waits for partitions that have unread
// records.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <utility>

#include "reports/status_rows.hpp"
#include "support/session_world.hpp"
#include "text/partition_name.hpp"

namespace ratchet::testing {
namespace {

using std::chrono::seconds;

/// t/0 was read to its end, and left out of the floor.
class unread_records : public ::testing::Test {
 protected:
  static stream_config that_stops() {
    stream_config s = payments();
    s.poison = 1;
    return s;
  }
  unread_records() : w_{{that_stops()}} {
    w_.source.produce(k_p0, event("a", 1), w_.early);
    w_.source.produce(k_p1, event("b", 1), w_.late);
    then([this] {
      w_.clock.advance(seconds{11});
      w_.source.produce(k_p1, event("b", 2), w_.late);
    });
    then([this] {
      ASSERT_TRUE(w_.state_of(k_p0).idle);
      ASSERT_EQ(w_.floor(), w_.late - k_window);
    });
  }

  void then(std::function<void()> what) { w_.source.script.push_back(std::move(what)); }
  void run() {
    w_.stop = false;
    ASSERT_EQ(w_.run().end, session_end::drained);
  }
  /// Both get a record, and only that of t/1 comes for now.
  void produce_to_both() {
    w_.source.slow = {k_p0};
    w_.source.produce(k_p0, event("a", 2), w_.early + seconds{1});
    w_.source.produce(k_p1, event("b", 3), w_.clock.now());
  }
  void expect_the_floor_to_wait() {
    EXPECT_EQ(w_.state_of(k_p1).next_offset, 3) << "that one is read";
    EXPECT_FALSE(w_.state_of(k_p0).idle);
    EXPECT_EQ(w_.floor(), w_.late - k_window);
    w_.source.slow.clear();
  }

  floors w_;
};

TEST_F(unread_records, that_came_while_it_was_down_hold_the_floor_back) {
  run();
  produce_to_both();
  then([this] { expect_the_floor_to_wait(); });
  run();
  EXPECT_EQ(w_.state_of(k_p0).next_offset, 2);
}

TEST_F(unread_records, that_are_none_leave_the_partition_out_over_a_restart) {
  run();
  w_.source.produce(k_p1, event("b", 3), w_.clock.now());
  const timestamp now = w_.clock.now();
  w_.stop = false;
  ASSERT_EQ(w_.run_until_end().end, session_end::caught_up);
  EXPECT_TRUE(w_.state_of(k_p0).idle);
  EXPECT_EQ(w_.floor(), now - k_window);
}

TEST_F(unread_records, of_a_partition_whose_brokers_are_away_may_come) {
  then([this] {
    w_.source.unanswered[k_p0] = make_error_code(errc::source_unavailable);
    w_.source.say(notice::topic_gone{k_p0, "unknown partition"});
  });
  then([this] { produce_to_both(); });
  then([this] {
    expect_the_floor_to_wait();
    w_.source.unanswered.clear();
  });
  for (int i = 0; i < 6; ++i) then([] {});
  run();
  EXPECT_EQ(w_.state_of(k_p0).next_offset, 2);
}

TEST_F(unread_records, of_a_partition_that_is_away_from_the_start_may_come) {
  run();
  w_.source.unanswered[k_p0] = make_error_code(errc::source_unavailable);
  produce_to_both();
  then([this] { expect_the_floor_to_wait(); });
  run();
}

TEST_F(unread_records, behind_a_stop_hold_the_floor_back) {
  then([this] { w_.source.produce(k_p0, "not json", w_.early); });
  then([this] {
    ASSERT_TRUE(w_.stop_of(k_p0));
    produce_to_both();
  });
  then([this] { expect_the_floor_to_wait(); });
  run();
}

TEST_F(unread_records, behind_a_pause_hold_the_floor_back) {
  then([this] { w_.disk.free = 0; });
  then([this] { w_.clock.advance(seconds{2}); });
  then([this] {
    ASSERT_TRUE(w_.source.is_paused(k_p0));
    produce_to_both();
    w_.disk = {};
    w_.clock.advance(seconds{2});
  });
  then([this] { expect_the_floor_to_wait(); });
  run();
  EXPECT_EQ(w_.state_of(k_p0).next_offset, 2);
}

TEST_F(unread_records, that_are_none_leave_the_partition_out_soon_behind_a_pause) {
  then([this] { w_.disk.free = 0; });
  then([this] { w_.clock.advance(seconds{2}); });
  then([this] {
    w_.disk = {};
    w_.clock.advance(seconds{2});
  });
  then([this] { w_.clock.advance(seconds{1}); });
  then([this] { EXPECT_TRUE(w_.state_of(k_p0).idle) << "it had nothing all the time"; });
  run();
}

TEST_F(unread_records, hold_the_floor_back_while_others_hold_the_partition) {
  then([this] { w_.source.say(notice::revoked{{k_p0, k_p1}, false}); });
  then([this] { w_.source.say(notice::assigned{{k_p1}}); });
  then([this] { w_.source.produce(k_p1, event("b", 3), w_.clock.now()); });
  then([this] { expect_the_floor_to_wait(); });
  run();
}

TEST(unknown_partitions, hold_the_floor_back_until_they_are_read) {
  for (const bool of_others : {false, true}) {
    floors w;
    w.source.produce(k_p0, event("a", 1), w.late);
    w.source.produce(k_p1, event("b", 1), w.early);
    if (of_others) {
      w.source.held_at_join = {k_p0};
    } else {
      w.source.unanswered[k_p1] = make_error_code(errc::source_unavailable);
    }
    w.source.script = {
        [&] { w.clock.advance(seconds{20}); },
        [&] {
          EXPECT_EQ(w.state_of(k_p0).next_offset, 1);
          EXPECT_FALSE(w.state_of(k_p1).has_position()) << "nobody knows where it begins";
          EXPECT_FALSE(w.floor());
          w.source.unanswered.clear();
          if (of_others) w.source.say(notice::revoked{{k_p0}, false});
        },
        [&] {
          if (of_others) w.source.say(notice::assigned{{k_p0, k_p1}});
        },
    };
    for (int i = 0; i < 6; ++i) w.source.script.emplace_back([] {});
    ASSERT_EQ(w.run().end, session_end::drained);
    EXPECT_EQ(w.state_of(k_p1).next_offset, 1);
    EXPECT_EQ(w.counted().consumed, 2U);
  }
}

TEST(unknown_partitions, are_not_shown_with_a_position_that_they_do_not_have) {
  floors w;
  w.source.produce(k_p0, event("a", 1), w.late);
  w.source.produce(k_p1, event("b", 1), w.early);
  w.source.unanswered[k_p1] = make_error_code(errc::source_unavailable);
  ASSERT_EQ(w.run().end, session_end::drained);
  const stream_report report{"payments",
                             w.store.load(w.store.id_of("payments")).value(),
                             w.status.snapshot().streams["payments"],
                             {},
                             {}};
  const auto shown = partitions_of(report);
  ASSERT_EQ(shown.size(), 2U);
  EXPECT_EQ(shown[0].next_offset, 1);
  EXPECT_FALSE(shown[1].next_offset);
}

/// As where a state is built anew: read as they come, the one with few records was at its end long before.
/// Nothing comes behind the end that would move the time of the stream.
TEST(partitions, that_come_to_their_ends_together_have_come_to_the_time_of_the_furthest) {
  for (const auto& [few, many] : {std::pair{k_p0, k_p1}, std::pair{k_p1, k_p0}}) {
    stream_config s = payments();
    s.order = order::strict;
    s.gap = {.policy = gap_policy::skip, .timeout = std::chrono::hours{1}};
    floors w{{s}};
    w.source.produce(few, event("b", 1), w.early);
    w.source.produce(many, event("a", 1), w.early);
    w.source.produce(many, event("a", 3), w.early);  // 2 never comes
    w.source.produce(many, event("c", 1), w.late);
    w.source.script = {[&] { w.clock.advance(seconds{11}); }, [] {}, [] {}};
    ASSERT_EQ(w.run().end, session_end::drained);
    EXPECT_TRUE(w.state_of(few).idle);
    EXPECT_TRUE(w.state_of(many).idle);
    EXPECT_EQ(w.floor(), w.late - k_window) << to_string(many);
    EXPECT_EQ(w.store.snapshot_of("payments", "a"), "3") << "the gap is nine hours old";
  }
}

/// `start: latest`.
class at_the_end : public ::testing::Test {
 protected:
  static stream_config from_the_end() {
    stream_config s = payments();
    s.start = start_position::latest;
    return s;
  }
  void produce(const topic_partition& where, int from, int to) {
    for (int n = from; n <= to; ++n) w_.source.produce(where, event("a" + place(where), n), w_.late);
  }
  void run() {
    w_.stop = false;
    for (int i = 0; i < 6; ++i) w_.source.script.emplace_back([] {});
    ASSERT_EQ(w_.run().end, session_end::drained);
  }
  floors w_{{from_the_end()}};
};

TEST_F(at_the_end, begins_a_partition_that_nobody_answered_for_at_first) {
  produce(k_p0, 1, 3);
  produce(k_p1, 1, 5);
  w_.source.unanswered[k_p1] = make_error_code(errc::source_unavailable);
  run();
  EXPECT_EQ(w_.state_of(k_p0).next_offset, 3);
  w_.source.script.emplace_back([this] { w_.source.unanswered.clear(); });
  for (int i = 0; i < 6; ++i) w_.source.script.emplace_back([] {});
  w_.source.script.emplace_back([this] { produce(k_p1, 6, 7); });
  run();
  EXPECT_EQ(w_.state_of(k_p1).next_offset, 7);
  EXPECT_EQ(w_.counted().consumed, 2U) << "its history is not read";
}

TEST_F(at_the_end, does_not_begin_a_partition_that_was_added_later) {
  produce(k_p0, 1, 3);
  run();
  produce(k_p1, 1, 5);
  w_.source.unanswered[k_p1] = make_error_code(errc::source_unavailable);
  w_.source.script.emplace_back([this] { w_.source.unanswered.clear(); });
  run();
  EXPECT_EQ(w_.counted().consumed, 5U) << "all of it came since";
}

}  // namespace
}  // namespace ratchet::testing
