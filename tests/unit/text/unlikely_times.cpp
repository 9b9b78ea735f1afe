// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Times that are decades away from any clock, and what they most likely are.
#include "text/unlikely_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ratchet {
namespace {

using ::testing::HasSubstr;

timestamp at(std::int64_t ms) {
  return timestamp{std::chrono::milliseconds{ms}};
}

TEST(unlikely_times, are_before_1990_or_from_2100_on) {
  EXPECT_TRUE(is_unlikely(at(631'151'999'999)));
  EXPECT_FALSE(is_unlikely(at(631'152'000'000)));
  EXPECT_FALSE(is_unlikely(at(4'102'444'799'999)));
  EXPECT_TRUE(is_unlikely(at(4'102'444'800'000)));
}

TEST(unlikely_times, name_the_unit_that_fits) {
  EXPECT_THAT(hint_on_unlikely_time(at(1'767'225'600), time_unit::milliseconds, "/at"),
              HasSubstr("as numbers of the unit s they are of 2026-01-01: set `time: {from: /at, unit: s}`"));
  EXPECT_THAT(hint_on_unlikely_time(at(1'767'225'600), time_unit::microseconds, "/at"),
              HasSubstr("unit: ms}"))
      << "1767225600000 read as microseconds";
  EXPECT_THAT(hint_on_unlikely_time(at(1'767'225), time_unit::nanoseconds, ""),
              HasSubstr("`time: {from: /created, unit: ms}`"))
      << "1767225000000, but for its last digits";
}

TEST(unlikely_times, may_be_the_digits_of_a_date) {
  EXPECT_THAT(hint_on_unlikely_time(at(20'260'131'120'000), time_unit::milliseconds, "/at"),
              HasSubstr("the digits of a date, 20260131120000"));
  EXPECT_THAT(hint_on_unlikely_time(at(20'260'131), time_unit::milliseconds, "/at"), HasSubstr("20260131,"));
  EXPECT_EQ(hint_on_unlikely_time(at(20'261'331), time_unit::milliseconds, "/at"), "");
  EXPECT_EQ(hint_on_unlikely_time(at(-5), time_unit::milliseconds, "/at"), "");
}

}  // namespace
}  // namespace ratchet
