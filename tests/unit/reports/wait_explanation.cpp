// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What is said of events that wait: why each does.
#include "reports/wait_explanation.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/waiting_support.hpp"

namespace ratchet {
namespace {

using namespace std::chrono_literals;
using testing::head;
using testing::k_max;
using testing::k_noon;

struct story_row {
  const char* name;
  gate_rules rules;
  std::optional<sequence> last;
  sequence lowest;
  waiting_head asked;
  const char* reason;
  std::optional<sequence_range> missing;
};

constexpr gate_rules k_strict{order::strict, first_number::one, epoch_change::park};
constexpr gate_rules k_from_zero{order::strict, first_number::zero, epoch_change::park};
constexpr gate_rules k_from_any{order::strict, first_number::any, epoch_change::park};
constexpr gate_rules k_accepts{order::strict, first_number::one, epoch_change::accept};
constexpr gate_rules k_arrival{order::arrival, first_number::one, epoch_change::park};
constexpr gate_rules k_latest{order::latest, first_number::one, epoch_change::park};

sequence_range range(sequence first, sequence last) {
  return {first, last};
}

const story_row k_stories[] = {
    {"one_is_missing", k_strict, seq(5), seq(7), head(seq(7)), "gap", range(seq(6), seq(6))},
    {"several_are", k_strict, seq(5), seq(9), head(seq(9)), "gap", range(seq(6), seq(8))},
    {"nothing_came_before", k_strict, {}, seq(3), head(seq(3)), "gap", range(seq(1), seq(2))},
    {"nothing_came_before_and_0_is_the_first",
     k_from_zero,
     {},
     seq(3),
     head(seq(3)),
     "gap",
     range(seq(0), seq(2))},
    {"in_an_epoch_of_its_own", k_strict, {}, seq(4, 3), head(seq(4, 3)), "gap", range(seq(4, 1), seq(4, 2))},
    {"the_first_is_to_be_found_out", k_from_any, {}, seq(3), head(seq(3)), "gap", {}},
    {"a_gap_behind_any_first", k_from_any, seq(3), seq(5), head(seq(5)), "gap", range(seq(4), seq(4))},
    {"another_epoch_is_left_to_an_operator", k_strict, seq(5), seq(1, 1), head(seq(1, 1)), "epoch", {}},
    {"another_epoch_begins_with_its_first", k_accepts, seq(5), seq(1, 3), head(seq(1, 3)), "gap",
     range(seq(1, 1), seq(1, 2))},
    {"nothing_comes_after_the_last_number", k_strict, seq(k_max), seq(1, 1), head(seq(1, 1)), "epoch", {}},
    {"its_turn_has_come", k_strict, seq(5), seq(6), head(seq(6)), "ready", {}},
    {"its_turn_has_come_in_another_epoch", k_accepts, seq(5), seq(1, 1), head(seq(1, 1)), "ready", {}},
    {"its_turn_has_come_as_the_first", k_strict, {}, seq(1), head(seq(1)), "ready", {}},
    {"earlier_ones_wait", k_strict, seq(5), seq(7), head(seq(8)), "behind", {}},
    {"earlier_ones_wait_far_below", k_strict, seq(5), seq(7), head(seq(20)), "behind", {}},
    {"its_reducer_failed", k_strict, seq(5), seq(6), head(seq(6), waiting_state::retrying), "reducer", {}},
    {"its_reducer_gave_up", k_latest, seq(5), seq(6), head(seq(6), waiting_state::dead), "reducer", {}},
    {"in_arrival_order_numbers_say_nothing", k_arrival, seq(5), seq(9), head(seq(9)), "ready", {}},
    {"in_arrival_order_earlier_ones_wait", k_arrival, seq(5), seq(6), head(seq(7)), "behind", {}},
};

TEST(a_waiting_event, says_what_it_waits_for) {
  for (const story_row& row : k_stories) {
    waiting_aggregate of;
    of.last = row.last;
    of.lowest = row.lowest;
    const wait_story story = story_of(row.rules, of, row.asked);
    EXPECT_STREQ(name_of(story.reason), row.reason) << row.name;
    EXPECT_EQ(story.missing, row.missing) << row.name;
    EXPECT_EQ(story.state, row.asked.state) << row.name;
  }
}

TEST(a_waiting_event, of_a_gap_that_was_skipped_waits_for_nothing_more) {
  waiting_aggregate of;
  of.last = seq(5);
  of.lowest = seq(9);
  of.backlog.ready = true;
  const wait_story story = story_of(k_strict, of, head(seq(9)));
  EXPECT_EQ(story.reason, wait_reason::ready);
  EXPECT_FALSE(story.missing);
}

TEST(a_waiting_event, that_was_adopted_as_the_first_is_ready) {
  waiting_aggregate of;
  of.lowest = seq(9);
  of.backlog.adopted = seq(9);
  EXPECT_EQ(story_of(k_from_any, of, head(seq(9))).reason, wait_reason::ready);
}

TEST(a_waiting_event, is_behind_an_old_one_of_an_unknown_aggregate_whatever_its_number) {
  waiting_aggregate of;
  of.lowest = seq(1);
  of.backlog.dead = 1;
  of.backlog.too_old = 1;
  EXPECT_EQ(story_of(k_strict, of, head(seq(1))).reason, wait_reason::behind);
  EXPECT_EQ(missing_below_lowest(k_strict, of), std::nullopt);
  waiting_event old;
  old.head = head(seq(4), waiting_state::dead);
  EXPECT_EQ(story_of(k_strict, of, old).reason, wait_reason::too_old);
  of.last = seq(0);
  EXPECT_EQ(story_of(k_strict, of, head(seq(1))).reason, wait_reason::ready);
}

TEST(a_waiting_event, of_a_held_aggregate_is_dead_and_says_why) {
  waiting_aggregate of;
  of.last = seq(5);
  of.lowest = seq(7);
  of.backlog.held = true;
  const wait_story parked = story_of(k_strict, of, head(seq(8)));
  EXPECT_EQ(parked.state, waiting_state::dead);
  EXPECT_EQ(parked.reason, wait_reason::limit);
  const wait_story failed = story_of(k_strict, of, head(seq(7), waiting_state::retrying));
  EXPECT_EQ(failed.state, waiting_state::dead);
  EXPECT_EQ(failed.reason, wait_reason::reducer);
}

TEST(a_waiting_event, is_judged_by_the_rules_that_the_state_was_made_with) {
  named_stream stream{"s", stream_id{0}, {{"order", "strict"}, {"first", "0"}, {"epoch_change", "accept"}}};
  EXPECT_EQ(rules_of(stream), (gate_rules{order::strict, first_number::zero, epoch_change::accept}));
  stream.meaning = {{"order", "strict"}, {"first", "any"}, {"epoch_change", "park"}};
  EXPECT_EQ(rules_of(stream), k_from_any);
  stream.meaning = {{"order", "arrival"}};
  EXPECT_EQ(rules_of(stream), k_arrival);
}

TEST(a_sequence_word, is_taken_back_as_it_is_printed_and_as_json_has_it) {
  for (const sequence s : {seq(0), seq(7), seq(3, 7), seq(k_max, k_max)}) {
    EXPECT_EQ(sequence_of(sequence_word(s)), s);
    json_writer json;
    json.sequence(s);
    EXPECT_EQ(sequence_of(json.text()), s) << json.text();
  }
  EXPECT_EQ(sequence_of("[3, 7]"), seq(3, 7));
  EXPECT_EQ(sequence_of("0:7"), seq(7));
  EXPECT_EQ(sequence_of("18446744073709551616"), seq(1, 0)) << "a number of 128 bits, as it came";
  for (const char* bad : {"", "x", "-1", "3:", ":7", "3:7:1", "[7]", "[3,7", "3,7", "[3,,7]",
                          "0:18446744073709551616", "340282366920938463463374607431768211456"}) {
    EXPECT_FALSE(sequence_of(bad)) << bad;
  }
}

TEST(an_age, is_told_by_its_two_largest_units) {
  EXPECT_EQ(age_text(0ms), "0ms");
  EXPECT_EQ(age_text(999ms), "999ms");
  EXPECT_EQ(age_text(61'500ms), "1m 1s");
  EXPECT_EQ(age_text(1h), "1h");
  EXPECT_EQ(age_text(3h + 12min + 5s), "3h 12m");
  EXPECT_EQ(age_text(49h + 59s), "2d 1h");
}

TEST(stream_time, is_the_lowest_of_what_the_partitions_have_come_to) {
  stream_state state;
  EXPECT_FALSE(stream_time_of(state));
  state.partitions[{"t", partition_id{0}}].highest_time = k_noon + 5s;
  state.partitions[{"t", partition_id{1}}].highest_time = k_noon + 9s;
  state.partitions[{"t", partition_id{2}}].highest_time = k_noon;
  state.partitions[{"t", partition_id{2}}].idle = true;
  EXPECT_EQ(stream_time_of(state), k_noon + 5s) << "one that is left out holds nothing back";
  for (auto& [where, partition] : state.partitions) partition.idle = true;
  EXPECT_EQ(stream_time_of(state), k_noon + 9s);
}

TEST(a_place_in_front_of_an_aggregate, is_behind_those_before_it_and_before_its_first_event) {
  for (const std::string& aggregate :
       {std::string{"p1"}, std::string{"a\0", 2}, std::string{"\x01"}, std::string{"\xFF"}}) {
    const waiting_place place = in_front_of(aggregate);
    EXPECT_LT((std::pair{place.aggregate, place.sequence}), (std::pair{aggregate, seq(0)})) << aggregate;
  }
  const waiting_place place = in_front_of("p1");
  EXPECT_GT((std::pair{place.aggregate, place.sequence}),
            (std::pair{std::string{"p0zzz"}, seq(k_max, k_max)}));
  EXPECT_GT((std::pair{place.aggregate, place.sequence}), (std::pair{std::string{"p"}, seq(k_max, k_max)}));
}

}  // namespace
}  // namespace ratchet
