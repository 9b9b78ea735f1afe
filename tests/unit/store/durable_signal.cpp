// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "ports/wait_until_durable.hpp"
#include "support/store_support.hpp"

namespace ratchet {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto k_long = 60s;

struct who_waits_for_a_step : store_support::fixture {};

TEST_F(who_waits_for_a_step, is_told_by_the_sync_however_many_wait) {
  auto s = open();
  (void)write(*s, s->id_of("payments"), {{"p1", {0, 1}, "x"}});
  const std::uint64_t step = s->last_step();
  std::atomic<int> told{0};
  std::vector<std::thread> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back([&] {
      if (wait_until_durable(*s, step, steady_clock::now() + k_long)) ++told;
    });
  }
  for (std::thread& t : all) t.join();
  EXPECT_EQ(told, 4);
  EXPECT_GE(s->durable_step(), step);
}

TEST_F(who_waits_for_a_step, that_does_not_come_waits_until_it_is_stopped_or_late) {
  auto s = open();
  const std::uint64_t never = s->last_step() + 1;
  EXPECT_FALSE(wait_until_durable(*s, never, steady_clock::now() + 20ms));
  std::stop_source stop;
  std::atomic<bool> reached{true};
  std::thread waits{
      [&] { reached = wait_until_durable(*s, never, steady_clock::now() + k_long, stop.get_token()); }};
  stop.request_stop();
  waits.join();
  EXPECT_FALSE(reached);
}

TEST(a_durable_signal, wakes_whoever_waits_for_it) {
  durable_signal signal;
  std::atomic<bool> waits{false};
  std::atomic<int> step{0};
  std::atomic<bool> reached{false};
  std::thread waiting{[&] {
    // Without the word of moved() it would sleep for an hour.
    reached = signal.wait(steady_clock::now() + 1h, {}, [&] {
      waits = true;
      return step == 1;
    });
  }};
  while (!waits) std::this_thread::yield();
  step = 1;
  signal.moved();
  waiting.join();
  EXPECT_TRUE(reached);
}

TEST(a_durable_signal, tells_all_who_subscribed_until_they_end) {
  durable_signal signal;
  int first = 0;
  int second = 0;
  auto one = signal.on_move([&] { ++first; });
  {
    const auto other = signal.on_move([&] { ++second; });
    signal.moved();
  }
  signal.moved();
  EXPECT_EQ(first, 2);
  EXPECT_EQ(second, 1);
  auto moved_on = std::move(one);
  signal.moved();
  moved_on.end();
  signal.moved();
  EXPECT_EQ(first, 3);
}

}  // namespace
}  // namespace ratchet
