// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "telemetry/instance_status.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <vector>

#include "support/noon.hpp"

namespace ratchet {
namespace {

using namespace std::chrono_literals;

using testing::k_noon;

TEST(instance_status, says_what_it_was_told_last) {
  instance_status status{k_noon};
  EXPECT_FALSE(status.snapshot().ready);
  EXPECT_EQ(status.snapshot().ready_reason, "starting");
  const topic_partition zero{"t", partition_id{0}};
  const topic_partition one{"t", partition_id{1}};
  status.set_ready(true);
  status.set_assigned("s", std::vector{zero, one});
  status.set_committed("s", one, 5);
  status.set_stopped("s", one, "poisoned");
  status.set_assigned("s", std::vector{zero});
  const status_snapshot shown = status.snapshot();
  EXPECT_TRUE(shown.ready);
  EXPECT_EQ(shown.ready_reason, "");
  EXPECT_EQ(shown.started_at, k_noon);
  const live_partitions want{{zero, {true, std::nullopt, std::nullopt, std::nullopt}},
                             {one, {false, 5, std::nullopt, std::nullopt}}};
  EXPECT_EQ(shown.streams.at("s"), want);
}

}  // namespace
}  // namespace ratchet
