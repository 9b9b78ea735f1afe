// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "streams/timed_reducer.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "core/reducers.hpp"

namespace ratchet {
namespace {

using std::chrono::milliseconds;

/// Stands still unless it is moved.
struct hand_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<hand_clock>;
  static constexpr bool is_steady = true;
  static time_point now() noexcept { return time_point{at}; }
  static inline duration at{0};
};

/// Takes as long as it is told, and ends as it is told.
struct slow_reducer {
  static constexpr reducer_traits traits{
      .name = "slow", .version = 7, .full_state = true, .has_effects = false};
  std::chrono::nanoseconds takes{0};
  outcome ends{};
  outcome apply(const event& e, state& s, effects&) const {
    hand_clock::at += takes;
    s.assign(e.payload);
    return ends;
  }
};

outcome timed(slow_reducer r, milliseconds limit) {
  state s;
  effects fx;
  return timed_reducer<hand_clock>{r, limit}.apply(event{}, s, fx);
}

TEST(timed_reducer, lets_through_what_keeps_to_the_limit) {
  EXPECT_EQ(timed({milliseconds{0}, done()}, milliseconds{5}).how, ending::done);
  EXPECT_EQ(timed({milliseconds{5}, done()}, milliseconds{5}).how, ending::done) << "just in time";
  const outcome gave_up =
      timed({milliseconds{5}, give_up(make_error_code(errc::reducer_failed))}, milliseconds{5});
  EXPECT_EQ(gave_up.how, ending::give_up);
  EXPECT_EQ(gave_up.code, errc::reducer_failed);
}

TEST(timed_reducer, says_retry_where_a_call_took_longer_whatever_it_ended_in) {
  const auto late = milliseconds{5} + std::chrono::nanoseconds{1};
  for (const outcome& said : {done(), give_up(make_error_code(errc::reducer_failed)),
                              stop(make_error_code(errc::reducer_failed))}) {
    const outcome got = timed({late, said}, milliseconds{5});
    EXPECT_EQ(got.how, ending::retry);
    EXPECT_EQ(got.code, errc::reducer_slow);
  }
}

struct throwing_reducer {
  static constexpr reducer_traits traits{.name = "throwing"};
  outcome apply(const event&, state&, effects&) const { throw std::runtime_error{"no"}; }
};

TEST(timed_reducer, lets_an_exception_through) {
  state s;
  effects fx;
  const reducer r = with_time_limit(throwing_reducer{}, milliseconds{5});
  EXPECT_THROW((void)r.apply(event{}, s, fx), std::runtime_error);
}

TEST(timed_reducer, has_the_traits_of_the_one_it_wraps) {
  const reducer r = with_time_limit(slow_reducer{}, milliseconds{5});
  EXPECT_EQ(r.traits().name, "slow");
  EXPECT_EQ(r.traits().version, 7U);
  EXPECT_TRUE(r.traits().full_state);
  EXPECT_FALSE(r.traits().has_effects);
}

struct sleeping_reducer {
  static constexpr reducer_traits traits{.name = "sleeping"};
  outcome apply(const event&, state&, effects&) const {
    std::this_thread::sleep_for(milliseconds{2});
    return done();
  }
};

TEST(timed_reducer, measures_by_a_real_clock) {
  state s;
  effects fx;
  EXPECT_EQ(with_time_limit(sleeping_reducer{}, milliseconds{1}).apply(event{}, s, fx).how, ending::retry);
  EXPECT_EQ(with_time_limit(replace_reducer{}, std::chrono::minutes{10}).apply(event{}, s, fx).how,
            ending::done);
}

}  // namespace
}  // namespace ratchet
