// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "telemetry/live_board.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <vector>

namespace ratchet {
namespace {

using namespace std::chrono_literals;

constexpr timestamp k_noon{1767268800'000ms};  // 2026-01-01T12:00:00Z

TEST(live_board, says_what_it_was_told_last) {
  live_board board{k_noon};
  EXPECT_FALSE(board.snapshot().ready);
  EXPECT_EQ(board.snapshot().ready_reason, "starting");
  const topic_partition zero{"t", partition_id{0}};
  const topic_partition one{"t", partition_id{1}};
  board.set_ready(true);
  board.set_assigned("s", std::vector{zero, one});
  board.set_committed("s", one, 5);
  board.set_stopped("s", one, "poisoned");
  board.set_assigned("s", std::vector{zero});
  const live_status status = board.snapshot();
  EXPECT_TRUE(status.ready);
  EXPECT_EQ(status.ready_reason, "");
  EXPECT_EQ(status.started_at, k_noon);
  const live_partitions want{{zero, {true, std::nullopt, std::nullopt, std::nullopt}},
                             {one, {false, 5, std::nullopt, std::nullopt}}};
  EXPECT_EQ(status.streams.at("s"), want);
}

}  // namespace
}  // namespace ratchet
