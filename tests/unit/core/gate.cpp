// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "ratchet/gate.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/core_gate_reference.hpp"
#include "support/core_print.hpp"

namespace ratchet {
namespace {

constexpr std::uint64_t k_max = std::numeric_limits<std::uint64_t>::max();

using namespace gate_reference;

constexpr gate_rules k_latest{.order = order::latest};
constexpr gate_rules k_ties{.order = order::latest, .ties_by_offset = true};
constexpr gate_rules k_kinds{.order = order::latest, .numbers_or_text = true};
constexpr gate_rules k_strict{.order = order::strict};
constexpr gate_rules k_strict_zero{.order = order::strict, .first = first_number::zero};
constexpr gate_rules k_strict_any{.order = order::strict, .first = first_number::any};
constexpr gate_rules k_accept{.order = order::strict, .epoch_change = epoch_change::accept};
constexpr gate_rules k_accept_zero{
    .order = order::strict, .first = first_number::zero, .epoch_change = epoch_change::accept};
constexpr gate_rules k_accept_any{
    .order = order::strict, .first = first_number::any, .epoch_change = epoch_change::accept};
constexpr gate_rules k_arrival{.order = order::arrival};

struct gate_row {
  const char* name;
  gate_rules rules;
  gate_facts facts;
  decision want;
};

// clang-format off
constexpr gate_row k_rows[] = {
    // Row 0: the record's offset is below what its partition has handled.
    {"r0_a_read_again_record",             k_latest,  {.below_position = true, .incoming = seq(9)}, k_duplicate},
    {"r0_comes_before_a_waiting_claim",    k_strict,  {.below_position = true, .waiting = claim::other_id, .incoming = seq(9)}, k_duplicate},
    {"r0_comes_before_the_window",         k_arrival, {.below_position = true, .incoming = seq(0), .id_below_floor = true}, k_duplicate},

    // Row 1: a waiting event claims this sequence (arrival: this id).
    {"r1_waiting_same_id",                 k_strict,  {.waiting = claim::same_id, .last = seq(3), .incoming = seq(7)}, k_duplicate},
    {"r1_waiting_another_id",              k_strict,  {.waiting = claim::other_id, .last = seq(3), .incoming = seq(7)}, k_conflict},
    {"r1_waiting_same_id_latest",          k_latest,  {.waiting = claim::same_id, .last = seq(3), .incoming = seq(7)}, k_duplicate},
    {"r1_waiting_same_id_arrival",         k_arrival, {.waiting = claim::same_id, .incoming = seq(0)}, k_duplicate},
    {"r1_comes_before_the_window",         k_arrival, {.waiting = claim::same_id, .incoming = seq(0), .id_below_floor = true}, k_duplicate},
    {"r1_comes_before_the_first",          k_strict,  {.waiting = claim::other_id, .incoming = seq(1)}, k_conflict},

    // Rows 2 to 4: arrival.
    {"r2_arrival_seen",                    k_arrival, {.last = seq(4), .incoming = seq(0), .id_seen = true}, k_duplicate},
    {"r2_arrival_seen_while_blocked",      k_arrival, {.last = seq(4), .incoming = seq(0), .id_seen = true, .blocked = true}, k_duplicate},
    {"r3_arrival_before_the_window",       k_arrival, {.last = seq(4), .incoming = seq(0), .id_below_floor = true}, k_too_old},
    {"r3_arrival_new_aggregate_too",       k_arrival, {.incoming = seq(0), .id_below_floor = true}, k_too_old},
    {"r3_comes_before_parking",            k_arrival, {.incoming = seq(0), .id_below_floor = true, .blocked = true}, k_too_old},
    {"r4_arrival_new_id",                  k_arrival, {.last = seq(4), .incoming = seq(0)}, k_apply},
    {"r4_arrival_new_aggregate",           k_arrival, {.incoming = seq(0)}, k_apply},
    {"r4_arrival_behind_waiting_ones",     k_arrival, {.last = seq(4), .incoming = seq(0), .blocked = true}, k_park},
    {"r4_arrival_without_ids_applies_all", k_arrival, {.last = seq(4), .incoming = seq(0), .has_id = false, .id_seen = true, .id_below_floor = true}, k_apply},
    {"r4_arrival_looks_at_no_sequence",    k_arrival, {.last = seq(4), .last_was_skipped = true, .incoming = seq(4), .same_id_as_last = true}, k_apply},

    // Row 5: no L, and the event is older than the retention of sequences.
    {"r5_older_than_retention",            k_latest,  {.incoming = seq(9), .older_than_retention = true}, k_too_old},
    {"r5_older_than_retention_strict",     k_strict,  {.incoming = seq(1), .older_than_retention = true}, k_too_old},
    {"r5_needs_no_L",                      k_latest,  {.last = seq(3), .incoming = seq(9), .older_than_retention = true}, k_apply},

    // Row 6: no L.
    {"r6_latest_any_number_is_first",      k_latest,  {.incoming = seq(9)}, k_apply},
    {"r6_latest_zero",                     k_latest,  {.incoming = seq(0)}, k_apply},
    {"r6_latest_any_epoch",                k_latest,  {.incoming = seq(5, 0)}, k_apply},
    {"r6_latest_looks_at_no_id",           k_latest,  {.incoming = seq(9), .id_seen = true, .id_below_floor = true}, k_apply},
    {"r6_strict_the_first_number",         k_strict,  {.incoming = seq(1)}, k_apply},
    {"r6_strict_the_second_number",        k_strict,  {.incoming = seq(2)}, k_park},
    {"r6_strict_below_the_first",          k_strict,  {.incoming = seq(0)}, k_below_first},
    {"r6_strict_first_fits_any_epoch",     k_strict,  {.incoming = seq(7, 1)}, k_apply},
    {"r6_strict_second_of_any_epoch",      k_strict,  {.incoming = seq(7, 2)}, k_park},
    {"r6_strict_first_but_blocked",        k_strict,  {.incoming = seq(7, 1), .blocked = true}, k_park},
    {"r6_first_zero_zero",                 k_strict_zero, {.incoming = seq(0)}, k_apply},
    {"r6_first_zero_one",                  k_strict_zero, {.incoming = seq(1)}, k_park},
    {"r6_first_any_zero",                  k_strict_any,  {.incoming = seq(0)}, k_park},
    {"r6_first_any_one",                   k_strict_any,  {.incoming = seq(1)}, k_park},

    // Row 7: = L.
    {"r7_redelivered",                     k_latest,  {.last = seq(7), .incoming = seq(7), .id_seen = true, .same_id_as_last = true, .same_payload_as_last = true}, k_duplicate},
    {"r7_same_id",                         k_latest,  {.last = seq(7), .incoming = seq(7), .same_id_as_last = true}, k_duplicate},
    {"r7_sent_again_under_a_new_id",       k_latest,  {.last = seq(7), .incoming = seq(7), .same_payload_as_last = true}, k_duplicate},
    {"r7_two_events_claim_one_number",     k_latest,  {.last = seq(7), .incoming = seq(7)}, k_conflict},
    {"r7_an_older_id_on_the_last_number",  k_latest,  {.last = seq(7), .incoming = seq(7), .id_seen = true}, k_conflict},
    {"r7_without_ids",                     k_latest,  {.last = seq(7), .incoming = seq(7), .has_id = false, .same_payload_as_last = true}, k_duplicate},
    {"r7_without_ids_another_payload",     k_latest,  {.last = seq(7), .incoming = seq(7), .has_id = false}, k_conflict},
    {"r7_strict_without_ids",              k_strict,  {.last = seq(7), .incoming = seq(7), .has_id = false}, k_conflict},
    {"r7_skipped",                         k_strict,  {.last = seq(7), .last_was_skipped = true, .incoming = seq(7), .same_payload_as_last = true}, k_late},
    {"r7_skipped_without_ids",             k_strict,  {.last = seq(7), .last_was_skipped = true, .incoming = seq(7), .has_id = false}, k_late},
    {"r7_strict_redelivered",              k_strict,  {.last = seq(7), .incoming = seq(7), .same_id_as_last = true}, k_duplicate},
    {"r7_strict_conflict",                 k_strict,  {.last = seq(7), .incoming = seq(7)}, k_conflict},
    {"r7_the_largest_number",              k_latest,  {.last = seq(k_max), .incoming = seq(k_max), .same_id_as_last = true}, k_duplicate},
    {"r7_the_epoch_is_part_of_it",         k_latest,  {.last = seq(1, 7), .incoming = seq(1, 7)}, k_conflict},

    {"r7_the_later_of_two_ties",           k_ties,    {.last = seq(7), .incoming = seq(7), .has_id = false}, k_apply},
    {"r7_a_tie_again",                     k_ties,    {.last = seq(7), .incoming = seq(7), .has_id = false, .same_payload_as_last = true}, k_duplicate},
    {"r7_the_later_of_two_ids_that_tie",   k_ties,    {.last = seq(7), .incoming = seq(7)}, k_apply},
    {"r7_a_tie_again_by_its_id",           k_ties,    {.last = seq(7), .incoming = seq(7), .id_seen = true}, k_duplicate},
    {"r7_the_last_tie_by_its_id",          k_ties,    {.last = seq(7), .incoming = seq(7), .same_id_as_last = true}, k_duplicate},
    {"r7_a_tie_of_another_epoch",          k_ties,    {.last = seq(2, 7), .incoming = seq(1, 7), .has_id = false}, k_stale},
    {"r7_a_tie_of_a_skipped_one",          k_ties,    {.last = seq(7), .last_was_skipped = true, .incoming = seq(7), .has_id = false}, k_late},

    // Row 8: < L.
    {"r8_seen",                            k_latest,  {.last = seq(7), .incoming = seq(6), .id_seen = true}, k_duplicate},
    {"r8_an_older_one",                    k_latest,  {.last = seq(7), .incoming = seq(6)}, k_stale},
    {"r8_without_ids",                     k_latest,  {.last = seq(7), .incoming = seq(6), .has_id = false, .id_seen = true}, k_stale},
    {"r8_of_an_older_epoch",               k_latest,  {.last = seq(2, 1), .incoming = seq(1, 99)}, k_stale},
    {"r8_inside_a_skipped_gap",            k_strict,  {.last = seq(7), .incoming = seq(6), .in_skipped_gap = true}, k_late},
    {"r6_inside_a_skipped_gap",            k_strict,  {.incoming = seq(6), .in_skipped_gap = true}, k_late},
    {"r10_inside_a_skipped_gap",           k_strict,  {.last = seq(5), .incoming = seq(6), .in_skipped_gap = true}, k_late},
    {"r8_seen_inside_a_skipped_gap",       k_strict,  {.last = seq(7), .incoming = seq(6), .id_seen = true, .in_skipped_gap = true}, k_duplicate},
    {"r8_strict_an_older_one",             k_strict,  {.last = seq(7), .incoming = seq(1)}, k_stale},
    {"r8_strict_below_the_first",          k_strict,  {.last = seq(7), .incoming = seq(0)}, k_below_first},
    {"r8_strict_below_the_first_seen",     k_strict,  {.last = seq(7), .incoming = seq(0), .id_seen = true}, k_duplicate},
    {"r8_strict_zero_may_be_the_first",    k_strict_zero, {.last = seq(7), .incoming = seq(0)}, k_stale},
    {"r8_latest_zero",                     k_latest,  {.last = seq(7), .incoming = seq(0)}, k_stale},
    {"r8_comes_before_blocked",            k_strict,  {.last = seq(7), .incoming = seq(6), .blocked = true}, k_stale},

    // Row 9: > L, id seen.
    {"r9_an_id_with_another_number",       k_latest,  {.last = seq(7), .incoming = seq(8), .id_seen = true}, k_id_reused},
    {"r9_strict",                          k_strict,  {.last = seq(7), .incoming = seq(8), .id_seen = true}, k_id_reused},
    {"r9_strict_comes_before_parking",     k_strict,  {.last = seq(7), .incoming = seq(9), .id_seen = true}, k_id_reused},
    {"r9_needs_an_id",                     k_latest,  {.last = seq(7), .incoming = seq(8), .has_id = false, .id_seen = true}, k_apply},

    // Row 10: > L.
    {"r10_latest_the_next",                k_latest,  {.last = seq(7), .incoming = seq(8)}, k_apply},
    {"r10_latest_with_a_gap",              k_latest,  {.last = seq(7), .incoming = seq(99)}, k_apply},
    {"r10_latest_a_new_epoch",             k_latest,  {.last = seq(7), .incoming = seq(1, 0)}, k_apply},
    {"r10_latest_an_id_before_the_window", k_latest,  {.last = seq(7), .incoming = seq(8), .id_below_floor = true}, k_apply},
    {"r10_latest_same_payload_again",      k_latest,  {.last = seq(7), .incoming = seq(8), .same_payload_as_last = true}, k_apply},
    {"r10_strict_the_next",                k_strict,  {.last = seq(7), .incoming = seq(8)}, k_apply},
    {"r10_strict_below_the_first_parks",   k_strict,  {.last = seq(5), .incoming = seq(1, 0)}, k_park},
    {"r10_strict_eight_is_missing",        k_strict,  {.last = seq(7), .incoming = seq(9)}, k_park},
    {"r10_strict_the_next_but_blocked",    k_strict,  {.last = seq(7), .incoming = seq(8), .blocked = true}, k_park},
    {"r10_strict_a_higher_epoch_parks",    k_strict,  {.last = seq(7), .incoming = seq(1, 1)}, k_park},
    {"r10_accept_first_of_higher_epoch",   k_accept,  {.last = seq(7), .incoming = seq(1, 1)}, k_apply},
    {"r10_accept_any_higher_epoch",        k_accept,  {.last = seq(7), .incoming = seq(9, 1)}, k_apply},
    {"r10_accept_second_of_higher_epoch",  k_accept,  {.last = seq(7), .incoming = seq(1, 2)}, k_park},
    {"r10_accept_below_the_first",         k_accept,  {.last = seq(7), .incoming = seq(1, 0)}, k_below_first},
    {"r10_accept_below_the_first_but_seen", k_accept, {.last = seq(7), .incoming = seq(1, 0), .id_seen = true}, k_id_reused},
    {"r10_accept_any_may_begin_with_zero", k_accept_any, {.last = seq(7), .incoming = seq(1, 0)}, k_park},
    {"r10_accept_zero_is_the_first",       k_accept_zero, {.last = seq(7), .incoming = seq(1, 0)}, k_apply},
    {"r10_accept_any_adopts_nothing",      k_accept_any,  {.last = seq(7), .incoming = seq(1, 1)}, k_park},
    {"r10_accept_any_goes_on_in_epoch",    k_accept_any,  {.last = seq(1, 7), .incoming = seq(1, 8)}, k_apply},
    {"r10_the_last_number_has_no_next",    k_strict,  {.last = seq(k_max), .incoming = seq(1, 0)}, k_park},
    {"r10_the_last_number_itself",         k_strict,  {.last = seq(k_max - 1), .incoming = seq(k_max)}, k_apply},
    {"r10_accept_behind_the_last_number",  k_accept,  {.last = seq(0, k_max), .incoming = seq(1, 1)}, k_apply},
};
// clang-format on

constexpr bool every_row_holds() {
  for (const gate_row& row : k_rows) {
    if (decide(row.rules, row.facts) != row.want) return false;
  }
  return true;
}
#ifndef RATCHET_MUTATED  // there the tests have to notice, not the compiler
static_assert(every_row_holds(), "decide() is constexpr, and the table holds while compiling");
#endif
static_assert(noexcept(decide(k_latest, gate_facts{})));

class gate_table : public ::testing::TestWithParam<gate_row> {};
TEST_P(gate_table, decides) {
  EXPECT_EQ(decide(GetParam().rules, GetParam().facts), GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(design, gate_table, ::testing::ValuesIn(k_rows),
                         [](const auto& tested) { return std::string{tested.param.name}; });

constexpr unsigned k_flags = 10;
gate_facts facts_of(unsigned bits) {
  const auto bit = [bits](unsigned n) { return (bits >> n & 1U) != 0; };
  return {.below_position = bit(0),
          .last = {},
          .last_was_skipped = bit(1),
          .incoming = {},
          .has_id = bit(2),
          .id_seen = bit(3),
          .id_below_floor = bit(4),
          .same_id_as_last = bit(5),
          .same_payload_as_last = bit(6),
          .in_skipped_gap = bit(7),
          .older_than_retention = bit(8),
          .blocked = bit(9)};
}

std::vector<gate_rules> every_rules() {
  std::vector<gate_rules> all;
  for (const order o : {order::latest, order::strict, order::arrival}) {
    for (const first_number f : {first_number::zero, first_number::one, first_number::any}) {
      for (const epoch_change e : {epoch_change::park, epoch_change::accept}) all.push_back({o, f, e});
    }
  }
  return all;
}

std::vector<gate_facts> every_facts() {
  constexpr sequence k_last[] = {seq(0), seq(1), seq(5), seq(k_max), seq(1, 1), seq(k_max, k_max)};
  constexpr sequence k_incoming[] = {seq(0),     seq(1),    seq(2),    seq(5),           seq(6),
                                     seq(k_max), seq(1, 0), seq(1, 1), seq(k_max, k_max)};
  std::vector<gate_facts> all;
  for (unsigned bits = 0; bits < 1U << k_flags; ++bits) {
    gate_facts facts = facts_of(bits);
    for (const claim waiting : {claim::none, claim::same_id, claim::other_id}) {
      facts.waiting = waiting;
      for (const sequence incoming : k_incoming) {
        facts.incoming = incoming;
        facts.last = std::nullopt;
        all.push_back(facts);
        for (const sequence last : k_last) {
          facts.last = last;
          all.push_back(facts);
        }
      }
    }
  }
  return all;
}

TEST(gate, agrees_with_the_table_on_every_combination_of_facts) {
  std::array<std::uint64_t, std::size(k_table)> decided{};
  const std::vector<gate_facts> all = every_facts();
  std::uint64_t wrong = 0;
  std::vector<gate_rules> every = every_rules();
  every.push_back(k_ties);
  every.push_back(k_kinds);
  for (const gate_rules& rules : every) {
    for (const gate_facts& facts : all) {
      std::size_t row = 0;
      while (!k_table[row].fits(rules, facts)) ++row;
      ++decided[row];
      if (decide(rules, facts) == k_table[row].want) continue;
      if (++wrong < 10) ADD_FAILURE() << "row " << k_table[row].name << " decides otherwise";
    }
  }
  EXPECT_EQ(wrong, 0U);
  for (std::size_t row = 0; row < decided.size(); ++row) {
    EXPECT_GT(decided[row], 0U) << "row " << k_table[row].name << " never decided anything";
  }
}

TEST(gate, refuses_a_number_where_the_aggregate_has_text_and_text_where_it_has_numbers) {
  constexpr decision k_mixed_kinds{verdict::rejected, reject_reason::sequence_mixed};
  const auto verdict_of = [](sequence last, sequence next, bool seen = false) {
    return decide(k_kinds, {.last = last, .incoming = next, .id_seen = seen});
  };
  EXPECT_EQ(verdict_of(seq(7, 1), seq(9)), k_mixed_kinds) << "it would be stale in silence";
  EXPECT_EQ(verdict_of(seq(9), seq(7, 1)), k_mixed_kinds) << "it would make all numbers stale";
  EXPECT_EQ(verdict_of(seq(7, 1), seq(9), true), k_duplicate);
  EXPECT_EQ(verdict_of(seq(7, 1), seq(8, 0)), k_apply);
  EXPECT_EQ(verdict_of(seq(7), seq(8)), k_apply);
  EXPECT_EQ(decide(k_latest, {.last = seq(7, 1), .incoming = seq(9)}), k_stale) << "an epoch of integers";
}

TEST(gate, never_applies_a_sequence_that_is_not_above_the_last) {
  for (const gate_facts& facts : every_facts()) {
    if (!facts.last || facts.incoming > *facts.last) continue;
    for (const gate_rules& rules : every_rules()) {
      if (rules.order == order::arrival) continue;
      ASSERT_NE(decide(rules, facts).verdict, verdict::applied);
    }
  }
}

TEST(gate, names_a_reason_exactly_where_it_rejects) {
  for (const gate_facts& facts : every_facts()) {
    for (const gate_rules& rules : every_rules()) {
      const decision d = decide(rules, facts);
      ASSERT_EQ(d.verdict == verdict::rejected, d.reason != reject_reason::none);
      ASSERT_NE(d.verdict, verdict::superseded);
      ASSERT_NE(d.verdict, verdict::ignored);
      ASSERT_NE(d.verdict, verdict::unhandled);
    }
  }
}

TEST(gate, parks_only_in_strict_order_or_behind_waiting_events) {
  for (const gate_facts& facts : every_facts()) {
    ASSERT_NE(decide(k_latest, facts).verdict, verdict::parked);
    if (!facts.blocked) {
      ASSERT_NE(decide(k_arrival, facts).verdict, verdict::parked);
    }
  }
}

TEST(gate, finds_the_successor_by_number_and_by_epoch) {
  EXPECT_TRUE(is_successor(seq(4), seq(5), k_strict));
  EXPECT_FALSE(is_successor(seq(4), seq(4), k_strict));
  EXPECT_FALSE(is_successor(seq(4), seq(6), k_strict));
  EXPECT_FALSE(is_successor(seq(k_max), seq(0), k_strict)) << "2^64-1 has no successor";
  EXPECT_FALSE(is_successor(seq(4), seq(1, 1), k_strict));
  EXPECT_TRUE(is_successor(seq(4), seq(1, 1), k_accept));
  EXPECT_FALSE(is_successor(seq(2, 4), seq(1, 1), k_accept)) << "a lower epoch never is";
}

constexpr gate_facts range(std::optional<sequence> last, std::uint64_t from, std::uint64_t to) {
  gate_facts facts{.last = last, .incoming = seq(to)};
  facts.begins_at = from;
  return facts;
}

TEST(gate, takes_a_range_of_numbers_where_none_is_missing_below_it) {
  EXPECT_EQ(decide(k_strict, range(seq(160), 161, 163)), k_apply);
  EXPECT_EQ(decide(k_strict, range(seq(160), 162, 163)), k_park) << "161 is missing";
  EXPECT_EQ(decide(k_strict, range(seq(160), 158, 163)), k_apply) << "some of it is known";
  EXPECT_EQ(decide(k_strict, range(seq(160), 158, 159)), k_stale);
  EXPECT_EQ(decide(k_strict, range(std::nullopt, 1, 5)), k_apply);
  EXPECT_EQ(decide(k_strict, range(std::nullopt, 0, 5)), k_apply);
  EXPECT_EQ(decide(k_strict, range(std::nullopt, 2, 5)), k_park);
  EXPECT_EQ(decide(k_strict_zero, range(std::nullopt, 0, 5)), k_apply);
  EXPECT_EQ(decide(k_strict_zero, range(std::nullopt, 1, 5)), k_park);
  EXPECT_EQ(decide(k_strict_any, range(std::nullopt, 157, 160)), k_apply) << "it says what comes before";
  EXPECT_EQ(decide(k_strict, range(seq(k_max), 0, k_max)), k_conflict);
}

TEST(gate, begins_an_epoch_with_a_range_that_has_its_first_number) {
  EXPECT_TRUE(is_successor(seq(4), seq(1, 3), k_accept, 1));
  EXPECT_FALSE(is_successor(seq(4), seq(1, 3), k_accept, 2));
  EXPECT_FALSE(is_successor(seq(4), seq(1, 3), k_accept));
  EXPECT_FALSE(is_first(seq(0), k_accept, 0)) << "1 is not in it";
  EXPECT_FALSE(is_first(seq(1), k_accept_any, 1)) << "no number is named";
}

}  // namespace
}  // namespace ratchet
