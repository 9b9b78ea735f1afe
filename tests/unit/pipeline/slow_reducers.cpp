// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// A reducer that takes long: steps become shorter, so that it is seen that the program is alive, and a stop
// is heard.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <vector>

#include "pipeline/pipeline.hpp"
#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// What the calls of a reducer are told, and tell.
struct calls_made {
  fake_clock* clock{nullptr};
  milliseconds takes{3};  ///< each of them
  int quick{0};           ///< so many first ones take no time
  int count{0};
  std::atomic<bool>* stop{nullptr};  ///< set by the 1,500th
  bool fails{false};
  bool gives_up{false};
};

struct slow {
  static constexpr reducer_traits traits{
      .name = "slow", .version = 1, .full_state = true, .has_effects = false};
  calls_made* calls;
  outcome apply(const ratchet::event& e, state& s, effects&) const {
    if (calls->quick > 0) {
      --calls->quick;
    } else {
      calls->clock->advance(calls->takes);
    }
    if (++calls->count == 1'500 && calls->stop != nullptr) *calls->stop = true;
    if (calls->gives_up) return give_up(make_error_code(errc::reducer_failed));
    if (calls->fails) return retry(make_error_code(errc::reducer_failed));
    s.assign(e.payload);
    return done();
  }
};

class slow_reducers : public ::testing::Test {
 protected:
  void make(order in = order::latest, handling how = handling::direct) {
    settings_.streams = {payments()};
    settings_.streams[0].handling = how;
    settings_.streams[0].order = in;
    settings_.streams[0].waiting.events = 1'000'000;
    auto made = make_streams(settings_, reducers{}.add("payments", slow{&calls_}));
    streams_ = std::move(*made);
    tasks_ = make_tasks(streams_);
    ASSERT_TRUE(load_tasks(streams_, tasks_, store_));
  }
  [[nodiscard]] std::uint64_t applied() const { return tasks_[0]->state.counters.applied; }
  void work_off(pipeline& p) {
    while (p.has_deferred()) ASSERT_TRUE(p.resume_waiting());
  }
  void take(pipeline& p, int aggregates, int from, int to) {
    auto made = std::make_unique<fake_batch>();
    for (int n = from; n <= to; ++n) {
      for (int a = 0; a < aggregates; ++a)
        made->add(&k_p0, {next_offset_++, event("a" + std::to_string(a), n), {}});
    }
    decode_stage stage{streams_};
    decoded_input input;
    stage.run(std::move(made), input);
    ASSERT_TRUE(p.handle(input));
  }
  /// Notes how long no step had ended, each time that one has.
  void watch(pipeline& p) {
    last_ = clock_.steady();
    p.between_steps([this] {
      waits_.push_back(clock_.steady() - last_);
      last_ = clock_.steady();
      return goes_on_;
    });
  }

  journal calls_made_;
  config settings_;
  fake_clock clock_;
  watched_store store_{calls_made_, {"payments"}, k_own_uuid};
  stream_list streams_;
  task_list tasks_;
  std::int64_t next_offset_{0};
  calls_made calls_{&clock_};
  bool goes_on_{true};
  std::chrono::steady_clock::time_point last_;
  std::vector<std::chrono::nanoseconds> waits_;
};

TEST_F(slow_reducers, make_steps_of_about_a_second) {
  make();
  pipeline p{tasks_, store_, clock_};
  watch(p);
  take(p, 20'000, 1, 1);
  EXPECT_EQ(applied(), 20'000U);
  EXPECT_LE(calls_.count, 20'400) << "those that show how slow it is are made twice";
  ASSERT_GT(waits_.size(), 20U) << "sixty seconds of work";
  EXPECT_LE(waits_.front(), milliseconds{2'100}) << "nothing is known of it yet";
  EXPECT_LE(*std::max_element(waits_.begin() + 1, waits_.end()), seconds{1});
  EXPECT_LT(p.records_in_time(), 2'000U) << "and no more is read at once than takes a few seconds";

  calls_.takes = milliseconds{500};
  waits_.clear();
  last_ = clock_.steady();
  take(p, 2'000, 2, 2);
  ASSERT_GT(waits_.size(), 2U);
  EXPECT_LE(waits_.back(), milliseconds{500}) << "one at a time, where one takes that long";
}

TEST_F(slow_reducers, are_given_more_again_once_they_are_quick) {
  make();
  pipeline p{tasks_, store_, clock_};
  watch(p);
  take(p, 5'000, 1, 1);
  calls_.takes = milliseconds{0};
  take(p, 20'000, 2, 3);
  waits_.clear();
  take(p, 20'000, 4, 4);
  EXPECT_LE(waits_.size(), 1U);
  EXPECT_GE(p.records_in_time(), 20'000U);
}

TEST_F(slow_reducers, are_noticed_inside_of_a_step_that_was_to_be_long) {
  make();
  pipeline p{tasks_, store_, clock_};
  watch(p);
  calls_.takes = milliseconds{0};
  for (int n = 1; n <= 8; ++n) take(p, 5'000, n, n);
  ASSERT_GE(p.records_in_time(), 20'000U) << "it was quick so far";
  calls_.takes = milliseconds{500};
  calls_.quick = 2'000;
  waits_.clear();
  last_ = clock_.steady();
  take(p, 2'100, 9, 9);
  EXPECT_EQ(applied(), 8U * 5'000U + 2'100U);
  ASSERT_GT(waits_.size(), 40U);
  EXPECT_LE(*std::max_element(waits_.begin(), waits_.end()), seconds{18})
      << "so many calls between two looks at the clock, and made once more, where all of them are slow now";
}

TEST_F(slow_reducers, bound_what_was_deferred) {
  make(order::strict, handling::deferred);
  pipeline p{tasks_, store_, clock_};
  calls_.takes = milliseconds{0};
  for (int n = 1; n <= 40; ++n) {
    take(p, 500, n, n);
    work_off(p);
  }
  ASSERT_EQ(applied(), 20'000U);
  calls_.takes = milliseconds{3};
  std::chrono::nanoseconds longest{0};
  const auto work_until = [&](std::uint64_t all) {
    for (int turns = 0; applied() < all && turns < 10'000; ++turns) {
      const auto begin = clock_.steady();
      ASSERT_TRUE(p.resume_waiting());
      longest = std::max(longest, clock_.steady() - begin);
    }
    ASSERT_EQ(applied(), all);
  };
  take(p, 500, 41, 41);
  work_until(20'500);  // nothing more of an aggregate tells that there are others
  take(p, 500, 42, 80);
  work_until(40'000);
  EXPECT_EQ(calls_.count, 40'000) << "what was done in time stays";
  EXPECT_LE(longest, milliseconds{1'100});
}

TEST_F(slow_reducers, bound_what_an_operator_releases) {
  make(order::strict);
  pipeline p{tasks_, store_, clock_};
  watch(p);
  calls_.takes = milliseconds{0};
  take(p, 100, 2, 41);
  calls_.takes = milliseconds{3};
  waits_.clear();
  last_ = clock_.steady();
  std::vector<pipeline::decided> skip;
  for (int a = 0; a < 100; ++a) skip.push_back({"a" + std::to_string(a), waiting_verb::skip, seq(1)});
  ASSERT_TRUE(p.run_commands(*tasks_[0], skip));
  EXPECT_EQ(applied(), 4'000U);
  ASSERT_GT(waits_.size(), 8U);
  EXPECT_LE(*std::max_element(waits_.begin(), waits_.end()), milliseconds{2'200});
}

TEST_F(slow_reducers, bound_a_release_as_well) {
  make(order::strict);
  pipeline p{tasks_, store_, clock_};
  watch(p);
  calls_.takes = milliseconds{0};
  take(p, 200, 2, 41);
  ASSERT_EQ(calls_.count, 0) << "all of them wait for the first";
  calls_.takes = milliseconds{3};
  waits_.clear();
  last_ = clock_.steady();
  take(p, 200, 1, 1);
  EXPECT_EQ(tasks_[0]->state.counters.applied, 200U * 41U);
  ASSERT_GT(waits_.size(), 8U);
  // The first step releases until it has had its time, and is made again up to there.
  EXPECT_LE(*std::max_element(waits_.begin(), waits_.end()), milliseconds{3'300});
  const auto late = waits_.begin() + static_cast<std::ptrdiff_t>(waits_.size() / 2);
  EXPECT_LE(*std::max_element(late, waits_.end()), milliseconds{1'600});
}

TEST_F(slow_reducers, try_what_waits_above_a_dead_event_of_latest_when_it_is_due) {
  make();
  pipeline p{tasks_, store_, clock_};
  watch(p);
  calls_.takes = seconds{2};
  calls_.gives_up = true;
  take(p, 1, 1, 1);
  calls_.gives_up = false;
  calls_.fails = true;
  take(p, 1, 2, 2);
  ASSERT_EQ(tasks_[0]->state.counters.waiting_dead, 1U);
  ASSERT_EQ(tasks_[0]->state.counters.waiting_retrying, 1U);
  calls_.fails = false;
  clock_.advance(settings_.streams[0].retry.backoff * 2);
  ASSERT_TRUE(p.resume_waiting());
  EXPECT_EQ(applied(), 1U) << "a step may have one event of this reducer, and the dead one is none";
}

TEST_F(slow_reducers, and_quick_ones_try_all_that_is_due_of_latest) {
  make();
  pipeline p{tasks_, store_, clock_};
  watch(p);
  calls_.takes = milliseconds{0};
  calls_.fails = true;
  for (int n = 1; n <= 5; ++n) take(p, 1'100, n, n);
  ASSERT_EQ(tasks_[0]->state.counters.waiting_retrying, 5'500U);
  const int before = calls_.count;
  clock_.advance(settings_.streams[0].retry.backoff * 2);
  for (int turn = 0; turn < 20; ++turn) ASSERT_TRUE(p.resume_waiting());
  EXPECT_EQ(calls_.count - before, 5'500) << "each of them once, whatever else is due";
}

TEST_F(slow_reducers, leave_the_rest_of_a_batch_where_it_is_to_stop) {
  make();
  pipeline p{tasks_, store_, clock_};
  watch(p);
  goes_on_ = false;
  take(p, 20'000, 1, 1);
  const std::int64_t handled = tasks_[0]->state.partitions.at(k_p0).next_offset;
  EXPECT_EQ(handled, static_cast<std::int64_t>(applied()));
  EXPECT_EQ(waits_.size(), 1U);
  EXPECT_LT(handled, 20'000);
  goes_on_ = true;
  take(p, 10, 2, 2);
  EXPECT_EQ(tasks_[0]->state.partitions.at(k_p0).next_offset, handled)
      << "what comes behind it may not be handled before it";
}

TEST(slow_reducers_in_a_session, do_not_put_off_the_end_and_nothing_is_lost) {
  calls_made calls;
  session_world w{{payments()}, reducers{}.add("payments", slow{&calls})};
  calls.clock = &w.clock;
  calls.takes = milliseconds{5};
  calls.stop = &w.stop;
  w.settings.step_records = 20'000;
  for (int n = 0; n < 20'000; ++n) w.source.produce(k_p0, event("a" + std::to_string(n), 1));
  const auto begin = w.clock.steady();
  EXPECT_EQ(w.run().end, session_end::drained);
  EXPECT_LE(w.clock.steady() - begin, seconds{20}) << "not a hundred";
  EXPECT_GT(calls.count, 0);
  EXPECT_LT(calls.count, 20'000);
  EXPECT_EQ(w.source.logs[k_p0].committed, static_cast<std::int64_t>(w.counted().applied))
      << "what was handled is committed, and nothing else";

  w.stop = false;
  int polls = 0;
  w.source.on_poll = [&polls](int) { ++polls; };
  EXPECT_EQ(w.run().end, session_end::drained);
  EXPECT_GT(polls, 20) << "between two polls the group waits: a slow reducer is given few records at once";
  EXPECT_EQ(w.counted().applied, 20'000U);
}

}  // namespace
}  // namespace ratchet::testing
