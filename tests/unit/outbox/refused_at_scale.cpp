// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Many refused messages, and large ones: they hold up nothing but their own aggregates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "outbox/sink_sender.hpp"
#include "support/fake_publisher.hpp"
#include "unit/outbox/lane_world.hpp"

namespace ratchet::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using how = delivery::how;

/// Takes everything at once but what is of an aggregate that begins with "bad".
class choosy_publisher final : public publisher {
 public:
  [[nodiscard]] sending send(const output_row& row) override {
    if (ended_.size() >= room) return sending::full;
    ++sent;
    const bool bad = row.aggregate.starts_with("bad") && !mended;
    if (!bad && !came.insert(row.position).second) ++twice;
    ended_.push_back({.position = row.position, .ended = bad ? how::refused : how::done, .text = "422"});
    return sending::taken;
  }
  [[nodiscard]] std::vector<delivery> delivered() override { return std::exchange(ended_, {}); }
  void wait(milliseconds) override {}
  void on_progress(std::function<void()>) override {}

  std::size_t room{1'000'000};
  bool mended{false};
  std::size_t sent{0};
  std::set<std::uint64_t> came;
  std::size_t twice{0};

 private:
  std::vector<delivery> ended_;
};

struct many_refused : lane_world<sink_sender, choosy_publisher> {
  many_refused() : lane_world{"sink:receipts", "receipts"} { many_refused::restart(); }
  using lane_world::drain;
  void drain(milliseconds later) override {
    now_ += later;
    do {
      for (int i = 0; i < 4; ++i) ASSERT_TRUE(sender_->turn(now_));
      trim();
    } while (!sender_->is_drained());
  }
  void restart() override {
    sender_.emplace(sink_outlet{"receipts", &to_, milliseconds{500}, seconds{30}}, store_, silent_log());
  }
  [[nodiscard]] std::size_t refused_count() const override { return sender_->refused_count(); }
};

TEST_F(many_refused, messages_leave_room_however_large_they_are) {
  put(30, bad, std::string(900'000, 'x'));
  put(5, good);
  drain();
  EXPECT_EQ(to_.came.size(), 5U);
  EXPECT_EQ(sender_->refused_count(), 30U);
  EXPECT_TRUE(sender_->is_drained());
  EXPECT_FALSE(sender_->idle());
}

TEST_F(many_refused, messages_leave_room_however_many_there_are) {
  for (int i = 0; i < 5; ++i) put(5'000, bad);
  put(10, good);
  drain();
  EXPECT_EQ(to_.came.size(), 10U);
  EXPECT_EQ(sender_->refused_count(), 25'000U);
}

TEST_F(many_refused, or_one_alone_does_not_end_a_lane_that_goes_on) {
  put(1, bad);
  const std::uint64_t bytes = lane().bytes;
  for (int i = 0; i < 40; ++i) {
    put(5'000, good);
    drain();
  }
  EXPECT_EQ(to_.came.size(), 200'000U);
  EXPECT_EQ(lane(), (outbox_state{0, 200'001, bytes, 200'000})) << "what was delivered is not unsent";
  EXPECT_EQ(lane().rows(), 1U);
}

TEST_F(many_refused, of_a_hundred_each_are_all_that_is_left) {
  for (int i = 0; i < 100; ++i) {
    put(2'000, one_in_a_hundred_bad);
    drain(milliseconds{100});
  }
  EXPECT_EQ(to_.came.size(), 198'000U);
  EXPECT_EQ(lane().rows(), 2'000U);
  to_.mended = true;
  drain(sink_sender::k_longest_stuck_pause);
  EXPECT_EQ(to_.came.size(), 200'000U);
  EXPECT_EQ(to_.twice, 0U);
  EXPECT_EQ(lane(), (outbox_state{200'000, 200'000, 0}));
}

/// What a lane costs until `all` messages were tried, with trims every so often, as the owner has them.
struct lane_costs {
  std::size_t turns{0};
  std::size_t sent{0};
};

struct a_lane_with_refused_messages : many_refused {
  /// Of `all` messages; the clock goes on by 5 ms a turn.
  template <class Name>
  lane_costs run(std::size_t all, const Name& name, std::size_t restarts) {
    lane_costs costs;
    to_.room = 1'000;
    for (std::size_t n = 0; n < all; n += 10'000) {
      if (restarts > 0 && n > 0 && n % (all / (restarts + 1) / 10'000 * 10'000) == 0) {
        trim();  // what was delivered since the last one is sent again
        restart();
      }
      put(10'000, name);
      const std::size_t limit = costs.turns + 1'000;
      do {
        EXPECT_TRUE(sender_->turn(now_));
        now_ += milliseconds{5};
        if (++costs.turns % 20 == 0) trim();
      } while (!sender_->is_drained() && costs.turns < limit);
      EXPECT_LT(costs.turns, limit) << "it comes to rest";
    }
    trim();
    costs.sent = to_.sent;
    return costs;
  }
};

TEST_F(a_lane_with_refused_messages, takes_the_turns_of_one_without) {
  const std::size_t all = messages();
  const lane_costs with = run(all, one_in_a_hundred_bad, 0);
  EXPECT_EQ(to_.came.size(), all / 100 * 99);
  EXPECT_EQ(lane().rows(), all / 100);
  EXPECT_EQ(sender_->refused_count(), all / 100);
  // Each batch of 10,000 takes ten turns of 1,000 messages, and one that finds the last of them ended. What
  // is tried again has its pauses, and those double.
  EXPECT_LE(with.turns, all / 10'000 * 13);
  EXPECT_LE(with.sent, all + 3 * (all / 100)) << "a refused one is tried again three times in this time";
}

TEST_F(a_lane_with_refused_messages, and_none_is_what_it_is_measured_by) {
  const std::size_t all = messages();
  const lane_costs without = run(all, good, 0);
  EXPECT_EQ(without.sent, all);
  EXPECT_LE(without.turns, all / 10'000 * 12);
  EXPECT_GE(without.turns, all / 10'000 * 10);
}

TEST_F(a_lane_with_refused_messages, sends_the_others_once_over_restarts) {
  const std::size_t all = messages();
  (void)run(all, one_in_a_hundred_bad, 4);
  EXPECT_EQ(to_.twice, 0U);
  EXPECT_EQ(to_.came.size(), all / 100 * 99);
  EXPECT_EQ(lane().rows(), all / 100);
  to_.mended = true;
  restart();
  while (!sender_->idle()) {
    ASSERT_TRUE(sender_->turn(now_));
    now_ += milliseconds{5};
  }
  trim();
  EXPECT_EQ(to_.twice, 0U);
  EXPECT_EQ(to_.came.size(), all);
  EXPECT_EQ(lane(), (outbox_state{all, all, 0}));
}

TEST_F(many_refused, messages_do_not_make_a_restart_send_the_others_again) {
  expect_that_a_restart_sends_no_other_again();
}

TEST_F(many_refused, messages_can_be_skipped_with_holes_behind_them) {
  expect_that_all_can_be_skipped_with_holes_behind_them();
}

TEST_F(many_refused, messages_do_not_hide_one_that_is_lost) {
  expect_that_one_that_is_lost_is_seen();
}

TEST_F(many_refused, aggregates_keep_their_order_with_what_waits_behind) {
  put(1, bad);
  put(20'000, [](std::size_t) { return std::string{"bad0"}; });
  put(1, good);
  drain();
  EXPECT_EQ(to_.came.size(), 1U);
  to_.mended = true;
  now_ += sink_sender::k_stuck_pause;
  for (std::uint64_t n = 0; n < 20'000; ++n) {
    ASSERT_TRUE(sender_->turn(now_));
    ASSERT_TRUE(to_.came.contains(n) && !to_.came.contains(n + 1));
  }
  drain();
  EXPECT_TRUE(sender_->idle());
  EXPECT_EQ(lane(), (outbox_state{20'002, 20'002, 0}));
}

}  // namespace
}  // namespace ratchet::testing
