// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Which letters of dead events are one and the same to their readers, who drop repeats by the id.
#include "outbox/dead_letters.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

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

/// The letter, where `aggregate` is "a".
output_row row_of(order o, const waiting_event& event) {
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
  return rows.at(0);
}
event_id letter_of(order o, const waiting_event& event) {
  return row_of(o, event).id;
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

/// An operator has it tried again, and it dies once more.
TEST(dead_letters, of_two_deaths_of_one_event_are_two_where_they_say_two_things) {
  waiting_event once = dead(k_id, 1, 5);
  once.attempts = 3;
  once.error = "no such account";
  waiting_event again = once;
  EXPECT_EQ(row_of(order::latest, once), row_of(order::latest, again)) << "one id, and the same bytes";
  again.attempts = 4;
  EXPECT_NE(letter_of(order::latest, once), letter_of(order::latest, again));
  again.attempts = 3;
  again.error = "it is closed";
  EXPECT_NE(letter_of(order::latest, once), letter_of(order::latest, again));
}

TEST(dead_letters, of_two_events_of_one_record_are_two_and_say_which) {
  waiting_event second = dead({}, 1, 5);
  second.record.index = 1;
  for (const order o : {order::latest, order::strict, order::arrival})
    EXPECT_NE(letter_of(o, dead({}, 1, 5)), letter_of(o, second));
  const auto says = [](const output_row& row, const std::string& name) {
    for (const auto& [header, value] : row.headers) {
      if (header == name) return value.value_or("null");
    }
    return std::string{"nothing"};
  };
  EXPECT_EQ(says(row_of(order::latest, second), "ratchet-index"), "1");
  EXPECT_EQ(says(row_of(order::latest, dead({}, 1, 5)), "ratchet-index"), "nothing");
  second.record.index = 0;
  second.record.headers = {{"ratchet-index", "7"}};
  EXPECT_EQ(says(row_of(order::latest, second), "ratchet-index"), "nothing")
      << "a record cannot say it for us";
}

TEST(dead_letters, have_the_time_of_their_events_id) {
  EXPECT_EQ(letter_of(order::latest, dead(k_id, 1, 5)).time(), k_id.time());
}

/// Some readers take the first header of a name, and others the last.
TEST(dead_letters, leave_out_what_a_record_says_in_our_name) {
  waiting_event forged = dead(k_id, 1, 5);
  forged.record.headers = {{"trace", "1"},
                           {"kafka_dlt-original-topic", "another"},
                           {"kafka_dlt-anything", "x"},
                           {"ratchet-id", "another"},
                           {"ratchet-value-left-out", "x"},
                           {"ratchet-of-its-own", "2"}};
  std::map<std::string, std::vector<std::string>> found;
  for (const auto& [name, value] : row_of(order::latest, forged).headers)
    found[name].push_back(value.value_or(""));
  using all = std::vector<std::string>;
  EXPECT_EQ(found["trace"], all{"1"});
  EXPECT_EQ(found["ratchet-of-its-own"], all{"2"});
  EXPECT_EQ(found["kafka_dlt-original-topic"], all{"t"});
  EXPECT_EQ(found["ratchet-id"].size(), 1U);
  EXPECT_NE(found["ratchet-id"], all{"another"});
  EXPECT_EQ(found.count("kafka_dlt-anything"), 0U);
  EXPECT_EQ(found.count("ratchet-value-left-out"), 0U);
}

}  // namespace
}  // namespace ratchet
