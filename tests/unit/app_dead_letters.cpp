// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Which letters of dead events are one and the same to their readers, who drop repeats by the id.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/dead_letters.hpp"

namespace ratchet {
namespace {

struct nothing_done {
  static constexpr reducer_traits traits{
      .name = "nothing", .version = 1, .full_state = true, .has_effects = false};
  outcome apply(const event&, state&, effects&) const { return done(); }
};

waiting_event dead(std::optional<event_id> id, std::uint64_t number, std::int64_t offset) {
  waiting_event e;
  e.head.state = waiting_state::dead;
  e.head.id = id;
  e.head.sequence = seq(number);
  e.record.where = {"t", partition_id{0}};
  e.record.offset = offset;
  return e;
}

/// The id of the letter, where `aggregate` is "a".
event_id letter_of(order o, const waiting_event& event) {
  stream_config config;
  config.name = "s";
  config.order = o;
  config.dead_letter = "dlq";
  stream_runtime stream{config, reducer{nothing_done{}}};
  stream.group = "g";
  step_plan plan;
  plan.add("a");
  stream_change change;
  change.backlogs.emplace_back();
  change.backlogs.back().puts.push_back(event);
  std::vector<output_row> rows;
  tell_of_dead_ones(stream, plan, change, rows);
  return rows.at(0).id;
}

constexpr event_id k_id{0x018BCFE568007000U, 0x8000000000000001U};

TEST(dead_letters, of_one_id_under_two_numbers_are_two) {
  EXPECT_NE(letter_of(order::latest, dead(k_id, 1, 5)), letter_of(order::latest, dead(k_id, 2, 5)));
}

/// Somebody discards the first, and the sender's better one is dead as well.
TEST(dead_letters, of_one_event_in_two_records_are_two) {
  for (const order o : {order::latest, order::strict, order::arrival}) {
    EXPECT_NE(letter_of(o, dead(k_id, 1, 5)), letter_of(o, dead(k_id, 1, 6)));
    EXPECT_NE(letter_of(o, dead({}, 1, 5)), letter_of(o, dead({}, 1, 6))) << "ties of a log position, too";
  }
}

TEST(dead_letters, of_one_record_are_one) {
  for (const order o : {order::latest, order::strict, order::arrival}) {
    EXPECT_EQ(letter_of(o, dead(k_id, 1, 5)), letter_of(o, dead(k_id, 1, 5)));
    EXPECT_EQ(letter_of(o, dead({}, 1, 5)), letter_of(o, dead({}, 1, 5)));
  }
  EXPECT_EQ(letter_of(order::arrival, dead(k_id, 1, 5)), letter_of(order::arrival, dead(k_id, 2, 5)))
      << "a state that is built anew may give it another number";
}

TEST(dead_letters, have_the_time_of_their_events_id) {
  EXPECT_EQ(letter_of(order::latest, dead(k_id, 1, 5)).time(), k_id.time());
}

}  // namespace
}  // namespace ratchet
