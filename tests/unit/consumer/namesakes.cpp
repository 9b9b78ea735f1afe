// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/namesakes.hpp"

#include <gtest/gtest.h>
#include <spdlog/logger.h>

#include <chrono>
#include <memory>
#include <string>

#include "support/fake_source.hpp"

namespace ratchet::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct namesakes_test : ::testing::Test {
  static constexpr timestamp k_begun{milliseconds{1'800'000'000'000}};

  /// In the group, by the name of a client that was made so long behind the own one.
  std::string add(const std::string& instance, milliseconds made = seconds{-60}, bool is_this = false) {
    const std::string name = member_name({3, 1}, k_begun + made, instance);
    group.others.push_back({name + "-uuid", name, "/10.0.0.1", is_this});
    return name;
  }
  void join() {
    const std::string name = names.next({3, 1}, k_begun);
    group.others.push_back({name + "-uuid", name, "/10.0.0.2", true});
    of.look_again();
  }
  /// As a standby does, as long as nothing stands against it. How long it has lasted.
  seconds look_for(seconds most, bool is_member = true) {
    const auto begun = clock.steady();
    while (clock.steady() - begun < most && !of.refused()) {
      if (of.is_due(clock.steady())) of.look(group, is_member);
      clock.advance(milliseconds{100});
    }
    return std::chrono::floor<seconds>(clock.steady() - begun);
  }
  [[nodiscard]] std::string condition() {
    status.set_ready(true);
    return status.snapshot().ready_reason;
  }

  journal calls;
  fake_clock clock;
  fake_source group{calls, clock};
  config settings;
  member_names names{"a"};
  instance_status status{k_begun};
  namesakes of{{settings, names, clock, status, std::make_shared<spdlog::logger>("test")}};
};

TEST_F(namesakes_test, are_refused_where_they_came_second) {
  add("a");
  add("b");
  of.look(group, false);
  EXPECT_NE(of.why_not_ready().find("has the name of this instance, at /10.0.0.1"), std::string::npos);
  join();
  const seconds lasted = look_for(seconds{60});
  EXPECT_GE(lasted, seconds{6}) << "one that was killed is listed as long";
  EXPECT_LE(lasted, seconds{10});
  ASSERT_TRUE(of.refused());
  EXPECT_EQ(of.refused()->code, errc::group_taken);
  EXPECT_EQ(of.refused()->message, "another instance with the name `a` is in the group ``, at /10.0.0.1");
}

TEST_F(namesakes_test, that_came_second_are_refused_whatever_the_clocks_say) {
  add("a", seconds{60});
  of.look(group, false);
  join();
  look_for(seconds{60});
  EXPECT_TRUE(of.refused());
}

/// This instance was killed, and started again at once.
TEST_F(namesakes_test, that_were_killed_are_waited_for) {
  add("a");
  of.look(group, false);
  join();
  look_for(seconds{6});
  EXPECT_FALSE(of.refused());
  group.others.erase(group.others.begin());
  look_for(seconds{60});
  EXPECT_FALSE(of.refused());
  EXPECT_EQ(of.why_not_ready(), "");
}

TEST_F(namesakes_test, do_not_disturb_an_instance_that_was_there_before) {
  join();
  look_for(seconds{2});
  add("a", seconds{60});
  of.look_again();
  look_for(seconds{6});
  EXPECT_EQ(of.why_not_ready(), "");
  EXPECT_EQ(condition(), "");
  look_for(seconds{60});
  EXPECT_FALSE(of.refused());
  EXPECT_NE(condition().find("another instance with the name `a`"), std::string::npos)
      << "it did not go away: somebody has to know";
  group.others.pop_back();
  look_for(seconds{2});
  EXPECT_EQ(condition(), "");
}

TEST_F(namesakes_test, that_join_at_once_are_refused_but_for_the_first) {
  of.look(group, false);
  join();
  add("a", seconds{1});
  look_for(seconds{60});
  EXPECT_FALSE(of.refused()) << "its name comes first";
  group.others.clear();
  namesakes late{{settings, names, clock, status, std::make_shared<spdlog::logger>("test")}};
  late.look(group, false);
  join();
  late.look_again();
  add("a", seconds{-1});
  for (int i = 0; i < 200 && !late.refused(); ++i, clock.advance(milliseconds{100}))
    if (late.is_due(clock.steady())) late.look(group, true);
  EXPECT_TRUE(late.refused());
}

TEST_F(namesakes_test, are_not_the_earlier_clients_of_this_instance) {
  const std::string before = names.next({3, 0}, k_begun);
  group.others.push_back({before + "-uuid", before, "/10.0.0.2", false});
  of.look(group, false);
  EXPECT_EQ(of.why_not_ready(), "");
  join();
  look_for(seconds{60});
  EXPECT_FALSE(of.refused());
}

TEST_F(namesakes_test, are_waited_for_anew_where_the_brokers_did_not_say) {
  add("a");
  of.look(group, false);
  look_for(seconds{6}, false);
  group.members_error = make_error_code(errc::source_unavailable);
  look_for(seconds{2}, false);
  group.members_error = {};
  look_for(seconds{6}, false);
  EXPECT_FALSE(of.refused()) << "a coordinator that moved counts sessions from then on";
  look_for(seconds{6}, false);
  EXPECT_TRUE(of.refused());
}

TEST_F(namesakes_test, are_not_asked_for_all_the_time) {
  join();
  look_for(seconds{60});
  EXPECT_LE(calls.count("members"), 3U);
}

TEST_F(namesakes_test, are_over_where_this_instance_has_the_slot) {
  add("a");
  of.look(group, false);
  of.took_lead();
  EXPECT_EQ(of.why_not_ready(), "");
  clock.advance(seconds{3600});
  of.look(group, true);
  EXPECT_FALSE(of.refused());
}

}  // namespace
}  // namespace ratchet::testing
