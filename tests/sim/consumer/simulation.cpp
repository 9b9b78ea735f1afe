// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What Ratchet claims, under every fault that the simulated world knows, history by history.
// RATCHET_SEED: the first seed. RATCHET_HISTORIES: how many. RATCHET_EVENTS: records in each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <iostream>

#include "sim/consumer/campaign.hpp"

namespace ratchet::sim {
namespace {

using ::testing::Each;
using ::testing::Gt;

constexpr std::uint64_t k_enough_to_meet_all = 10'000;

TEST(histories, keep_every_promise_whatever_goes_wrong) {
  const campaign_plan plan = plan_from_environment();
  const campaign_result found = run_campaign(plan);
  ASSERT_TRUE(found.failures.empty()) << found.failures.front();
  EXPECT_EQ(found.histories, plan.histories);
  std::cout << found.histories << " histories from seed " << plan.first_seed << ": " << to_text(found.met);
  if (plan.histories < k_enough_to_meet_all) return;
  // A simulation in which nothing goes wrong shows nothing.
  EXPECT_THAT(found.met.faults, Each(Gt(0U)));
  for (std::size_t i = 0; i < k_fates; ++i) {
    // At rest nothing is left to be tried again.
    if (static_cast<fate>(i) == fate::retrying) continue;
    EXPECT_GT(found.met.fates.at(i), 0U) << i;
  }
  for (const char* kind : {"gap_skipped", "first_adopted", "aggregate_held", "waiting_replayed",
                           "waiting_skipped", "waiting_discarded"})
    EXPECT_TRUE(found.met.audits.contains(kind)) << kind;
  for (const session_end end : {session_end::drained, session_end::client_lost, session_end::store_lost,
                                session_end::rebuild, session_end::refused}) {
    EXPECT_GT(found.met.session_ends.at(static_cast<std::size_t>(end)), 0U) << static_cast<int>(end);
  }
  EXPECT_GT(found.met.lost_steps, 0U);
  EXPECT_GT(found.met.ends_within, 100U);
  EXPECT_GT(found.met.restarts_within, 100U);
  EXPECT_GT(found.met.forgotten, 1'000U);
  EXPECT_GT(found.met.old_decided, 10U);
  EXPECT_GT(found.met.outputs, 100U);
  EXPECT_GT(found.met.table_changes, 100U);
  const call_census& calls = found.met.calls;
  EXPECT_THAT((std::array{calls.done, calls.repeated, calls.timed_out, calls.cut_off}), Each(Gt(100U)));
  for (const errc why : {errc::aggregate_blocked, errc::reducer_failed, errc::key_reused})
    EXPECT_TRUE(calls.refused.contains(make_error_code(why).message())) << make_error_code(why).message();
  for (const char* kind :
       {"resume_below_log_start", "resume_rewound", "resume_skipped_ahead", "resume_equal_foreign",
        "resume_store_lost", "resume_takeover", "resume_other_cluster", "cluster_changed"}) {
    EXPECT_TRUE(found.met.audits.contains(kind)) << kind;
  }
}

TEST(histories, are_the_same_each_time) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::vector<std::string> first;
    std::vector<std::string> second;
    (void)play(make_history(seed, 100), &first);
    (void)play(make_history(seed, 100), &second);
    ASSERT_EQ(first, second) << "seed " << seed;
    ASSERT_FALSE(first.empty());
  }
}

}  // namespace
}  // namespace ratchet::sim
