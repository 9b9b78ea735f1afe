// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Decisions of operators that come before the instance has claimed its group, as from a script right behind
// its start.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "control/sink_request.hpp"
#include "control/waiting_request.hpp"
#include "pipeline/posted_tasks.hpp"
#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr milliseconds k_no_time{1};
constexpr std::chrono::minutes k_long{1};

/// An owner that comes by all the time, and may change the state once `claimed` is set.
class before_the_claim : public ::testing::Test {
 protected:
  before_the_claim() {
    tasks_.open();
    owner_ = std::thread{[this] {
      while (!stop_) {
        tasks_.run_next({store_, way_, {}, claimed_});
        ++turns_;
      }
    }};
  }
  ~before_the_claim() override {
    stop_ = true;
    owner_.join();
  }
  /// Lets the owner come by often enough to have refused whoever waits for nothing.
  void let_owner_turn() {
    constexpr int k_turns = 1000;
    for (const int until = turns_ + k_turns; turns_ < until;) std::this_thread::yield();
  }
  static bool keep(std::string_view) { return true; }

  journal calls_;
  watched_store store_{calls_, {"payments"}, k_own_uuid};
  fake_clock clock_;
  task_list none_;
  pipeline way_{none_, store_, clock_};
  posted_tasks tasks_;
  std::atomic<bool> claimed_{false};
  std::atomic<bool> stop_{false};
  std::atomic<int> turns_{0};
  std::thread owner_;
};

TEST_F(before_the_claim, a_decision_whose_patience_ends_is_not_made_and_says_so) {
  const decision_patience soon_over{k_no_time, k_long};
  const auto sink =
      sink_actor_of(tasks_, soon_over)({.verb = sink_verb::skip, .sink = {}, .act = true}, "alice", &keep);
  ASSERT_FALSE(sink);
  EXPECT_EQ(sink.error().code, errc::source_unavailable);
  EXPECT_THAT(sink.error().message, HasSubstr("no claim on its group yet"));
  const auto event = actor_of(tasks_, store_, soon_over)("payments", {}, {}, {});
  ASSERT_FALSE(event) << "nor does an event that waits get decided about";
  EXPECT_EQ(event.error().code, errc::source_unavailable);
  EXPECT_THAT(event.error().message, HasSubstr("no claim on its group yet"));
}

TEST_F(before_the_claim, a_decision_waits_for_it_and_is_made_then) {
  std::atomic<bool> was_claimed{false};
  task_end end = task_end::closed;
  std::thread asker{[&] {
    end = tasks_.decide([&](posted_tasks::access of) { was_claimed = of.may_change && claimed_; },
                        {k_long, k_long}, {});
  }};
  let_owner_turn();
  claimed_ = true;
  asker.join();
  EXPECT_EQ(end, task_end::done);
  EXPECT_TRUE(was_claimed);
}

TEST_F(before_the_claim, actors_of_events_and_of_sinks_wait) {
  reported<void> sink = BOOST_OUTCOME_V2_NAMESPACE::success();
  reported<std::vector<waiting_answer>> event = std::vector<waiting_answer>{};
  std::thread of_sink{[&] {
    sink = sink_actor_of(tasks_)({.verb = sink_verb::skip, .sink = "s", .act = true}, "alice", &keep);
  }};
  std::thread of_event{[&] { event = actor_of(tasks_, store_)("payments", {}, {}, {}); }};
  let_owner_turn();
  claimed_ = true;
  of_sink.join();
  of_event.join();
  // Their own words: it came to be looked at.
  ASSERT_FALSE(sink);
  EXPECT_THAT(sink.error().message, HasSubstr("no sink \"s\""));
  ASSERT_FALSE(event);
  EXPECT_THAT(event.error().message, HasSubstr("no stream `payments`"));
}

TEST_F(before_the_claim, others_are_run_while_a_decision_waits) {
  std::thread asker{[&] { (void)tasks_.decide([](posted_tasks::access) {}, {k_long, k_long}, {}); }};
  let_owner_turn();
  EXPECT_EQ(tasks_.run([](posted_tasks::access) {}, k_long), task_end::done) << "a checkpoint, a list";
  claimed_ = true;
  asker.join();
}

TEST_F(before_the_claim, what_nobody_waits_for_any_more_is_not_done) {
  bool done = false;
  std::atomic<int> asked{0};
  const task_end end = tasks_.decide([&](posted_tasks::access) { done = true; }, {k_long, k_long},
                                     [&] { return ++asked < 3; });
  EXPECT_EQ(end, task_end::unwanted);
  claimed_ = true;
  let_owner_turn();
  EXPECT_FALSE(done);
}

TEST_F(before_the_claim, the_end_of_the_run_ends_the_wait) {
  task_end end = task_end::done;
  std::thread asker{[&] { end = tasks_.decide([](posted_tasks::access) {}, {k_long, k_long}, {}); }};
  let_owner_turn();
  tasks_.close();
  asker.join();
  EXPECT_EQ(end, task_end::closed);
}

/// A new client has to claim anew: who asks in between waits again.
TEST_F(before_the_claim, one_that_is_lost_is_waited_for_again) {
  claimed_ = true;
  EXPECT_EQ(tasks_.decide([](posted_tasks::access) {}, {k_long, k_long}, {}), task_end::done);
  claimed_ = false;
  let_owner_turn();
  EXPECT_EQ(tasks_.decide([](posted_tasks::access) {}, {k_no_time, k_long}, {}), task_end::unclaimed);
}

TEST_F(before_the_claim, decisions_at_the_same_time_take_turns) {
  constexpr int k_askers = 8;
  std::atomic<int> done{0};
  std::vector<std::thread> askers;
  for (int i = 0; i < k_askers; ++i) {
    askers.emplace_back([&] {
      if (tasks_.decide([](posted_tasks::access) {}, {k_long, k_long}, {}) == task_end::done) ++done;
    });
  }
  let_owner_turn();
  claimed_ = true;
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(done, k_askers);
}

TEST(a_decision_that_is_made, is_waited_for_until_it_is_durable_or_the_asker_is_gone) {
  journal calls;
  watched_store store{calls, {"payments"}, k_own_uuid};
  store.holds_syncs = true;
  ASSERT_TRUE(store.write({.step = store.last_step() + 1, .parts = {}, .audits = {}}));
  fake_clock clock;
  config c;
  c.streams = {payments()};
  const auto streams = make_streams(c, {});
  ASSERT_TRUE(streams);
  task_list tasks = make_tasks(*streams);
  pipeline way{tasks, store, clock};
  posted_tasks owner;
  owner.open();
  constexpr int k_looks = 10;
  std::atomic<int> looks{0};
  std::atomic<bool> has_ended{false};
  reported<std::vector<waiting_answer>> answer = std::vector<waiting_answer>{};
  std::thread asker{[&] {
    answer = actor_of(owner, store)("payments", {}, {}, [&] { return ++looks < k_looks; });
    has_ended = true;
  }};
  while (!has_ended) owner.run_next({store, way, {}, true});
  asker.join();
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("not synced yet"));
  EXPECT_EQ(looks, k_looks) << "a server that is stopped would wait for it";
}

}  // namespace
}  // namespace ratchet::testing
