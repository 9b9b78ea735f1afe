// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/decoded_event.hpp"
#include "core/stream_state.hpp"
#include "support/core_print.hpp"

namespace ratchet {
namespace {

struct counted {
  decision of;
  std::uint64_t counters::*where;
};

constexpr counted k_counted[] = {
    {{verdict::applied, reject_reason::none}, &counters::applied},
    {{verdict::superseded, reject_reason::none}, &counters::superseded},
    {{verdict::duplicate, reject_reason::none}, &counters::duplicate},
    {{verdict::stale, reject_reason::none}, &counters::stale},
    {{verdict::ignored, reject_reason::none}, &counters::ignored},
    {{verdict::parked, reject_reason::none}, &counters::waiting_parked},
    {{verdict::retrying, reject_reason::none}, &counters::waiting_retrying},
    {{verdict::dead, reject_reason::none}, &counters::waiting_dead},
    {{verdict::rejected, reject_reason::malformed}, &counters::rejected_malformed},
    {{verdict::rejected, reject_reason::conflict}, &counters::rejected_conflict},
    {{verdict::rejected, reject_reason::too_old}, &counters::rejected_too_old},
    {{verdict::rejected, reject_reason::late}, &counters::rejected_late},
    {{verdict::rejected, reject_reason::id_reused}, &counters::rejected_id_reused},
    {{verdict::rejected, reject_reason::below_first}, &counters::rejected_below_first},
    {{verdict::rejected, reject_reason::sequence_mixed}, &counters::rejected_sequence_mixed},
};

TEST(counters, count_each_record_in_one_place) {
  for (const counted& c : k_counted) {
    counters want;
    want.*c.where = 1;
    want.consumed = 1;
    counters got;
    got.count(c.of);
    EXPECT_EQ(got, want) << name_of(c.of.verdict) << " " << name_of(c.of.reason);
    EXPECT_EQ(got.accounted(), got.consumed);
  }
}

TEST(counters, do_not_count_what_was_not_handled) {
  counters c;
  c.count({verdict::unhandled, reject_reason::none});
  EXPECT_EQ(c, counters{});
}

TEST(counters, do_not_count_a_decision_that_is_none) {
  counters c;
  c.count({verdict::rejected, reject_reason::none});
  c.count({verdict::rejected, static_cast<reject_reason>(99)});
  c.count({static_cast<verdict>(99), reject_reason::none});
  EXPECT_EQ(c, counters{}) << "or the ledger would not add up";
}

TEST(counters, account_for_what_an_operator_did) {
  counters c;
  c.count({verdict::parked, reject_reason::none});
  c.count({verdict::parked, reject_reason::none});
  c.waiting_parked -= 2;
  ++c.skipped;
  ++c.discarded;
  EXPECT_EQ(c.accounted(), c.consumed);
}

TEST(counters, tell_what_one_run_did) {
  counters before;
  counters now;
  std::uint64_t n = 0;
  for (const counted& c : k_counted) {
    before.*c.where = 10;
    now.*c.where = 10 + ++n;
  }
  now.ids_ahead = 5;
  now.times_passed_over = 9;
  now.times_behind = 6;
  before.ids_ahead = 3;
  before.times_passed_over = 8;
  before.times_behind = 4;
  now.forgotten = 7;
  before.forgotten = 4;
  const counters run = now.since(before);
  n = 0;
  for (const counted& c : k_counted) EXPECT_EQ(run.*c.where, ++n);
  EXPECT_EQ(run.ids_ahead, 2U);
  EXPECT_EQ(run.times_passed_over, 1U);
  EXPECT_EQ(run.times_behind, 2U);
  EXPECT_EQ(run.forgotten, 3U);
  EXPECT_EQ(now.since(now), counters{});
}

TEST(names, are_those_of_the_document) {
  EXPECT_STREQ(name_of(verdict::applied), "applied");
  EXPECT_STREQ(name_of(verdict::superseded), "superseded");
  EXPECT_STREQ(name_of(verdict::duplicate), "duplicate");
  EXPECT_STREQ(name_of(verdict::stale), "stale");
  EXPECT_STREQ(name_of(verdict::rejected), "rejected");
  EXPECT_STREQ(name_of(verdict::ignored), "ignored");
  EXPECT_STREQ(name_of(verdict::parked), "parked");
  EXPECT_STREQ(name_of(verdict::retrying), "retrying");
  EXPECT_STREQ(name_of(verdict::dead), "dead");
  EXPECT_STREQ(name_of(verdict::unhandled), "unhandled");
  EXPECT_STREQ(name_of(reject_reason::none), "none");
  EXPECT_STREQ(name_of(reject_reason::malformed), "malformed");
  EXPECT_STREQ(name_of(reject_reason::conflict), "conflict");
  EXPECT_STREQ(name_of(reject_reason::too_old), "too_old");
  EXPECT_STREQ(name_of(reject_reason::late), "late");
  EXPECT_STREQ(name_of(reject_reason::id_reused), "id_reused");
  EXPECT_STREQ(name_of(reject_reason::below_first), "below_first");
  EXPECT_STREQ(name_of(reject_reason::sequence_mixed), "sequence_mixed");
  EXPECT_STREQ(name_of(order::latest), "latest");
  EXPECT_STREQ(name_of(order::strict), "strict");
  EXPECT_STREQ(name_of(order::arrival), "arrival");
}

TEST(names, tell_every_malformed_reason_apart) {
  std::set<std::string> seen;
  for (int r = 0; r <= static_cast<int>(malformed_reason::too_many_events); ++r) {
    const std::string name = name_of(static_cast<malformed_reason>(r));
    EXPECT_NE(name, "?") << r;
    EXPECT_TRUE(seen.insert(name).second) << name;
  }
}

TEST(names, do_not_fail_on_a_value_that_is_none) {
  EXPECT_STREQ(name_of(static_cast<order>(99)), "?");
  EXPECT_STREQ(name_of(static_cast<verdict>(99)), "?");
  EXPECT_STREQ(name_of(static_cast<reject_reason>(99)), "?");
  EXPECT_STREQ(name_of(static_cast<malformed_reason>(99)), "?");
}

}  // namespace
}  // namespace ratchet
