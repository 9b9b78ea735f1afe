// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Many refused messages, and large ones: they hold up nothing but their own aggregates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "app/memory_store.hpp"
#include "app/sink_sender.hpp"
#include "fake_publisher.hpp"

namespace ratchet::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using how = delivery::how;

/// Takes everything at once but what is of an aggregate that begins with "bad".
class choosy_publisher final : public publisher {
 public:
  [[nodiscard]] bool send(const output_row& row) override {
    const bool bad = row.aggregate.starts_with("bad") && !mended;
    if (!bad && !came.insert(row.position).second) ++twice;
    ended_.push_back({.position = row.position, .ended = bad ? how::refused : how::done, .text = "422"});
    return true;
  }
  [[nodiscard]] std::vector<delivery> delivered() override { return std::exchange(ended_, {}); }
  void wait(milliseconds) override {}
  void on_progress(std::function<void()>) override {}

  bool mended{false};
  std::set<std::uint64_t> came;
  std::size_t twice{0};

 private:
  std::vector<delivery> ended_;
};

struct many_refused : ::testing::Test {
  /// Of aggregates that `name` names, `count` messages.
  template <class Name>
  void put(std::size_t count, const Name& name, const std::string& value = "v") {
    step_batch batch;
    batch.step = store_.last_step() + 1;
    for (std::size_t i = 0; i < count; ++i) {
      output_row& row = batch.outbox.puts.emplace_back();
      row.kind = output_kind::published;
      row.topic = "sink:receipts";
      row.aggregate = name(put_++);
      row.value = value;
    }
    batch.outbox.number(store_.outboxes(), 7);
    write(batch);
    sender_->wrote(batch.step, lane().next);
  }
  void write(const step_batch& batch) {
    ASSERT_TRUE(store_.write(batch));
    ASSERT_TRUE(store_.sync());
  }
  void trim() {
    step_batch batch;
    batch.step = store_.last_step() + 1;
    batch.outbox = sender_->trim();
    if (batch.outbox.empty()) return;
    write(batch);
    sender_->trimmed();
  }
  /// Turns, and trims, until nothing more moves.
  void settle(milliseconds later = milliseconds{0}) {
    now_ += later;
    do {
      for (int i = 0; i < 4; ++i) ASSERT_TRUE(sender_->turn(now_));
      trim();
    } while (!sender_->settled());
  }
  void restart() {
    sender_.emplace(sink_outlet{"receipts", &to_, milliseconds{500}, seconds{30}}, store_, silent_log());
  }
  [[nodiscard]] outbox_state lane() const { return store_.outboxes().of("receipts"); }

  static std::string good(std::size_t i) { return "p" + std::to_string(i); }
  static std::string bad(std::size_t i) { return "bad" + std::to_string(i); }
  static std::string one_in_a_hundred_bad(std::size_t i) { return i % 100 == 0 ? bad(i) : good(i); }

  memory_store store_{{"s"}};
  choosy_publisher to_;
  sink_sender::time_point now_{std::chrono::hours{1}};
  std::size_t put_{0};
  std::optional<sink_sender> sender_{
      std::in_place, sink_outlet{"receipts", &to_, milliseconds{500}, seconds{30}}, store_, silent_log()};
};

TEST_F(many_refused, messages_leave_room_however_large_they_are) {
  put(30, bad, std::string(900'000, 'x'));
  put(5, good);
  settle();
  EXPECT_EQ(to_.came.size(), 5U);
  EXPECT_EQ(sender_->refused_count(), 30U);
  EXPECT_TRUE(sender_->settled());
  EXPECT_FALSE(sender_->idle());
}

TEST_F(many_refused, messages_leave_room_however_many_there_are) {
  for (int i = 0; i < 5; ++i) put(5'000, bad);
  put(10, good);
  settle();
  EXPECT_EQ(to_.came.size(), 10U);
  EXPECT_EQ(sender_->refused_count(), 25'000U);
}

TEST_F(many_refused, or_one_alone_does_not_end_a_lane_that_goes_on) {
  put(1, bad);
  const std::uint64_t bytes = lane().bytes;
  for (int i = 0; i < 40; ++i) {
    put(5'000, good);
    settle();
  }
  EXPECT_EQ(to_.came.size(), 200'000U);
  EXPECT_EQ(lane(), (outbox_state{0, 200'001, bytes, 200'000})) << "what was delivered is not unsent";
  EXPECT_EQ(lane().rows(), 1U);
}

TEST_F(many_refused, of_a_hundred_each_are_all_that_is_left) {
  for (int i = 0; i < 100; ++i) {
    put(2'000, one_in_a_hundred_bad);
    settle(milliseconds{100});
  }
  EXPECT_EQ(to_.came.size(), 198'000U);
  EXPECT_EQ(lane().rows(), 2'000U);
  to_.mended = true;
  settle(sink_sender::k_longest_stuck_pause);
  EXPECT_EQ(to_.came.size(), 200'000U);
  EXPECT_EQ(to_.twice, 0U);
  EXPECT_EQ(lane(), (outbox_state{200'000, 200'000, 0}));
}

TEST_F(many_refused, messages_do_not_make_a_restart_send_the_others_again) {
  put(1'000, one_in_a_hundred_bad);
  settle();
  for (int i = 0; i < 2; ++i) {
    restart();
    settle();
    EXPECT_EQ(to_.twice, 0U);
    EXPECT_EQ(sender_->refused_count(), 10U);
    put(10, good);
    settle();
    EXPECT_EQ(lane().rows(), 10U);
  }
  EXPECT_EQ(to_.came.size(), 1'010U);
  to_.mended = true;
  restart();
  settle();
  EXPECT_EQ(lane(), (outbox_state{1'020, 1'020, 0}));
  EXPECT_TRUE(sender_->idle());
}

TEST_F(many_refused, messages_can_be_skipped_with_holes_behind_them) {
  put(2, bad);
  put(3, good);
  settle();
  restart();
  settle();
  for (const std::uint64_t position : {1U, 0U}) {
    const auto skipped = sender_->skip(position);
    ASSERT_TRUE(skipped);
    step_batch batch;
    batch.step = store_.last_step() + 1;
    batch.outbox.skipped = *skipped;
    write(batch);
    sender_->skipped(*skipped);
    trim();
  }
  EXPECT_EQ(lane(), (outbox_state{5, 5, 0}));
}

TEST_F(many_refused, messages_do_not_hide_one_that_is_lost) {
  put(1, bad);
  put(3, good);
  settle();
  put(2, good);
  step_batch batch;
  batch.step = store_.last_step() + 1;
  batch.outbox.trimmed_lane = "receipts";
  batch.outbox.trimmed_behind = {{5, 6}};
  write(batch);
  EXPECT_EQ(sender_->turn(now_).error(), make_error_code(errc::state_damaged));
}

TEST_F(many_refused, aggregates_keep_their_order_with_what_waits_behind) {
  put(1, bad);
  put(20'000, [](std::size_t) { return std::string{"bad0"}; });
  put(1, good);
  settle();
  EXPECT_EQ(to_.came.size(), 1U);
  to_.mended = true;
  now_ += sink_sender::k_stuck_pause;
  for (std::uint64_t n = 0; n < 20'000; ++n) {
    ASSERT_TRUE(sender_->turn(now_));
    ASSERT_TRUE(to_.came.contains(n) && !to_.came.contains(n + 1));
  }
  settle();
  EXPECT_TRUE(sender_->idle());
  EXPECT_EQ(lane(), (outbox_state{20'002, 20'002, 0}));
}

}  // namespace
}  // namespace ratchet::testing
