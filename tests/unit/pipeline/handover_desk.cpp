// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "pipeline/handover_desk.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

namespace ratchet {
namespace {

using std::chrono::milliseconds;

void wait_until_asked(const handover_desk& desk) {
  while (!desk.is_asked()) std::this_thread::sleep_for(milliseconds{1});
}

struct handover_desk_test : ::testing::Test {
  std::future<reported<handed_over>> ask() {
    auto asked = std::async(std::launch::async, [this] { return desk.ask([this] { return stays.load(); }); });
    wait_until_asked(desk);
    return asked;
  }
  std::atomic<bool> stays{true};
  handover_desk desk;
};

TEST_F(handover_desk_test, who_asks_hears_what_came_of_it) {
  auto asked = ask();
  desk.begin();
  EXPECT_FALSE(desk.is_asked()) << "it is under way";
  desk.answer(handed_over{"b", milliseconds{7}});
  EXPECT_EQ(asked.get().value(), (handed_over{"b", milliseconds{7}}));
  auto again = ask();
  desk.answer(problem{errc::source_unavailable, "no", "", {}});
  EXPECT_EQ(again.get().error().message, "no");
}

TEST_F(handover_desk_test, a_second_one_is_refused_while_the_first_is_under_way) {
  auto asked = ask();
  desk.begin();
  EXPECT_EQ(desk.ask({}).error().code, make_error_code(errc::source_unavailable));
  desk.answer(handed_over{"b", {}});
  EXPECT_TRUE(asked.get());
}

TEST_F(handover_desk_test, it_goes_on_where_who_asked_is_gone) {
  auto asked = ask();
  desk.begin();
  stays = false;
  EXPECT_EQ(asked.get().error().code, make_error_code(errc::timed_out));
  stays = true;
  EXPECT_EQ(desk.ask({}).error().code, make_error_code(errc::source_unavailable));
  desk.answer(handed_over{"b", {}});
  auto next = ask();
  desk.answer(handed_over{"c", {}});
  EXPECT_EQ(next.get().value().to, "c") << "the answer to the one before is no answer to this one";
}

TEST_F(handover_desk_test, an_answer_that_nobody_asked_for_goes) {
  desk.answer(handed_over{"b", {}});
  auto asked = ask();
  desk.answer(handed_over{"c", {}});
  EXPECT_EQ(asked.get().value().to, "c");
}

}  // namespace
}  // namespace ratchet
