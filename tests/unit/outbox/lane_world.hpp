// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "ports/publisher.hpp"
#include "testing/memory_store.hpp"

namespace ratchet::testing {

/// How many messages go through a lane that is counted; a million are for campaigns.
inline std::size_t messages() {
  const char* more = std::getenv("RATCHET_MESSAGES");  // NOLINT(concurrency-mt-unsafe)
  return more == nullptr ? 100'000 : std::stoul(more);
}

/// A lane of the outbox in memory, its sender, and a publisher that does not take what is of an aggregate
/// that begins with "bad" until it is `mended`, and keeps what `came`. What either sender promises is here.
template <class Sender, class Publisher>
class lane_world : public ::testing::Test {
 protected:
  /// `lane` is empty for Kafka's topics.
  lane_world(std::string topic, std::string lane) : topic_{std::move(topic)}, lane_{std::move(lane)} {}

  virtual void restart() = 0;
  [[nodiscard]] virtual std::size_t refused_count() const = 0;
  /// Turns, and trims, until nothing more moves.
  virtual void drain(std::chrono::milliseconds later) = 0;
  void drain() { drain(std::chrono::milliseconds{0}); }

  /// Of aggregates that `name` names, `count` messages.
  template <class Name>
  void put(std::size_t count, const Name& name, const std::string& value = "v") {
    put_sized(count, name, [&](std::size_t) { return value; });
  }
  /// `value` makes the bytes of each.
  template <class Name, class Value>
  void put_sized(std::size_t count, const Name& name, const Value& value) {
    step_batch batch;
    batch.step = store_.last_step() + 1;
    for (std::size_t i = 0; i < count; ++i) {
      output_row& row = batch.outbox.puts.emplace_back();
      row.kind = output_kind::published;
      row.topic = topic_;
      row.value = value(put_);
      row.aggregate = name(put_++);
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
  [[nodiscard]] outbox_state lane() const { return store_.outboxes().of(lane_); }

  static std::string good(std::size_t i) { return "p" + std::to_string(i); }
  static std::string bad(std::size_t i) { return "bad" + std::to_string(i); }
  static std::string one_in_a_hundred_bad(std::size_t i) { return i % 100 == 0 ? bad(i) : good(i); }

  void expect_that_a_restart_sends_no_other_again() {
    put(1'000, one_in_a_hundred_bad);
    drain();
    for (int i = 0; i < 2; ++i) {
      restart();
      drain();
      EXPECT_EQ(to_.twice, 0U);
      EXPECT_EQ(refused_count(), 10U);
      put(10, good);
      drain();
      EXPECT_EQ(lane().rows(), 10U);
    }
    EXPECT_EQ(to_.came.size(), 1'010U);
    to_.mended = true;
    restart();
    drain();
    EXPECT_EQ(lane(), (outbox_state{1'020, 1'020, 0}));
    EXPECT_TRUE(sender_->idle());
  }

  void expect_that_all_can_be_skipped_with_holes_behind_them() {
    put(2, bad);
    put(3, good);
    drain();
    restart();
    drain();
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

  void expect_that_one_that_is_lost_is_seen() {
    put(1, bad);
    put(3, good);
    drain();
    put(2, good);
    step_batch batch;
    batch.step = store_.last_step() + 1;
    batch.outbox.trimmed_lane = lane_;
    batch.outbox.trimmed_behind = {{5, 6}};
    write(batch);
    EXPECT_EQ(sender_->turn(now_).error(), make_error_code(errc::state_damaged));
  }

  std::string topic_;
  std::string lane_;
  memory_store store_{{"s"}};
  Publisher to_;
  std::chrono::steady_clock::time_point now_{std::chrono::hours{1}};
  std::size_t put_{0};
  std::optional<Sender> sender_;  ///< restart() makes it
};

}  // namespace ratchet::testing
