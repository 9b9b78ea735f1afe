// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "workload/workload_oracle.hpp"

namespace ratchet {
namespace {

workload_stream stream_of_three() {
  workload_dials dials;
  dials.aggregates = 3;
  return workload_stream::make(dials).value();
}

workload_record event(std::uint32_t payment, std::uint64_t number, std::uint64_t id = 0) {
  workload_record record;
  record.event.payment = payment;
  record.event.number = number;
  record.event.id = {0x7000, id};
  return record;
}

std::string snapshot_of(const workload_record& record) {
  std::string text;
  stream_of_three().render_payment(record.event, text);
  return text;
}

using rows = std::vector<std::pair<std::string, std::string>>;

rows expected(const workload_oracle& oracle) {
  rows all;
  oracle.each([&](auto aggregate, auto snapshot) { all.emplace_back(aggregate, snapshot); });
  return all;
}

/// Payment 0 with two events out of order, payment 2 with a conflict; payment 1 with a malformed record only.
workload_oracle small_oracle() {
  workload_oracle oracle{stream_of_three()};
  oracle.observe(event(2, 1, 7));
  oracle.observe(event(0, 2));
  oracle.observe(event(0, 1));
  oracle.observe(event(2, 1, 8));
  auto malformed = event(1, 5);
  malformed.kind = workload_kind::malformed;
  oracle.observe(malformed);
  return oracle;
}

TEST(workload_oracle, keeps_the_highest_number_whatever_the_order_and_the_first_of_two_that_claim_it) {
  const auto oracle = small_oracle();
  EXPECT_NE(snapshot_of(event(2, 1, 7)), snapshot_of(event(2, 1, 8)));
  EXPECT_EQ(expected(oracle),
            (rows{{"p00000000", snapshot_of(event(0, 2))}, {"p00000002", snapshot_of(event(2, 1, 7))}}));
  EXPECT_EQ(oracle.records(), 5U);
  EXPECT_EQ(oracle.malformed(), 1U);
  EXPECT_EQ(oracle.aggregates(), 2U);
}

TEST(workload_comparison, says_that_the_right_state_is_right) {
  const auto oracle = small_oracle();
  workload_comparison comparison{oracle};
  for (const auto& [aggregate, snapshot] : expected(oracle)) comparison.row(aggregate, snapshot);
  comparison.finish();
  EXPECT_TRUE(comparison.right());
  EXPECT_EQ(comparison.text(), "state is right: 2 of 2 aggregates");
}

TEST(workload_comparison, finds_what_differs_is_missing_or_was_never_sent) {
  const auto oracle = small_oracle();
  workload_comparison comparison{oracle};
  comparison.row("p00000000", snapshot_of(event(0, 1)));  // an older one
  comparison.row("p00000001", snapshot_of(event(1, 5)));  // only a malformed record named it
  comparison.row("p00000099", "{}");
  comparison.row("x", "{}");
  comparison.finish();
  EXPECT_FALSE(comparison.right());
  EXPECT_TRUE(comparison.text().starts_with(
      "STATE IS WRONG: only 0 of 2 aggregates are right; 1 differ, 1 are missing, 3 were never sent"))
      << comparison.text();
  EXPECT_NE(comparison.text().find("p00000002: nothing is stored"), std::string::npos);
}

TEST(workload_comparison, is_not_content_with_one_row_twice) {
  const auto oracle = small_oracle();
  workload_comparison comparison{oracle};
  for (const auto& [aggregate, snapshot] : expected(oracle)) comparison.row(aggregate, snapshot);
  comparison.row("p00000000", snapshot_of(event(0, 2)));
  comparison.finish();
  EXPECT_FALSE(comparison.right());
}

TEST(ledger_fault, is_empty_only_where_every_record_is_accounted_for) {
  const auto oracle = small_oracle();
  const workload_ledger fits{
      .applied = 1, .superseded = 1, .duplicate = 0, .stale = 1, .rejected = 2, .malformed = 1};
  EXPECT_EQ(ledger_fault(oracle, fits), "");
  auto one_too_many = fits;
  ++one_too_many.duplicate;
  EXPECT_NE(ledger_fault(oracle, one_too_many), "");
  auto other_reason = fits;
  other_reason.malformed = 2;
  EXPECT_NE(ledger_fault(oracle, other_reason), "");
}

}  // namespace
}  // namespace ratchet
