// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "pipeline/posted_tasks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "pipeline/pipeline.hpp"
#include "testing/memory_store.hpp"

namespace ratchet::testing {
namespace {

using namespace std::chrono_literals;

/// The test is the owner; where a task is waited for, another thread is.
struct tasks : ::testing::Test {
  void turn(bool may_change = true) { box.run_next({store, way, {}, may_change}); }
  posted_tasks::task note(int what) {
    return [this, what](posted_tasks::access) { ran.push_back(what); };
  }
  /// Posts a decision on a thread of its own; returns once it waits.
  std::thread decide(int what, task_end& end) {
    std::atomic<bool> waits{false};
    std::thread asker{[&, this] {
      end = box.decide(note(what), {1min, 1min}, [&waits] {
        waits = true;
        return true;
      });
    }};
    while (!waits) std::this_thread::yield();
    return asker;
  }

  posted_tasks box;
  std::vector<int> ran;
  memory_store store{{}};
  task_list none;
  const system_clock_port clock{};
  pipeline way{none, store, clock};
};

TEST_F(tasks, are_run_one_a_turn_in_the_order_in_which_they_were_posted) {
  box.open();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(box.post(note(i)));
  turn();
  EXPECT_EQ(ran, (std::vector{0})) << "records have the next turn";
  turn();
  turn();
  turn();
  EXPECT_EQ(ran, (std::vector{0, 1, 2}));
}

TEST_F(tasks, have_no_owner_before_it_is_open_nor_after_it_was_closed) {
  EXPECT_FALSE(box.post(note(0)));
  EXPECT_EQ(box.run(note(0), 1min), task_end::closed);
  EXPECT_EQ(box.decide(note(0), {1min, 1min}, {}), task_end::closed);
  box.open();
  box.close();
  EXPECT_EQ(box.run(note(0), 1min), task_end::closed);
  turn();
  EXPECT_TRUE(ran.empty());
}

TEST_F(tasks, are_refused_while_there_is_no_room_and_taken_again_after_a_turn) {
  posted_tasks two{2};
  two.open();
  ASSERT_TRUE(two.post(note(0)));
  ASSERT_TRUE(two.post(note(1)));
  EXPECT_FALSE(two.post(note(2)));
  EXPECT_EQ(two.run(note(2), 1min), task_end::full);
  EXPECT_EQ(two.decide(note(2), {1min, 1min}, {}), task_end::full);
  EXPECT_EQ(decision_not_made(task_end::full).code, errc::held_back);
  two.run_next({store, way});
  EXPECT_TRUE(two.post(note(3)));
  for (int i = 0; i < 3; ++i) two.run_next({store, way});
  EXPECT_EQ(ran, (std::vector{0, 1, 3}));
}

TEST_F(tasks, are_taken_back_where_the_owner_does_not_come_in_time) {
  box.open();
  EXPECT_EQ(box.run(note(0), 1ms), task_end::busy);
  turn();
  EXPECT_TRUE(ran.empty()) << "the asker has gone";
  EXPECT_EQ(box.decide(note(1), {1min, 1ms}, {}), task_end::busy) << "it may, and does not come";
  turn();
  EXPECT_TRUE(ran.empty());
}

TEST_F(tasks, that_change_the_state_wait_for_the_claim_and_let_others_pass) {
  box.open();
  task_end end = task_end::closed;
  std::thread asker = decide(0, end);
  ASSERT_TRUE(box.post(note(1)));
  turn(false);
  turn(false);
  EXPECT_EQ(ran, (std::vector{1}));
  turn(true);
  asker.join();
  EXPECT_EQ(end, task_end::done);
  EXPECT_EQ(ran, (std::vector{1, 0}));
}

TEST_F(tasks, that_wait_when_the_session_ends_are_sent_away_and_never_run) {
  box.open();
  task_end first = task_end::done;
  task_end second = task_end::done;
  std::thread one = decide(0, first);
  std::thread two = decide(1, second);
  ASSERT_TRUE(box.post(note(2)));
  box.close();
  one.join();
  two.join();
  EXPECT_EQ(first, task_end::closed);
  EXPECT_EQ(second, task_end::closed);
  box.open();
  turn();
  EXPECT_TRUE(ran.empty());
}

/// The task borrows from the asker's frame.
TEST_F(tasks, that_run_when_the_askers_patience_ends_are_waited_for) {
  box.open();
  std::atomic<bool> over{false};
  std::thread owner{[&] {
    while (!over) turn();
  }};
  bool has_ended = false;
  task_end end = task_end::busy;
  while (end == task_end::busy) {
    end = box.run(
        [&](posted_tasks::access) {
          std::this_thread::sleep_for(20ms);
          has_ended = true;
        },
        1ms);
  }
  over = true;
  owner.join();
  EXPECT_EQ(end, task_end::done);
  EXPECT_TRUE(has_ended);
}

TEST_F(tasks, that_throw_are_done_and_the_owner_has_the_exception) {
  box.open();
  ASSERT_TRUE(box.post([](posted_tasks::access) { throw std::runtime_error{"no memory"}; }));
  ASSERT_TRUE(box.post(note(1)));
  EXPECT_THROW(turn(), std::runtime_error);
  turn();
  EXPECT_EQ(ran, (std::vector{1}));
}

TEST_F(tasks, wake_the_owner_for_the_next_one_alone) {
  int woken = 0;
  box.open();
  box.on_post([&] { ++woken; });
  ASSERT_TRUE(box.post(note(0)));
  ASSERT_TRUE(box.post(note(1)));
  EXPECT_EQ(woken, 1) << "the second one has to wait anyhow";
  turn();
  EXPECT_EQ(woken, 2) << "the next turn is its";
  turn();
  EXPECT_EQ(woken, 2);
  box.on_post({});
  ASSERT_TRUE(box.post(note(2)));
  EXPECT_EQ(woken, 2);
}

TEST_F(tasks, wait_for_their_claim_without_waking_the_owner) {
  std::atomic<int> woken{0};
  box.open();
  turn(false);
  box.on_post([&] { ++woken; });
  task_end end = task_end::closed;
  std::thread asker = decide(0, end);
  EXPECT_EQ(woken, 0);
  turn(true);
  asker.join();
  EXPECT_EQ(end, task_end::done);
}

/// Every task ends in exactly one way, and those that are done have run once.
TEST_F(tasks, of_many_threads_run_once_each_or_not_at_all) {
  constexpr int k_threads = 8;
  constexpr int k_each = 200;
  posted_tasks small{3};
  small.open();
  std::atomic<bool> over{false};
  std::atomic<int> runs{0};
  std::atomic<int> done{0};
  std::atomic<int> full{0};
  std::thread owner{[&] {
    bool may_change = false;
    while (!over) small.run_next({store, way, {}, may_change = !may_change});
  }};
  std::vector<std::thread> askers;
  for (int i = 0; i < k_threads; ++i) {
    askers.emplace_back([&, i] {
      for (int n = 0; n < k_each; ++n) {
        const auto count = [&](posted_tasks::access) { ++runs; };
        const task_end end = i % 2 == 0 ? small.run(count, 1min) : small.decide(count, {1min, 1min}, {});
        if (end == task_end::done) ++done;
        if (end == task_end::full) ++full;
      }
    });
  }
  for (std::thread& t : askers) t.join();
  over = true;
  owner.join();
  EXPECT_EQ(runs, done);
  EXPECT_EQ(done + full, k_threads * k_each);
}

}  // namespace
}  // namespace ratchet::testing
