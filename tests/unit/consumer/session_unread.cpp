// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What an instance holds and does not read: partitions whose brokers do not answer, and how far their logs
// go.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include "kafka/kafka_error.hpp"
#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

const topic_partition k_p2 = at("t", 2);
const std::error_code k_unavailable = make_error_code(errc::source_unavailable);

/// So many empty polls, with the world as it is.
void wait_for(session_world& w, int steps) {
  for (int i = 0; i < steps; ++i) w.source.script.emplace_back([] {});
}

live_partition live_of(const session_world& w, const topic_partition& where) {
  return w.status.snapshot().streams.at("payments").at(where);
}

TEST(unread_partitions, hold_up_no_other_whatever_they_are_asked_and_are_read_once_that_has_passed) {
  for (const errc why : {errc::source_unavailable, errc::topic_missing}) {
    for (const bool of_the_record : {false, true}) {
      session_world w;
      w.produce(k_p0, 1, 3);
      w.produce(k_p1, 1, 3);
      ASSERT_EQ(w.run().end, session_end::drained);
      w.stop = false;
      w.produce(k_p0, 4, 5);
      w.produce(k_p1, 4, 5);
      auto& failing = of_the_record ? w.source.unreadable : w.source.unanswered;
      failing[k_p1] = make_error_code(why);
      wait_for(w, 6);
      w.source.script.emplace_back([&] {
        EXPECT_EQ(w.counted().consumed, 8U) << "the other one is read";
        const status_snapshot told = w.status.snapshot();
        EXPECT_FALSE(told.ready);
        EXPECT_NE(told.ready_reason.find("1 partition (t/1) cannot be read now"), std::string::npos)
            << told.ready_reason;
        failing.clear();
      });
      wait_for(w, 6);
      ASSERT_EQ(w.run().end, session_end::drained);
      EXPECT_EQ(w.counted().consumed, 10U);
      EXPECT_TRUE(w.live_at_stop.ready) << w.live_at_stop.ready_reason;
      EXPECT_EQ(w.calls.count("join"), 2U) << "it never leaves";
      EXPECT_EQ(w.store.incarnations().size(), 2U);
      EXPECT_EQ(w.source.logs[k_p1].committed, 5);
    }
  }
}

TEST(unread_partitions, that_are_all_of_them_are_waited_for_without_leaving) {
  session_world w;
  w.produce(k_p0, 1, 3);
  w.source.unanswered[k_p0] = k_unavailable;
  wait_for(w, 60);
  w.source.script.emplace_back([&] {
    EXPECT_EQ(w.counted().consumed, 0U);
    EXPECT_EQ(w.calls.find("commit"), journal::npos) << "nothing is claimed that is not known";
    w.source.unanswered.clear();
  });
  wait_for(w, 10);
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(w.counted().consumed, 3U);
  EXPECT_EQ(w.calls.count("join"), 1U);
}

TEST(unread_partitions, are_waited_for_where_an_operators_word_is_for_the_whole_directory) {
  two_partitions w;
  w.source.unanswered[k_p1] = k_unavailable;
  wait_for(w, 10);
  w.source.script.emplace_back([&] {
    EXPECT_EQ(w.counted().consumed, 0U);
    w.source.unanswered.clear();
  });
  wait_for(w, 10);
  ASSERT_EQ(w.run_with(resume_option::store).end, session_end::drained);
  EXPECT_EQ(w.counted().consumed, 6U);
}

TEST(unread_partitions, are_forgotten_when_they_are_given_back) {
  two_partitions w;
  w.source.unanswered[k_p1] = k_unavailable;
  w.source.script.emplace_back([&] { w.source.say(notice::revoked{{k_p0, k_p1}, true}); });
  w.source.script.emplace_back([&] {
    EXPECT_EQ(w.status.snapshot().ready_reason.find("cannot be read now"), std::string::npos);
    EXPECT_FALSE(live_of(w, k_p0).assigned);
    w.source.unanswered.clear();
    w.source.say(notice::assigned{{k_p0}});
  });
  wait_for(w, 10);
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_FALSE(w.source.reads(k_p1));
  EXPECT_EQ(w.counted().consumed, 3U);
}

TEST(unread_partitions, end_a_run_until_the_end_only_behind_a_minute_and_are_named) {
  two_partitions w;
  w.source.unanswered[k_p1] = k_unavailable;
  wait_for(w, 400);
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_TRUE(w.stop_of(k_p1)) << "which the end of the run reports";
  EXPECT_FALSE(w.stop_of(k_p0));
  EXPECT_FALSE(w.source.script.empty()) << "it ended by itself";
  EXPECT_LT(w.source.script.size(), 250U) << "and not at once";
}

TEST(unread_partitions, end_a_run_until_the_end_where_they_are_all_there_is) {
  for (const resume_option said : {resume_option::none, resume_option::store}) {
    session_world w;
    w.produce(k_p0, 1, 3);
    w.produce(k_p1, 1, 3);
    w.source.unanswered[k_p0] = k_unavailable;
    // With an option none is read before all are known.
    if (said == resume_option::none) w.source.unanswered[k_p1] = k_unavailable;
    wait_for(w, 400);
    session_options options;
    options.until_end = true;
    options.resume.option = said;
    ASSERT_EQ(w.run(options).end, session_end::caught_up);
    EXPECT_TRUE(w.stop_of(k_p0));
    EXPECT_TRUE(w.stop_of(k_p1));
    EXPECT_FALSE(w.source.script.empty()) << "it ended by itself";
    EXPECT_LT(w.source.script.size(), 250U) << "and not at once";
    EXPECT_EQ(w.calls.find("commit"), journal::npos) << "nothing is claimed that was not looked at";
  }
}

TEST(unread_partitions, are_those_of_a_topic_that_is_gone_until_brokers_know_it_again) {
  session_world w{{payments("payments", "t"), payments("refunds", "u")}};
  w.produce(k_p0, 1, 3);
  w.produce(at("u", 0), 1, 3);
  w.source.script = {[&] {
                       w.source.unanswered[k_p0] = make_error_code(errc::topic_missing);
                       w.source.say(notice::topic_gone{{"t", partition_id{-1}}, "unknown topic"});
                     },
                     [&] { EXPECT_TRUE(w.status.snapshot().ready) << "that named no partition"; },
                     [&] {
                       w.source.say(notice::topic_gone{k_p0, "unknown topic"});
                     },
                     [&] {
                       w.source.say(notice::topic_gone{k_p0, "unknown topic"});
                     },
                     [&] { w.produce(at("u", 0), 4, 5); },
                     [&] {
                       EXPECT_EQ(w.counted("refunds").consumed, 5U);
                       EXPECT_FALSE(w.status.snapshot().ready);
                       EXPECT_EQ(w.logged("t/0 cannot be read now: unknown topic"), 1U) << "it is told once";
                       w.produce(k_p0, 4, 5);
                       w.source.unanswered.clear();
                     }};
  wait_for(w, 6);
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(w.counted("payments").consumed, 5U);
  EXPECT_TRUE(w.live_at_stop.ready);
}

TEST(unread_partitions, are_one_alone_where_its_brokers_say_what_nobody_knows) {
  two_partitions w;
  constexpr int k_unknown_server_error = -1;
  w.source.unanswered[k_p1] = kafka_error(k_unknown_server_error);
  wait_for(w, 6);
  w.source.script.emplace_back([&] {
    EXPECT_EQ(w.counted().consumed, 3U) << "the other one is read";
    w.source.unanswered.clear();
  });
  wait_for(w, 6);
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(w.counted().consumed, 6U);
  EXPECT_EQ(w.calls.count("join"), 1U);
}

TEST(unread_partitions, are_those_whose_log_holds_what_nothing_can_be_made_of) {
  two_partitions w;
  const auto tell = [&] { w.source.say(notice::unreadable{k_p0, 3, "Local: Invalid compressed data"}); };
  w.source.script = {tell,
                     tell,
                     [&] {
                       EXPECT_FALSE(w.stop_of(k_p0)) << "that may have been the network";
                       EXPECT_EQ(w.calls.count("assign t[0]@3 t[1]@3"), 2U) << "the client may have gone on";
                       w.produce(k_p0, 4, 4);
                     },
                     [&] {
                       w.source.say(notice::unreadable{k_p0, 7, "Local: Invalid compressed data"});
                     },
                     tell,
                     [&] {
                       EXPECT_FALSE(w.stop_of(k_p0)) << "it has moved on meanwhile";
                       tell();
                     },
                     [&] {
                       EXPECT_TRUE(w.source.is_paused(k_p0)) << "it is not fetched without end";
                       EXPECT_FALSE(w.status.snapshot().ready);
                       w.produce(k_p1, 4, 5);
                     }};
  ASSERT_EQ(w.run().end, session_end::drained);
  const auto why = w.stop_of(k_p0);
  ASSERT_TRUE(why);
  for (const char* part : {"t/0 cannot be read at offset 4: Local: Invalid compressed data",
                           "--group group-1 --topic t:0 --reset-offsets", "--resume kafka"})
    EXPECT_NE(why->find(part), std::string::npos) << *why;
  EXPECT_EQ(w.counted().consumed, 9U) << "the other one goes on";
}

TEST(ends_of_logs, are_asked_of_the_brokers_where_no_fetch_tells_them) {
  stream_config s = payments();
  s.poison = 1;
  session_world w{{s}};
  w.source.tells_known_ends = true;
  w.source.produce(k_p0, "not json");
  w.produce(k_p1, 1, 3);
  w.produce(k_p2, 1, 3);
  w.source.script = {[&] { EXPECT_TRUE(w.stop_of(k_p0)); },
                     [&] {
                       w.source.tells_known_ends = false;  // of the last fetch, as the client's are
                       w.produce(k_p0, 1, 50);
                     }};
  wait_for(w, 30);
  w.source.script.emplace_back([&] {
    EXPECT_EQ(live_of(w, k_p0).log_end, 51);
    EXPECT_TRUE(live_of(w, k_p0).assigned) << "it is held, so that its lag is shown";
    EXPECT_FALSE(w.source.asked.contains(k_p1)) << "fetches tell that";
    w.disk.free = 0;
  });
  wait_for(w, 6);
  w.source.script.emplace_back([&] { w.produce(k_p1, 4, 40); });
  wait_for(w, 30);
  w.source.script.emplace_back([&] { EXPECT_EQ(live_of(w, k_p1).log_end, 40); });
  ASSERT_EQ(w.run().end, session_end::drained);
}

TEST(brokers_that_are_all_away, make_it_not_ready_until_one_answers) {
  session_world w;
  w.produce(k_p0, 1, 3);
  w.source.script = {[&] { EXPECT_TRUE(w.status.snapshot().ready); },
                     [&] {
                       w.source.unanswered[k_p0] = k_unavailable;
                       w.source.say(notice::trouble{kafka_error(-187), "1/1 brokers are down"});
                     }};
  wait_for(w, 30);
  w.source.script.emplace_back([&] {
    EXPECT_FALSE(w.status.snapshot().ready);
    EXPECT_NE(w.status.snapshot().ready_reason.find("no broker answers: 1/1 brokers are down"),
              std::string::npos);
    w.source.unanswered.clear();  // though nothing comes that could be read
  });
  wait_for(w, 30);
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_TRUE(w.live_at_stop.ready) << w.live_at_stop.ready_reason;
}

/// Empty polls for at least so long.
void wait_seconds(session_world& w, int seconds) {
  wait_for(w, static_cast<int>(std::chrono::seconds{seconds} / w.source.tick));
}

TEST(brokers_that_are_all_away, and_say_nothing_make_it_not_ready_within_seconds) {
  two_partitions w;
  std::optional<std::chrono::steady_clock::time_point> silent_since;
  std::optional<std::chrono::steady_clock::duration> told_after;
  w.source.script = {[&] {
    EXPECT_TRUE(w.status.snapshot().ready);
    w.source.unanswered[k_p0] = w.source.unanswered[k_p1] = k_unavailable;
    silent_since = w.clock.steady();
  }};
  w.source.on_poll = [&](int) {
    if (silent_since && !told_after && !w.status.snapshot().ready)
      told_after = w.clock.steady() - *silent_since;
  };
  wait_seconds(w, 16);
  w.source.script.emplace_back([&] {
    EXPECT_FALSE(w.status.snapshot().ready);
    EXPECT_NE(w.status.snapshot().ready_reason.find("no broker answers"), std::string::npos);
    EXPECT_EQ(w.logged("no broker has answered for 5 seconds"), 1U);
    w.source.unanswered.erase(k_p1);
  });
  wait_seconds(w, 3);
  ASSERT_EQ(w.run().end, session_end::drained);
  ASSERT_TRUE(told_after);
  EXPECT_GE(*told_after, std::chrono::seconds{5}) << "it may pass yet";
  EXPECT_LE(*told_after, std::chrono::seconds{15});
  EXPECT_TRUE(w.live_at_stop.ready) << "one of them answers: " << w.live_at_stop.ready_reason;
}

TEST(brokers_that_are_all_away, are_not_told_by_whoever_stood_still_itself) {
  two_partitions w;
  std::optional<std::size_t> asked_before;
  bool stood_still = false;
  w.source.script = {[&] {
    w.source.unanswered[k_p0] = w.source.unanswered[k_p1] = k_unavailable;
    asked_before = w.source.asked.size();
  }};
  w.source.on_poll = [&](int) {
    if (stood_still) w.source.unanswered.clear();
    if (!asked_before || stood_still || w.source.asked.size() == *asked_before) return;
    stood_still = true;  // while a question is open
    w.clock.advance(std::chrono::minutes{2});
  };
  wait_seconds(w, 16);
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_TRUE(stood_still);
  EXPECT_EQ(w.logged("no broker has answered"), 0U) << w.logged();
}

TEST(brokers_that_are_all_away, are_not_so_while_one_of_them_answers) {
  two_partitions w;
  w.produce(k_p2, 1, 3);
  w.source.script = {[&] { w.source.unanswered[k_p0] = w.source.unanswered[k_p1] = k_unavailable; }};
  for (int i = 0; i < 60; ++i) {
    wait_seconds(w, 1);
    w.source.script.emplace_back([&] { EXPECT_TRUE(w.status.snapshot().ready); });
  }
  ASSERT_EQ(w.run().end, session_end::drained);
}

TEST(brokers_that_are_all_away, are_not_asked_anything_while_records_come) {
  session_world w;
  w.produce(k_p0, 1, 3);
  for (int i = 0; i < 200; ++i) {
    wait_for(w, 3);
    w.source.script.emplace_back([&w, i] { w.produce(k_p0, 4 + i, 4 + i); });
  }
  w.source.script.emplace_back([&] { EXPECT_TRUE(w.source.asked.empty()); });
  ASSERT_EQ(w.run().end, session_end::drained);
}

}  // namespace
}  // namespace ratchet::testing
