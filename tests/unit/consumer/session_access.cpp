// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// A start in front of brokers that refuse the login, all of them or one for a while.
#include <gtest/gtest.h>

#include <chrono>

#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

using std::chrono::seconds;

complaint refusal_of(const std::string& broker) {
  return {make_error_code(errc::access_denied), access_kind::login,
          "sasl_plaintext://" + broker + "/bootstrap: SASL authentication failed"};
}

struct refused_login : session_world {
  refused_login() {
    settings.kafka.brokers = {"b1:9092", "b2:9092"};
    settings.kafka.connect_timeout = seconds{30};
    source.produce(k_p0, event("a", 1));
  }
};

TEST(a_refused_login, of_one_broker_is_waited_for_as_long_as_brokers_that_are_away) {
  refused_login w;
  w.source.unanswered_cluster_ids = 20;
  for (int i = 0; i < 15; ++i) w.source.complaints.push_back(refusal_of("b1:9092"));
  EXPECT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.counted().consumed, 1U);
}

TEST(a_refused_login, of_one_broker_ends_the_start_where_that_time_is_over) {
  refused_login w;
  w.source.unanswered_cluster_ids = 100;
  for (int i = 0; i < 100; ++i) w.source.complaints.push_back(refusal_of("b1:9092"));
  const auto begin = w.clock.steady();
  const session_result ended = w.run_until_end();
  EXPECT_EQ(ended.end, session_end::refused);
  EXPECT_EQ(ended.why->code, make_error_code(errc::access_denied));
  EXPECT_GE(w.clock.steady() - begin, seconds{29});
  EXPECT_LE(w.clock.steady() - begin, seconds{31});
}

TEST(a_refused_login, of_all_brokers_ends_the_start_within_seconds) {
  refused_login w;
  w.source.unanswered_cluster_ids = 100;
  for (int i = 0; i < 100; ++i) w.source.complaints.push_back(refusal_of(i % 2 == 0 ? "b1:9092" : "b2:9092"));
  const auto begin = w.clock.steady();
  EXPECT_EQ(w.run_until_end().end, session_end::refused);
  EXPECT_LE(w.clock.steady() - begin, seconds{5});
}

TEST(a_refused_topic, is_named_by_what_the_brokers_say_of_it_and_not_by_the_streams) {
  session_world w;
  w.source.produce(k_p0, event("a", 1));
  std::string why;
  w.source.script = {[] {},
                     [] {},
                     [] {},
                     [&] {
                       w.source.say(notice::trouble{make_error_code(errc::access_denied), "denied",
                                                    access_kind::topic, "a.log"});
                     },
                     [] {},
                     [&] { why = w.status.snapshot().ready_reason; }};
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_NE(why.find("may not read the topic `a.log`: denied"), std::string::npos) << why;
}

struct failing {
  static constexpr reducer_traits traits{.name = "failing", .version = 1};
  outcome apply(const ratchet::event&, state&, effects&) const { return retry(make_error_code(errc::io)); }
};

TEST(what_is_due, is_not_waited_for_without_a_pause_while_nothing_may_be_written) {
  stream_config s = payments();
  s.order = order::strict;
  session_world w{{s}, reducers{}.add("payments", failing{})};
  w.source.produce(k_p0, event("a", 1));
  w.source.script = {[&] { w.disk.free = 0; }, [&] { w.clock.advance(seconds{2}); },
                     [&] {
                       w.clock.advance(std::chrono::hours{1});
                       w.source.shortest_wait = seconds{1};
                     },
                     [&] {
                       ASSERT_TRUE(w.source.is_paused(k_p0));
                       EXPECT_GT(w.source.shortest_wait.count(), 0);
                       w.disk = {};
                     }};
  ASSERT_EQ(w.run().end, session_end::drained);
}

TEST(a_clock_that_is_wrong_and_right_in_turn, is_told_of_once) {
  session_world w;
  w.source.produce(k_p0, event("a", 1), w.clock.now());
  for (int i = 0; i < 20; ++i) {
    w.source.script.emplace_back([&w, i] {
      w.clock.advance(seconds{1});
      const auto ahead = std::chrono::hours{i % 2 == 0 ? 2 : 0};
      w.source.produce(k_p0, event("a", 2 + i), w.clock.now() + ahead);
    });
    w.source.script.emplace_back([&w] { w.clock.advance(seconds{1}); });
  }
  w.source.script.emplace_back([&w] {
    EXPECT_FALSE(w.status.snapshot().ready);
    EXPECT_EQ(w.logged("this machine's clock is at"), 1U);
    EXPECT_EQ(w.logged("the clock is no longer behind the times that the state has seen"), 0U);
    w.clock.advance(std::chrono::hours{3});
  });
  for (int i = 0; i < 4; ++i) w.source.script.emplace_back([&w] { w.clock.advance(seconds{10}); });
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(w.logged("the clock is no longer behind the times that the state has seen"), 1U);
}

}  // namespace
}  // namespace ratchet::testing
