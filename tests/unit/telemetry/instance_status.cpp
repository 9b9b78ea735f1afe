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

TEST(instance_status, forgets_what_a_session_had_against_being_ready) {
  instance_status status{k_noon};
  const topic_partition zero{"t", partition_id{0}};
  status.set_ready(true);
  status.set_assigned("s", std::vector{zero});
  status.set_committed("s", zero, 5);
  status.set_log_end("s", zero, 9);
  status.set_held_back("s", zero, 7);
  status.set_stopped("s", zero, "poisoned");
  status.raise_condition("disk", "nearly full");
  status.set_outbox_trouble("no leader");
  status.set_sink("receipts", {3, "away", 2});
  status.forget_session();
  const status_snapshot shown = status.snapshot();
  EXPECT_TRUE(shown.ready) << shown.ready_reason;
  EXPECT_EQ(shown.outbox_trouble, "");
  EXPECT_EQ(shown.sinks.at("receipts"), (live_sink{3, "", 0}));
  const live_partitions want{{zero, {false, 5, 9, std::nullopt}}};
  EXPECT_EQ(shown.streams.at("s"), want);
}

TEST(instance_status, shows_a_follower_that_is_ready_as_a_standby) {
  instance_status status{k_noon};
  slot_status slot;
  slot.role = slot_role::following;
  status.set_slot(slot);
  EXPECT_EQ(status.snapshot().slot->role, slot_role::following) << "it is starting";
  status.set_ready(true);
  EXPECT_EQ(status.snapshot().slot->role, slot_role::standby);
  status.raise_condition("disk", "nearly full");
  EXPECT_EQ(status.snapshot().slot->role, slot_role::standby) << "it would take over all the same";
  slot.role = slot_role::owner;
  status.set_slot(slot);
  EXPECT_EQ(status.snapshot().slot->role, slot_role::owner);
}

TEST(instance_status, names_brokers_that_are_away_first_as_the_cause) {
  instance_status status{k_noon};
  status.set_ready(false, "waiting for the group");
  status.raise_condition("a", "the log is missing");
  status.raise_condition(k_brokers_condition, "no broker answers");
  EXPECT_EQ(status.snapshot().ready_reason, "no broker answers; waiting for the group; the log is missing");
  status.set_ready(true);
  EXPECT_EQ(status.snapshot().ready_reason, "no broker answers; the log is missing");
}

}  // namespace
}  // namespace ratchet
