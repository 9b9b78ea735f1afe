// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// A wall clock that is set back: what waits for a time that it had said is not put off by as much.
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "pipeline/pipeline.hpp"
#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

/// Fails until it is told that what it needs is up again.
struct needy {
  static constexpr reducer_traits traits{.name = "needy", .version = 1};
  const bool* is_up;
  int* calls;
  outcome apply(const ratchet::event& e, state& s, effects&) const {
    ++*calls;
    if (!*is_up) return retry(make_error_code(errc::reducer_failed));
    s.assign(e.payload);
    return done();
  }
};

class a_clock_that_is_set_back : public ::testing::Test {
 protected:
  void make(order in, handling how = handling::direct) {
    settings_.streams = {payments()};
    settings_.streams[0].order = in;
    settings_.streams[0].handling = how;
    settings_.streams[0].retry = {.attempts = 1000, .backoff = seconds{1}, .most = seconds{30}};
    auto made = make_streams(settings_, reducers{}.add("payments", needy{&is_up_, &calls_}));
    ASSERT_TRUE(made) << to_text(made.error());
    streams_ = std::move(*made);
    tasks_ = make_tasks(streams_);
    ASSERT_TRUE(load_tasks(streams_, tasks_, store_));
  }
  void take(pipeline& p, int aggregate, int number) {
    auto made = std::make_unique<fake_batch>();
    made->add(&k_p0, {next_offset_++, event("a" + std::to_string(aggregate), number), {}});
    decode_stage stage{streams_};
    decoded_input input;
    stage.run(std::move(made), input);
    ASSERT_TRUE(p.handle(input));
  }
  void pass(pipeline& p, seconds time) {
    for (seconds passed{0}; passed < time; ++passed) {
      clock_.advance(seconds{1});
      ASSERT_TRUE(p.resume_waiting());
    }
  }
  [[nodiscard]] std::uint64_t applied() const { return tasks_[0]->state.counters.applied; }

  journal journal_;
  config settings_;
  fake_clock clock_;
  watched_store store_{journal_, {"payments"}, k_own_uuid};
  stream_list streams_;
  task_list tasks_;
  std::int64_t next_offset_{0};
  bool is_up_{false};
  int calls_{0};
};

class retries : public a_clock_that_is_set_back, public ::testing::WithParamInterface<order> {};

TEST_P(retries, are_put_off_by_no_more_than_a_look_and_a_pause) {
  make(GetParam());
  pipeline p{tasks_, store_, clock_};
  take(p, 1, 1);
  pass(p, seconds{20});
  clock_.set_back(hours{5});
  take(p, 2, 1);  // of those that fail from now on the times are near
  pass(p, seconds{20});
  is_up_ = true;
  pass(p, minutes{1} + seconds{31});
  EXPECT_EQ(applied(), 2U);
}

INSTANTIATE_TEST_SUITE_P(of_a_clock_that_is_set_back, retries,
                         ::testing::Values(order::strict, order::latest),
                         [](const auto& in) { return std::string{name_of(in.param)}; });

TEST_F(a_clock_that_is_set_back, puts_nothing_off_that_was_deferred) {
  make(order::strict, handling::deferred);
  pipeline p{tasks_, store_, clock_};
  is_up_ = true;
  take(p, 1, 1);
  clock_.set_back(hours{5});
  ASSERT_TRUE(p.resume_waiting());
  ASSERT_TRUE(p.resume_waiting());
  EXPECT_EQ(applied(), 1U) << "nothing else is nearer, so that it is seen at once";
  EXPECT_FALSE(p.has_deferred());
  clock_.set_back(-hours{5});
  take(p, 1, 2);
  clock_.set_back(hours{5});
  take(p, 2, 1);
  pass(p, minutes{1} + seconds{1});
  EXPECT_EQ(applied(), 3U);
}

TEST_F(a_clock_that_is_set_back, is_set_back_while_nothing_runs) {
  make(order::strict);
  {
    pipeline p{tasks_, store_, clock_};
    for (int a = 0; a < 3'000; ++a) take(p, a, 1);
  }
  clock_.set_back(hours{24 * 300});
  is_up_ = true;
  ASSERT_TRUE(load_tasks(streams_, tasks_, store_));  // as at a start
  pipeline p{tasks_, store_, clock_};
  pass(p, seconds{5});
  EXPECT_EQ(applied(), 3'000U);
}

TEST_F(a_clock_that_is_set_back, has_each_event_tried_once_more_and_then_at_its_pace) {
  make(order::strict);
  pipeline p{tasks_, store_, clock_};
  take(p, 1, 1);
  clock_.set_back(hours{5});
  pass(p, minutes{10});
  EXPECT_GE(calls_, 10 * 60 / 30);
  EXPECT_LE(calls_, 10 * 60 / 15 + 10) << "its pauses are as long as ever";
}

}  // namespace
}  // namespace ratchet::testing
