// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "pipeline/posted_transactions.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "decode/event_id_text.hpp"
#include "ratchet/error.hpp"

namespace ratchet::testing {
namespace {

using namespace std::chrono_literals;

/// The test is the owner.
struct posted : ::testing::Test {
  posted_transactions::ticket_ptr post(posted_transactions& to, const std::string& key) const {
    return to.post({0, "a", *hash_opaque_id(key), std::nullopt, &function});
  }
  static std::error_code told(posted_transactions& of, const posted_transactions::ticket_ptr& t) {
    return of.wait(t, 0ms).code;
  }
  const transaction_function function = [](state&, effects&) { return done(); };
};

TEST_F(posted, transactions_are_refused_by_name_while_there_is_no_room) {
  posted_transactions two{2};
  two.open();
  const auto first = post(two, "1");
  const auto second = post(two, "2");
  const auto third = post(two, "3");
  ASSERT_TRUE(two.is_answered(third)) << "at once";
  const transaction_answer refused = two.wait(third, 1min);
  EXPECT_EQ(refused.code, errc::held_back);
  EXPECT_NE(refused.text.find("2 transactions wait"), std::string::npos) << refused.text;

  const auto taken = two.take(1);
  EXPECT_EQ(told(two, post(two, "3")), errc::held_back) << "one is under way, one waits";
  two.written(taken, std::vector<transaction_answer>(1), 7);
  EXPECT_EQ(told(two, post(two, "3")), errc::held_back) << "it is not durable";
  two.answer(7);
  const auto fits = post(two, "3");
  EXPECT_FALSE(two.is_answered(fits));
  EXPECT_FALSE(told(two, first));
  EXPECT_EQ(two.take(10).size(), 2U);
}

TEST_F(posted, transactions_make_room_when_they_are_refused_put_back_or_given_up) {
  posted_transactions one{1};
  one.open();
  const auto first = post(one, "1");
  one.refuse(one.take(1), make_error_code(errc::held_back), "full disk");
  EXPECT_EQ(told(one, first), errc::held_back);
  const auto second = post(one, "2");
  ASSERT_FALSE(one.is_answered(second));
  one.put_back(one.take(1));
  EXPECT_EQ(told(one, post(one, "3")), errc::held_back) << "it waits again";
  EXPECT_EQ(told(one, second), errc::timed_out);
  EXPECT_FALSE(one.is_answered(post(one, "4")));
}

TEST_F(posted, transactions_of_a_lost_store_keep_their_places) {
  posted_transactions two{2};
  two.open();
  const auto first = post(two, "1");
  two.written(two.take(1), std::vector<transaction_answer>(1), 7);
  two.store_lost();
  const auto second = post(two, "2");
  ASSERT_FALSE(two.is_answered(second));
  EXPECT_EQ(told(two, post(two, "3")), errc::held_back);
  const auto taken = two.take(10);
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken.front(), first) << "it goes first";
}

TEST_F(posted, transactions_that_wait_when_the_run_ends_are_told) {
  posted_transactions box;
  EXPECT_EQ(told(box, post(box, "0")), errc::not_running);
  box.open();
  EXPECT_TRUE(box.is_owner());
  const auto written = post(box, "1");
  const auto waits = post(box, "2");
  box.written(box.take(1), std::vector<transaction_answer>(1), 7);
  std::error_code code;
  std::thread caller{[&] {
    code = box.run({0, "a", *hash_opaque_id("3"), std::nullopt, &function}, 1min).code;
  }};
  box.close();  // whether the caller has posted yet or not
  caller.join();
  EXPECT_EQ(code, errc::not_running);
  EXPECT_EQ(told(box, waits), errc::not_running);
  EXPECT_EQ(told(box, written), errc::not_running);
  EXPECT_FALSE(box.awaits_sync());
  EXPECT_FALSE(box.is_owner());
}

TEST_F(posted, transactions_wake_the_owner_for_the_next_turn_alone) {
  posted_transactions box;
  int woken = 0;
  box.open();
  box.on_post([&] { ++woken; });
  for (int i = 0; i < 3; ++i) static_cast<void>(post(box, std::to_string(i)));
  EXPECT_EQ(woken, 1);
  static_cast<void>(box.take(2));
  EXPECT_EQ(woken, 2) << "one is left";
  static_cast<void>(box.take(2));
  EXPECT_EQ(woken, 2);
}

/// Of many callers each is answered once: done, refused for want of room, or timed out.
TEST_F(posted, transactions_of_many_threads_are_answered_once_each) {
  constexpr int k_threads = 8;
  constexpr int k_each = 200;
  posted_transactions small{5};
  std::atomic<bool> is_open{false};
  std::atomic<bool> over{false};
  std::atomic<int> answered{0};
  std::atomic<int> others{0};
  std::thread owner{[&] {
    small.open();
    is_open = true;
    std::uint64_t step = 0;
    while (!over) {
      const auto taken = small.take(3);
      ++step;
      small.written(taken, std::vector<transaction_answer>(taken.size()), step);
      small.answer(step - 1);
    }
    small.close();
  }};
  while (!is_open) std::this_thread::yield();
  std::vector<std::thread> callers;
  for (int i = 0; i < k_threads; ++i) {
    callers.emplace_back([&, i] {
      for (int n = 0; n < k_each; ++n) {
        const auto id = *hash_opaque_id(std::to_string(i) + "-" + std::to_string(n));
        const auto timeout = n % 10 == 0 ? 0ms : std::chrono::milliseconds{1min};
        const std::error_code code = small.run({0, "a", id, std::nullopt, &function}, timeout).code;
        if (!code) ++answered;
        if (code == errc::held_back || code == errc::timed_out) ++others;
      }
    });
  }
  for (std::thread& t : callers) t.join();
  over = true;
  owner.join();
  EXPECT_EQ(answered + others, k_threads * k_each);
  EXPECT_GT(answered, 0);
}

}  // namespace
}  // namespace ratchet::testing
