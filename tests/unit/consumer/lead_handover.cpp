// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/lead_handover.hpp"

#include <gtest/gtest.h>
#include <spdlog/logger.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "consumer/member_name.hpp"
#include "support/fake_source.hpp"

namespace ratchet::testing {
namespace {

using replicate::log_epoch;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct lead_handover_test : ::testing::Test {
  ~lead_handover_test() override { desk.answer(handed_over{}); }
  void ask() {
    asked = std::async(std::launch::async, [this] { return desk.ask({}); });
    while (!desk.is_asked()) std::this_thread::sleep_for(milliseconds{1});
  }
  /// In the group, by the name that an instance has which made its client at that epoch of the log.
  void add(log_epoch epoch, const std::string& instance, bool is_this = false) {
    const std::string name = member_name(epoch, timestamp{}, instance);
    group.others.push_back({name + "-uuid", name, "/10.0.0.1", is_this});
  }
  [[nodiscard]] std::error_code refusal() {
    auto answer = asked.get();
    return answer ? std::error_code{} : answer.error().code;
  }
  journal calls;
  fake_clock clock;
  fake_source group{calls, clock};
  handover_desk desk;
  lead_handover handover{desk, clock, std::make_shared<spdlog::logger>("test"), "g"};
  std::future<reported<handed_over>> asked;
};

TEST_F(lead_handover_test, is_nothing_while_nobody_asks) {
  add({1, 0}, "b");
  handover.look(group);
  handover.refuse(group);
  EXPECT_FALSE(handover.is_leaving());
  EXPECT_FALSE(handover.awaits_successor({}));
}

TEST_F(lead_handover_test, needs_another_instance_in_the_group) {
  ask();
  add({}, "a", true);
  group.others.push_back({"kcat-1", "kcat", "/10.0.0.2", false});
  handover.look(group);
  EXPECT_FALSE(handover.is_leaving());
  EXPECT_EQ(refusal(), make_error_code(errc::no_standby));
}

TEST_F(lead_handover_test, ends_when_another_instance_has_fenced) {
  ask();
  add({}, "a", true);
  add({2, 0}, "c");
  add({1, 0}, "b");
  handover.look(group);
  EXPECT_TRUE(handover.is_leaving());
  handover.gave({3, 1});
  EXPECT_FALSE(handover.is_leaving()) << "the session that follows is not to end";
  EXPECT_EQ(handover.successor(), "b") << "the group gives it to the one whose name is first";
  clock.advance(milliseconds{300});
  EXPECT_TRUE(handover.awaits_successor({3, 1}));
  clock.advance(milliseconds{200});
  EXPECT_TRUE(handover.awaits_successor({4, 0}));
  EXPECT_EQ(asked.get().value(), (handed_over{"b", milliseconds{500}}));
  EXPECT_EQ(handover.successor(), "");
}

TEST_F(lead_handover_test, leaves_the_successor_alone_for_some_seconds) {
  ask();
  add({1, 0}, "b");
  handover.look(group);
  handover.gave({3, 1});
  clock.advance(seconds{1});
  EXPECT_TRUE(handover.awaits_successor({4, 0}));
  EXPECT_TRUE(asked.get()) << "whoever asked is told at once";
  clock.advance(milliseconds{1'900});
  EXPECT_TRUE(handover.awaits_successor({4, 0}));
  clock.advance(milliseconds{100});
  EXPECT_FALSE(handover.awaits_successor({4, 0}));
  EXPECT_FALSE(handover.awaits_successor({4, 0}));
}

TEST_F(lead_handover_test, does_not_wait_for_ever_for_an_instance_that_died) {
  ask();
  add({1, 0}, "b");
  handover.look(group);
  handover.gave({3, 1});
  clock.advance(seconds{9});
  EXPECT_TRUE(handover.awaits_successor({3, 1}));
  clock.advance(seconds{2});
  EXPECT_FALSE(handover.awaits_successor({3, 1}));
  EXPECT_EQ(refusal(), make_error_code(errc::timed_out));
}

TEST_F(lead_handover_test, that_could_not_end_the_session_leaves_this_instance_as_it_is) {
  ask();
  add({1, 0}, "b");
  handover.look(group);
  handover.gave_up("the log confirms nothing");
  EXPECT_FALSE(handover.is_leaving());
  EXPECT_FALSE(handover.awaits_successor({3, 1}));
  const auto answer = asked.get();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, make_error_code(errc::source_unavailable));
  EXPECT_NE(answer.error().message.find("the log confirms nothing"), std::string::npos);
}

TEST_F(lead_handover_test, is_begun_unasked_where_this_instance_cannot_go_on_for_some_seconds) {
  add({1, 0}, "b");
  handover.look(group, "the disk is full");
  clock.advance(seconds{4});
  handover.look(group);
  handover.look(group, "the disk is full");
  clock.advance(seconds{4});
  handover.look(group, "the disk is full");
  EXPECT_FALSE(handover.is_leaving()) << "there was room meanwhile";
  clock.advance(seconds{1});
  handover.look(group, "the disk is full");
  EXPECT_TRUE(handover.is_leaving());
  handover.gave({3, 1});
  EXPECT_TRUE(handover.awaits_successor({3, 1}));
  EXPECT_TRUE(handover.awaits_successor({4, 0}));
}

TEST_F(lead_handover_test, unasked_looks_for_a_standby_now_and_then) {
  add({}, "a", true);
  for (int second = 0; second < 6; ++second) {
    handover.look(group, "the disk is full");
    clock.advance(seconds{1});
  }
  EXPECT_FALSE(handover.is_leaving());
  add({1, 0}, "b");
  handover.look(group, "the disk is full");
  EXPECT_FALSE(handover.is_leaving()) << "the brokers are not asked all the time";
  clock.advance(seconds{5});
  handover.look(group, "the disk is full");
  EXPECT_TRUE(handover.is_leaving());
}

TEST_F(lead_handover_test, of_a_standby_is_refused_and_the_owner_named) {
  ask();
  add({2, 0}, "a", true);
  add({1, 0}, "b");
  handover.refuse(group);
  const auto answer = asked.get();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, make_error_code(errc::not_owner));
  EXPECT_NE(answer.error().message.find("`b` does"), std::string::npos) << answer.error().message;
}

TEST_F(lead_handover_test, of_a_standby_without_an_owner_says_so) {
  ask();
  handover.refuse(group);
  const auto answer = asked.get();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, make_error_code(errc::not_owner));
  EXPECT_NE(answer.error().message.find("no owner"), std::string::npos) << answer.error().message;
}

}  // namespace
}  // namespace ratchet::testing
