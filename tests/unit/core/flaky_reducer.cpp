// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/flaky_reducer.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "ratchet/error.hpp"

namespace ratchet {
namespace {

struct attempt_row {
  const char* name;
  std::vector<failure_rule> rules;
  const char* type;
  const char* payload;
  std::uint32_t attempt;
  ending want;
};

const attempt_row k_attempts[] = {
    {"no_rule_fails_nothing", {}, "paid", "1", 1, ending::done},
    {"an_empty_rule_fails_everything", {{"", "", failure_kind::retry, 0}}, "", "1", 1, ending::retry},
    {"fails_the_type_that_is_named", {{"paid", "", failure_kind::retry, 0}}, "paid", "1", 1, ending::retry},
    {"passes_another_type", {{"paid", "", failure_kind::retry, 0}}, "paid2", "1", 1, ending::done},
    {"passes_an_event_without_a_type", {{"paid", "", failure_kind::retry, 0}}, "", "1", 1, ending::done},
    {"fails_what_stands_in_the_payload",
     {{"", "EUR", failure_kind::give_up, 0}},
     "",
     R"({"currency":"EUR"})",
     1,
     ending::give_up},
    {"passes_what_does_not", {{"", "EUR", failure_kind::give_up, 0}}, "", R"({"c":"EU"})", 1, ending::done},
    {"wants_both_to_fit", {{"paid", "EUR", failure_kind::retry, 0}}, "paid", "USD", 1, ending::done},
    {"fails_where_both_do", {{"paid", "EUR", failure_kind::retry, 0}}, "paid", "EUR", 1, ending::retry},
    {"fails_the_last_of_the_times", {{"", "", failure_kind::retry, 2}}, "", "1", 2, ending::retry},
    {"succeeds_behind_them", {{"", "", failure_kind::retry, 2}}, "", "1", 3, ending::done},
    {"fails_every_attempt_without_times",
     {{"", "", failure_kind::retry, 0}},
     "",
     "1",
     4'000'000'000U,
     ending::retry},
    {"can_give_up_once", {{"", "", failure_kind::give_up, 1}}, "", "1", 2, ending::done},
    {"can_stop", {{"", "", failure_kind::stop, 0}}, "", "1", 1, ending::stop},
    {"takes_the_first_that_fits",
     {{"paid", "", failure_kind::stop, 0}, {"", "", failure_kind::retry, 0}},
     "paid",
     "1",
     1,
     ending::stop},
    {"goes_on_to_the_next_where_one_does_not",
     {{"paid", "", failure_kind::stop, 0}, {"", "", failure_kind::retry, 0}},
     "sent",
     "1",
     1,
     ending::retry},
    {"does_not_go_on_where_the_times_are_over",
     {{"paid", "", failure_kind::retry, 1}, {"", "", failure_kind::stop, 0}},
     "paid",
     "1",
     2,
     ending::done},
};

TEST(flaky_reducer, fails_by_its_rules) {
  for (const attempt_row& row : k_attempts) {
    const flaky_reducer r{row.rules};
    event e;
    e.type = row.type;
    e.payload = row.payload;
    e.attempt = row.attempt;
    state s{"before"};
    effects fx;
    const outcome got = r.apply(e, s, fx);
    EXPECT_EQ(got.how, row.want) << row.name;
    if (got.how == ending::done) {
      EXPECT_EQ(s.value(), row.payload) << row.name << ": it replaces the snapshot";
      EXPECT_FALSE(got.code) << row.name;
    } else {
      EXPECT_EQ(s.value(), "before") << row.name << ": a failure leaves the snapshot as it was";
      EXPECT_EQ(got.code, errc::reducer_failed) << row.name;
    }
  }
}

TEST(flaky_reducer, throws_where_it_is_told_to) {
  const flaky_reducer r{{{"", "", failure_kind::throws, 1}}};
  event e;
  e.payload = "1";
  state s;
  effects fx;
  EXPECT_THROW((void)r.apply(e, s, fx), std::runtime_error);
  EXPECT_FALSE(s.exists());
  e.attempt = 2;
  EXPECT_EQ(r.apply(e, s, fx).how, ending::done);
  EXPECT_EQ(s.value(), "1");
}

TEST(flaky_reducer, is_never_superseded) {
  EXPECT_FALSE(flaky_reducer::traits.full_state) << "each event that is let through meets the rules";
  EXPECT_FALSE(flaky_reducer::traits.has_effects);
}

TEST(an_event, is_at_its_first_attempt_unless_told) {
  EXPECT_EQ(event{}.attempt, 1U);
}

}  // namespace
}  // namespace ratchet
