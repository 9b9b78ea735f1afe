// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What a session does in front of a checkpoint that has not been started yet.
#include <gtest/gtest.h>

#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

/// Three records were handled when the checkpoint was taken; the store that it was taken of went on to five,
/// under an incarnation that both know. This is the checkpoint.
struct checkpointed : session_world {
  checkpointed() {
    for (int n = 1; n <= 3; ++n) source.produce(k_p0, event("a", n));
    EXPECT_EQ(run_until_end().end, session_end::caught_up);
    store.under().become_copy({store.last_step(), clock.now(), true});
    for (int n = 4; n <= 5; ++n) source.produce(k_p0, event("a", n));
    original = store.incarnations().back();
    commit(5, mark(k_own_uuid, original));
    calls.lines.clear();
  }
  void commit(std::optional<std::int64_t> offset, std::string metadata) {
    source.logs[k_p0].committed = offset;
    source.logs[k_p0].metadata = std::move(metadata);
  }
  session_result run_to_end_with(resume_option option) {
    session_options options;
    options.until_end = true;
    options.resume.option = option;
    return run(options);
  }
  [[nodiscard]] bool has_audit(const std::string& kind, const std::string& part) const {
    for (const audit_row& row : store.audits()) {
      if (row.kind == kind && row.text.find(part) != std::string::npos) return true;
    }
    return false;
  }
  void expect_refused(const session_result& ended) {
    EXPECT_EQ(ended.end, session_end::refused);
    ASSERT_TRUE(ended.why);
    EXPECT_EQ(exit_code(ended.why->code), 78);
    EXPECT_NE(ended.why->message.find("was not joined"), std::string::npos) << ended.why->message;
    EXPECT_NE(ended.why->message.find("this state directory is a checkpoint of step"), std::string::npos)
        << ended.why->message;
    EXPECT_NE(ended.why->hint.find("--resume takeover"), std::string::npos);
    EXPECT_TRUE(store.copy()) << "still a copy";
    EXPECT_EQ(source.logs[k_p0].committed, 5) << "nothing was claimed";
  }

  incarnation original;
};

TEST(session_copy, is_refused_where_the_store_it_was_taken_of_has_claims_whatever_else_is_said) {
  checkpointed w;
  const std::uint64_t step = w.store.last_step();
  for (const auto o : {resume_option::none, resume_option::store, resume_option::kafka}) {
    w.expect_refused(w.run_with(o));
  }
  EXPECT_TRUE(w.calls.lines.empty()) << ::testing::PrintToString(w.calls.lines);
  EXPECT_EQ(w.store.last_step(), step);
  // Also where it was taken at the very end, or the claim lies behind it.
  for (const std::int64_t committed : {3, 2}) {
    w.commit(committed, session_world::mark(k_own_uuid, w.original));
    EXPECT_EQ(w.run().end, session_end::refused) << committed;
  }
}

TEST(session_copy, takes_over_at_its_own_offset_and_is_then_a_store_of_its_own) {
  checkpointed w;
  const std::uint64_t epoch = w.store.under().view().value()->identity().value().outbox_epoch;
  ASSERT_EQ(w.run_to_end_with(resume_option::takeover).end, session_end::caught_up);
  EXPECT_NE(w.calls.find("assign t[0]@3"), journal::npos) << ::testing::PrintToString(w.calls.lines);
  EXPECT_EQ(w.counted().consumed, 5U);
  EXPECT_FALSE(w.store.copy());
  EXPECT_GT(w.store.incarnations().back().counter, w.original.counter);
  EXPECT_GT(w.store.under().view().value()->identity().value().outbox_epoch, epoch);
  EXPECT_TRUE(w.has_audit("copy_taken_over", "the checkpoint of step"));
  EXPECT_TRUE(w.has_audit("resume_takeover", "took over"));
  // The one that it was taken of does not know the incarnation that holds the group now.
  const auto holder = parse_metadata(w.source.logs[k_p0].metadata);
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->incarnation, w.store.incarnations().back());
  const std::size_t rows = w.store.audits().size();
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up) << "the next start needs no option";
  EXPECT_EQ(w.store.audits().size(), rows);
}

TEST(session_copy, just_starts_where_the_group_has_no_claim) {
  checkpointed w;
  w.commit(std::nullopt, "");
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.counted().consumed, 5U);
  EXPECT_FALSE(w.store.copy());
  EXPECT_TRUE(w.has_audit("copy_started", "no store had claimed"));
}

TEST(session_copy, stays_a_copy_where_power_fails_before_the_takeover_is_durable) {
  for (int failing = 0; failing < 2; ++failing) {
    checkpointed w;
    // Either the write of the takeover or the sync behind it fails, and all that was not synced is lost.
    (failing == 0 ? w.store.writes_until_failure : w.store.syncs_until_failure) = 0;
    ASSERT_EQ(w.run_with(resume_option::takeover).end, session_end::store_lost);
    w.power_cut();
    w.store.writes_until_failure = w.store.syncs_until_failure = -1;
    EXPECT_EQ(w.source.logs[k_p0].committed, 5) << "nothing was claimed";
    w.expect_refused(w.run());
    ASSERT_EQ(w.run_to_end_with(resume_option::takeover).end, session_end::caught_up);
    EXPECT_FALSE(w.store.copy());
  }
}

TEST(session_copy, has_taken_over_once_that_is_durable_though_the_claim_failed) {
  checkpointed w;
  w.source.failing_waits = 1;
  ASSERT_EQ(w.run_with(resume_option::takeover).end, session_end::client_lost);
  w.power_cut();
  EXPECT_FALSE(w.store.copy());
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up) << "without being told again";
  EXPECT_EQ(w.counted().consumed, 5U);
}

TEST(session_copy, takes_over_from_an_incarnation_it_never_knew_as_durably) {
  checkpointed w;
  w.commit(5, session_world::mark(k_own_uuid, {9, 99}));  // the other one was started again meanwhile
  w.expect_refused(w.run());
  w.source.failing_waits = 1;
  ASSERT_EQ(w.run_with(resume_option::takeover).end, session_end::client_lost);
  EXPECT_EQ(w.store.incarnations().back().counter, 10U);
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up) << "without being told again";
  EXPECT_EQ(w.counted().consumed, 5U);
}

TEST(session_copy, can_accept_a_gap_after_it_took_over) {
  checkpointed w;
  w.commit(5, session_world::mark(k_own_uuid, {9, 99}));
  fake_log& log = w.source.logs[k_p0];
  log.start = 4;
  log.records.erase(log.records.begin(), log.records.begin() + 4);
  ASSERT_EQ(w.run_to_end_with(resume_option::takeover).end, session_end::caught_up);
  ASSERT_TRUE(w.stop_of(k_p0)) << "the log begins behind the checkpoint";
  EXPECT_FALSE(w.store.copy()) << "it took over all the same";
  ASSERT_EQ(w.run_to_end_with(resume_option::kafka).end, session_end::caught_up);
  EXPECT_FALSE(w.stop_of(k_p0));
  EXPECT_EQ(w.counted().consumed, 4U);
  EXPECT_TRUE(w.has_audit("resume_below_log_start", "offsets [3, 4) were not handled"));
}

TEST(session_copy, reads_a_partition_that_came_after_it_from_its_beginning) {
  checkpointed w;
  for (int n = 1; n <= 2; ++n) w.source.produce(k_p1, event("b", n));
  w.source.logs[k_p1].committed = 2;
  w.source.logs[k_p1].metadata = session_world::mark(k_own_uuid, w.original);
  ASSERT_EQ(w.run_to_end_with(resume_option::takeover).end, session_end::caught_up);
  EXPECT_EQ(w.state_of(k_p1).next_offset, 2);
  EXPECT_EQ(w.counted().consumed, 7U);
  EXPECT_TRUE(w.has_audit("resume_store_lost", "read from its beginning"));
}

}  // namespace
}  // namespace ratchet::testing
