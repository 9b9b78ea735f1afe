// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Topics that are not there: at the first start, when an instance takes over, and the log itself.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "unit/app/pair_fixture.hpp"

namespace ratchet {
namespace {

using pair_support::expected;
using pair_support::fences;
using pair_support::k_input;
using pair_support::k_log_topic;
using pair_support::pair;
using pair_support::pair_source;
using pair_support::patient_clock;
using pair_support::produce;
using pair_support::until_all_is_read;
using pair_support::until_polled;
using std::chrono::milliseconds;

constexpr const char* k_dead = "payments.dead";

class pair_topics : public pair {
 protected:
  pair_topics() {
    for (pair_support::instance* each : {&first, &second})
      each->change = [](config& of) { of.streams.front().dead_letter = k_dead; };
  }
  std::string why;  ///< it was not ready last
  patient_clock clock;
};

void expect_refused(const std::optional<problem>& failed, const std::string& topic) {
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->code, make_error_code(errc::topic_missing));
  EXPECT_NE(failed->message.find("the topic `" + topic + "` does not exist"), std::string::npos)
      << failed->message;
  EXPECT_NE(failed->hint.find("kafka-topics.sh --bootstrap-server broker:9092 --create --topic " + topic),
            std::string::npos)
      << failed->hint;
}

TEST_F(pair_topics, that_are_read_are_looked_for_at_the_start) {
  c.gone = {k_input.topic};
  first.clock = &clock;
  expect_refused(first.run([&](pair_source& s, std::atomic<bool>&) {
    clock.waited += milliseconds{500};
    EXPECT_FALSE(s.has_joined());
  }),
                 k_input.topic);
  EXPECT_EQ(fences(c), 0) << "nobody has owned the state";
}

TEST_F(pair_topics, of_messages_are_looked_for_at_the_start) {
  c.gone = {k_dead};
  first.clock = &clock;
  expect_refused(first.run([&](pair_source&, std::atomic<bool>&) { clock.waited += milliseconds{500}; }),
                 k_dead);
  EXPECT_EQ(fences(c), 0);
}

TEST_F(pair_topics, of_messages_that_are_deleted_later_hinder_no_take_over) {
  let_first_read(10);
  produce(c, 10);
  const auto failed =
      second.run([&, until = until_all_is_read()](pair_source& s, std::atomic<bool>& stop) mutable {
        if (s.has_joined()) c.gone = {k_dead};
        until(s, stop);
      });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(second.seen(), expected(c));
}

TEST_F(pair_topics, that_are_deleted_later_are_waited_for_by_who_takes_over) {
  let_first_read(10);
  produce(c, 10);
  const int before = fences(c);
  second.clock = &clock;
  int polls = 0;
  bool was_asked_back = false;
  const auto failed =
      second.run([&, until = until_all_is_read()](pair_source& s, std::atomic<bool>& stop) mutable {
        clock.waited += milliseconds{200};
        if (!s.has_joined()) return;
        ++polls;
        c.gone.clear();
        if (polls < 60) c.gone = {k_input.topic};
        if (polls == 40) why = second.why_not_ready();
        if (polls == 45) {
          s.rebalance();  // which is answered, although nothing can be read
          was_asked_back = true;
        }
        until(s, stop);
      });
  ASSERT_FALSE(failed) << failed->message;
  ASSERT_TRUE(was_asked_back);
  EXPECT_NE(why.find("the topic `" + k_input.topic + "` does not exist"), std::string::npos) << why;
  EXPECT_LE(fences(c) - before, 2) << "one for each time that the group gave it the slot";
  EXPECT_EQ(second.seen(), expected(c));
}

/// The cluster has one topic with records; the other one is of a stream of its own.
TEST_F(pair_topics, that_are_deleted_later_do_not_hold_up_the_others) {
  for (pair_support::instance* each : {&first, &second})
    each->change = [](config& of) { of.streams.push_back(stream_named("orders", "o")); };
  let_first_read(10);
  produce(c, 10);
  second.clock = &clock;
  bool is_found = false;
  const auto failed = second.run([&](pair_source& s, std::atomic<bool>& stop) {
    clock.waited += milliseconds{200};
    if (!s.has_joined()) return;
    if (!is_found) c.gone = {"o"};
    if (!s.has_read_all()) return;
    if (!is_found) why = second.why_not_ready();
    is_found = is_found || !why.empty();
    if (is_found) c.gone.clear();
    if (is_found && second.why_not_ready().empty()) stop = true;
    if (clock.waited > std::chrono::minutes{5}) stop = true;
  });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_NE(why.find("the topic `o` does not exist"), std::string::npos) << why;
  EXPECT_EQ(second.seen(), expected(c));
  EXPECT_LT(clock.waited, std::chrono::minutes{5}) << "it is ready when the topic is there";
}

/// The first instance has a receiver that takes nothing, and messages stay.
TEST_F(pair_topics, that_are_all_gone_do_not_hold_up_messages) {
  std::atomic<int> sent{0};
  for (pair_support::instance* each : {&first, &second}) {
    each->change = [](config& of) {
      of.sinks = {{.name = "audit", .kind = sink_config::kind_of::callback, .http = {}}};
      of.streams.front().emit = {{.topic = "sink:audit"}};
    };
  }
  first.sinks.add("audit", [](const sink_message&) { return sink_answer{sink_answer::how::again, "full"}; });
  second.sinks.add("audit", [&](const sink_message&) {
    ++sent;
    return sink_answer{};
  });
  let_first_read(10);
  c.owner = &c;  // another instance has the slot
  ASSERT_FALSE(second.run(until_polled(50)));
  ASSERT_EQ(sent, 0);
  c.owner = nullptr;
  c.gone = {k_input.topic};
  const auto failed = second.run([&](pair_source&, std::atomic<bool>& stop) {
    std::this_thread::sleep_for(milliseconds{1});
    why = second.why_not_ready();
    clock.waited += milliseconds{20};
    if (sent == 10 || clock.waited > std::chrono::minutes{1}) stop = true;
  });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(sent, 10);
  EXPECT_NE(why.find("the topic `" + k_input.topic + "` does not exist"), std::string::npos) << why;
}

TEST_F(pair_topics, that_are_gone_do_not_keep_a_standby_from_coming_back) {
  let_first_read(10);
  ASSERT_FALSE(second.run(until_polled(50)));
  c.gone = {k_dead, k_input.topic};
  c.owner = &c;  // another instance has the slot
  bool was_ready = false;
  const auto failed =
      second.run([&, until = until_polled(50)](pair_source& s, std::atomic<bool>& stop) mutable {
        was_ready = was_ready || (s.has_joined() && second.why_not_ready().empty());
        until(s, stop);
      });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_TRUE(was_ready);
}

TEST_F(pair_topics, a_log_that_is_deleted_is_named_by_a_standby) {
  let_first_read(10);
  second.clock = &clock;
  c.owner = &c;  // another instance has the slot
  bool was_ready = false;
  const auto failed = second.run([&](pair_source& s, std::atomic<bool>& stop) {
    clock.waited += milliseconds{100};
    if (!s.has_joined()) return;
    why = second.why_not_ready();
    if (why.empty()) {
      was_ready = true;
      c.log.set_missing(true);
    }
    if (was_ready && !why.empty()) stop = true;
    if (clock.waited > std::chrono::minutes{1}) stop = true;
  });
  ASSERT_FALSE(failed) << failed->message;
  ASSERT_TRUE(was_ready);
  EXPECT_TRUE(why.starts_with("the brokers do not know the topic `" + std::string{k_log_topic} + "`")) << why;
}

/// The group has not said anything yet.
TEST_F(pair_topics, a_log_that_is_deleted_is_named_by_its_owner) {
  produce(c, 10);
  first.clock = &clock;
  bool was_ready = false;
  const auto failed = first.run([&](pair_source& s, std::atomic<bool>& stop) {
    clock.waited += milliseconds{100};
    if (clock.waited > std::chrono::minutes{1}) stop = true;
    if (!was_ready && !s.has_read_all()) return;
    why = first.why_not_ready();
    if (!was_ready && why.empty()) {
      was_ready = true;
      c.log.set_missing(true);
    }
    if (was_ready && !why.empty()) stop = true;
  });
  ASSERT_TRUE(was_ready);
  EXPECT_NE(why.find("the brokers do not know the topic `" + std::string{k_log_topic} + "`"),
            std::string::npos)
      << why << (failed ? failed->message : "");
}

}  // namespace
}  // namespace ratchet
