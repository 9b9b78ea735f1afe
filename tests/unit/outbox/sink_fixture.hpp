// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "outbox/sink_sender.hpp"
#include "support/fake_publisher.hpp"
#include "testing/memory_store.hpp"

namespace ratchet::testing {

/// A sender for the sink `receipts`, with a store and an outlet in memory.
class a_sink : public ::testing::Test {
 protected:
  /// Aggregates with values, for one destination.
  void put(const std::vector<std::pair<std::string, std::string>>& of_aggregates,
           const std::string& to = "sink:receipts") {
    step_batch batch;
    batch.step = store_.last_step() + 1;
    for (const auto& [aggregate, value] : of_aggregates) {
      output_row& row = batch.outbox.puts.emplace_back();
      row.kind = output_kind::published;
      row.id = {0x7000, std::uint64_t{1} << 63U};
      row.topic = to;
      row.aggregate = aggregate;
      row.value = value;
      row.type = "paid";
      row.source = "/ratchet/g/s";
    }
    batch.outbox.number(store_.outboxes(), 7);
    ASSERT_TRUE(store_.write(batch));
    if (sender_) sender_->wrote(batch.step, lane().next);
    ASSERT_TRUE(store_.sync());
  }
  [[nodiscard]] outbox_state lane() const { return store_.outboxes().of("receipts"); }
  sink_sender& sender() {
    if (!sender_)
      sender_.emplace(sink_outlet{"receipts", &to_, std::chrono::milliseconds{500}, std::chrono::seconds{30}},
                      store_, silent_log());
    return *sender_;
  }
  void turn() { ASSERT_TRUE(sender().turn(now_)); }
  void pass(std::chrono::milliseconds time) {
    now_ += time;
    turn();
  }
  void trim() {
    step_batch batch;
    batch.step = store_.last_step() + 1;
    batch.outbox = sender().trim();
    ASSERT_TRUE(store_.write(batch));
    ASSERT_TRUE(store_.sync());
    sender().trimmed();
  }
  void end(std::uint64_t position, delivery::how ended, std::string why = {}) {
    to_.end(position, ended, std::move(why));
    turn();
  }

  memory_store store_{{"s"}};
  fake_publisher to_;
  sink_sender::time_point now_{std::chrono::hours{1}};
  std::optional<sink_sender> sender_;
};

}  // namespace ratchet::testing
