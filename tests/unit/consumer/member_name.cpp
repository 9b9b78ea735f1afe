// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/member_name.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace ratchet {
namespace {

using replicate::log_epoch;

constexpr timestamp k_early{std::chrono::milliseconds{1'700'000'000'000}};
constexpr timestamp k_late{std::chrono::milliseconds{1'800'000'000'000}};

TEST(member_names, of_whoever_has_read_a_later_epoch_come_later_whatever_the_clocks_say) {
  EXPECT_LT(member_name({9, 2}, k_late, "z"), member_name({10, 0}, k_early, "a"));
  EXPECT_LT(member_name({9, 9}, k_late, "z"), member_name({9, 10}, k_early, "a"));
  EXPECT_LT(member_name({}, k_late, "z"), member_name({1, 0}, k_early, "a"));
  EXPECT_LT(member_name({0xFFFFFFFE, 0}, k_late, "z"), member_name({0xFFFFFFFF, 0}, k_early, "a"));
}

TEST(member_names, of_one_epoch_are_in_the_order_of_time_and_then_of_instances) {
  EXPECT_LT(member_name({9, 1}, k_early, "z"), member_name({9, 1}, k_late, "a"));
  EXPECT_LT(member_name({9, 1}, k_early, "a"), member_name({9, 1}, k_early, "b"));
  EXPECT_LT(member_name({9, 1}, timestamp{std::chrono::milliseconds{9}}, "z"),
            member_name({9, 1}, timestamp{std::chrono::milliseconds{10}}, "a"));
}

TEST(member_names, tell_their_instance) {
  for (const char* const instance : {"ratchet-0", "a", "0-1-2"})
    EXPECT_EQ(instance_of_member(member_name({7, 3}, k_late, instance)), instance);
}

TEST(member_names, of_other_programs_tell_none) {
  const std::string right = member_name({7, 3}, k_late, "a");
  for (std::size_t i = 0; i + 1 < right.size(); ++i) {
    std::string wrong = right;
    wrong[i] = 'x';
    EXPECT_FALSE(instance_of_member(wrong)) << wrong;
  }
  for (const char* const other : {"", "rdkafka", "consumer-1", "r0000000007.0000000003-1800000000000-"})
    EXPECT_FALSE(instance_of_member(other)) << other;
}

TEST(member_names_of_clients, are_anew_each_time) {
  member_names names{"a"};
  const std::string first = names.next({3, 0}, k_early);
  EXPECT_EQ(first, member_name({3, 0}, k_early, "a"));
  EXPECT_EQ(names.next({3, 0}, k_late), member_name({3, 0}, k_late, "a"));
}

TEST(member_names_of_clients, of_an_owner_stay_while_nobody_else_has_fenced) {
  member_names names{"a"};
  const std::string first = names.next({3, 0}, k_early);
  names.led({4, 0});
  EXPECT_EQ(names.next({4, 0}, k_late), first) << "it comes before those that joined beside it";
  EXPECT_EQ(names.next({4, 0}, k_late), first) << "also the second time";
  EXPECT_EQ(names.next({5, 0}, k_late), member_name({5, 0}, k_late, "a")) << "another one owns the state";
  EXPECT_EQ(names.next({4, 0}, k_late), member_name({4, 0}, k_late, "a"));
}

TEST(member_names_of_clients, are_known_again) {
  member_names names{"a"};
  const std::string first = names.next({3, 0}, k_early);
  EXPECT_TRUE(names.is_own(first));
  EXPECT_TRUE(names.is_own(names.next({3, 0}, k_late)));
  EXPECT_TRUE(names.is_own(first));
  EXPECT_FALSE(names.is_own(member_name({3, 1}, k_early, "a")));
}

TEST(member_names_of_clients, of_who_gave_the_lead_away_are_anew) {
  member_names names{"a"};
  static_cast<void>(names.next({3, 0}, k_early));
  names.led({4, 0});
  names.gave();
  EXPECT_EQ(names.next({4, 0}, k_late), member_name({4, 0}, k_late, "a"));
}

}  // namespace
}  // namespace ratchet
