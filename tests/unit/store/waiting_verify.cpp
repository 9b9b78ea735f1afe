// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include "store/layout/waiting.hpp"
#include "store/open/verify.hpp"
#include "unit/store/waiting_support.hpp"

/// What verify finds of waiting events, and what becomes of them where a stream starts over.
namespace ratchet {
namespace {

using store_support::at_second;
using store_support::id_of_number;
using store_support::must;
using store_support::waiting_at;
using store_support::waiting_change;
using store_support::waiting_fixture;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr stream_id k_stream{1};
using layout::waiting_kind;

std::string event_key(sequence s) {
  std::string key;
  layout::append_waiting_event_key(key, k_stream, k_instance_slot, "p1", s);
  return key;
}
std::string backlog_key(std::string_view aggregate) {
  std::string key;
  layout::append_backlog_key(key, k_stream, k_instance_slot, aggregate);
  return key;
}
std::string due_key(waiting_kind kind, timestamp time) {
  std::string key;
  layout::append_due_key(key, kind, k_stream, time, k_instance_slot, "p1");
  return key;
}
std::string id_key(const event_id& id) {
  std::string key;
  layout::append_waiting_id_key(key, k_stream, k_instance_slot, "p1", id);
  return key;
}

class verify_of_what_waits : public waiting_fixture {
 protected:
  explicit verify_of_what_waits(ratchet::order order = order::arrival) : waiting_fixture{order} {}
  using edit = std::function<void(database&)>;

  /// Two parked events behind the last one handled, with a wake and a gap.
  static waiting_change sound() {
    return {"p1",
            {waiting_at(seq(5)), waiting_at(seq(7))},
            {},
            [](backlog& b) {
              b.wake = at_second(20);
              b.gap_since = at_second(10);
            },
            seq(3)};
  }
  /// What is found once this was written, and the database was changed behind the store's back.
  std::vector<std::string> findings(const waiting_change& change, const edit& spoil = {}) {
    {
      auto s = open();
      write(*s, {change});
      if (spoil) spoil(database_of(*s));
    }
    return must(verify_store(path()));
  }
  static edit erase(const std::string& key) {
    return [key](database& db) { ASSERT_TRUE(db.db().Delete({}, db.handle(family::waiting), key).ok()); };
  }
  static edit put(const std::string& key, const std::string& value) {
    return [key, value](database& db) {
      ASSERT_TRUE(db.db().Put({}, db.handle(family::waiting), key, value).ok());
    };
  }
};

TEST_F(verify_of_what_waits, finds_nothing_where_all_is_well) {
  EXPECT_THAT(findings(sound()), IsEmpty());
}

TEST_F(verify_of_what_waits, finds_an_event_that_is_missing) {
  const std::uint64_t bytes = waiting_at(seq(5)).bytes();
  EXPECT_THAT(
      findings(sound(), erase(event_key(seq(7)))),
      ElementsAre(HasSubstr("it counts 2 parked, 0 retrying and 0 dead events, and there are 1 parked, 0 "
                            "retrying and 0 dead"),
                  HasSubstr("no event waits under this id"),
                  HasSubstr(std::to_string(2 * bytes) +
                            " bytes of waiting events are counted, and there are " + std::to_string(bytes))));
}

TEST_F(verify_of_what_waits, finds_an_event_of_another_state) {
  EXPECT_THAT(findings(sound(), put(event_key(seq(7)),
                                    layout::encode_waiting_event(waiting_at(seq(7), waiting_state::dead)))),
              ::testing::Contains(HasSubstr("there are 1 parked, 0 retrying and 1 dead")));
}

TEST_F(verify_of_what_waits, finds_a_backlog_that_is_missing) {
  EXPECT_THAT(
      findings(sound(), erase(backlog_key("p1"))),
      ElementsAre(HasSubstr("sequences: \\x00\\x00\\x00\\x01\\x00\\x00\\x00\\x00p1: its backlog is missing"),
                  HasSubstr("its aggregate has no backlog"), HasSubstr("its aggregate has no backlog"),
                  HasSubstr("its aggregate has no backlog"), HasSubstr("its aggregate has no backlog"),
                  HasSubstr("2 parked events are counted, and there are 0")));
}

TEST_F(verify_of_what_waits, finds_index_entries_that_are_missing) {
  EXPECT_THAT(findings(sound(), erase(due_key(waiting_kind::wake, at_second(20)))),
              ElementsAre(HasSubstr("its wake is not in the index")));
}

TEST_F(verify_of_what_waits, finds_a_gap_that_is_not_in_the_index) {
  EXPECT_THAT(findings(sound(), erase(due_key(waiting_kind::gap, at_second(10)))),
              ElementsAre(HasSubstr("its gap is not in the index")));
}

TEST_F(verify_of_what_waits, finds_an_id_that_is_not_in_the_index) {
  EXPECT_THAT(findings(sound(), erase(id_key(id_of_number(7)))),
              ElementsAre(HasSubstr("its id is not in the index")));
}

TEST_F(verify_of_what_waits, finds_an_id_under_another_number) {
  EXPECT_THAT(findings(sound(), put(id_key(id_of_number(7)), layout::encode_sequence(seq(5)))),
              ElementsAre(HasSubstr("its id is in the index under another number"),
                          HasSubstr("its event has another id")));
}

TEST_F(verify_of_what_waits, finds_index_entries_of_nothing) {
  EXPECT_THAT(
      findings(sound(),
               [](database& db) {
                 put(due_key(waiting_kind::wake, at_second(21)), std::string{layout::encode_presence()})(db);
                 put(due_key(waiting_kind::gap, at_second(20)), std::string{layout::encode_presence()})(db);
                 put(id_key(id_of_number(99)), layout::encode_sequence(seq(99)))(db);
                 put("\x06", "")(db);
               }),
      ElementsAre(HasSubstr("its backlog does not have this time"),
                  HasSubstr("its backlog does not have this time"), HasSubstr("no event waits under this id"),
                  HasSubstr("an unknown key")));
}

TEST_F(verify_of_what_waits, finds_rows_that_cannot_be_decoded) {
  EXPECT_THAT(findings(sound(), put(event_key(seq(7)), "x")),
              ::testing::Contains(HasSubstr("cannot be decoded")));
}

TEST_F(verify_of_what_waits, finds_a_row_that_does_not_say_that_it_waits) {
  waiting_change change = sound();
  change.spoil_row = [](aggregate_row& row) { row.waits = false; };
  EXPECT_THAT(findings(change),
              ElementsAre(HasSubstr("the row of its aggregate does not show that it waits")));
}

TEST_F(verify_of_what_waits, finds_a_row_that_waits_for_nothing) {
  waiting_change change;
  change.aggregate = "p1";
  change.last = seq(3);
  change.spoil_row = [](aggregate_row& row) { row.waits = true; };
  EXPECT_THAT(findings(change), ElementsAre(HasSubstr("its backlog is missing")));
}

TEST_F(verify_of_what_waits, finds_a_backlog_whose_aggregate_has_no_row) {
  waiting_change change = sound();
  change.last.reset();
  change.spoil_row = [](aggregate_row& row) { row.waits = false; };
  EXPECT_THAT(findings(change), ElementsAre(HasSubstr("its aggregate has no row")));
}

TEST_F(verify_of_what_waits, finds_an_event_that_was_passed) {
  waiting_change change = sound();
  change.last = seq(5);
  EXPECT_THAT(findings(change),
              ElementsAre(HasSubstr("an event waits that is not above the last one handled")));
}

TEST_F(verify_of_what_waits, finds_a_highest_that_is_too_low) {
  waiting_change change = sound();
  change.spoil = [](backlog_change& b) { b.after->highest = seq(6); };
  EXPECT_THAT(findings(change), ElementsAre(HasSubstr("an event lies above its highest")));
}

TEST_F(verify_of_what_waits, finds_the_age_of_a_gap_that_is_held) {
  waiting_change change = sound();
  change.edit = [](backlog& b) {
    b.held = true;
    b.gap_since = at_second(1);
  };
  EXPECT_THAT(findings(change), ElementsAre(HasSubstr("held, and yet its gap has an age")));
}

TEST_F(verify_of_what_waits, finds_the_age_of_a_gap_below_nothing) {
  waiting_change change = sound();
  change.puts.clear();
  change.edit = [](backlog& b) {
    b.skipped = {{seq(1), seq(2)}};
    b.gap_since = at_second(1);
  };
  EXPECT_THAT(findings(change), ElementsAre(HasSubstr("a gap has an age, and nothing waits")));
}

TEST_F(verify_of_what_waits, finds_skipped_numbers_out_of_order) {
  waiting_change change = sound();
  change.edit = [](backlog& b) { b.skipped = {{seq(1), seq(2)}, {seq(4), seq(3)}}; };
  EXPECT_THAT(findings(change), ElementsAre(HasSubstr("skipped numbers are not in order")));
}

TEST_F(verify_of_what_waits, joins_numbers_that_an_earlier_version_skipped_twice) {
  waiting_change change = sound();
  change.edit = [](backlog& b) { b.skipped = {{seq(1), seq(1)}, {seq(2), seq(3)}, {seq(2), seq(3)}}; };
  EXPECT_THAT(findings(change), IsEmpty());
}

/// As sound(), but the first event is accepted.
waiting_change with_accepted(waiting_change change, std::uint64_t events, sequence up_to = seq(5)) {
  change.edit = [events, up_to](backlog& b) { b.accepted = {up_to, {}, {}, events}; };
  return change;
}

TEST_F(verify_of_what_waits, wants_no_index_of_the_ids_of_accepted_events) {
  EXPECT_THAT(findings(with_accepted(sound(), 1)), IsEmpty());
  auto s = open();
  const auto at = [&](std::uint64_t n) {
    return must(database_of(*s).get({}, family::waiting, id_key(id_of_number(n)))).has_value();
  };
  EXPECT_FALSE(at(5));
  EXPECT_TRUE(at(7));
  write(*s, {{"p1", {}, {seq(5)}, [](backlog& b) { b.accepted.reset(); }}});
  EXPECT_TRUE(at(7));
}

TEST_F(verify_of_what_waits, finds_accepted_events_that_are_missing) {
  EXPECT_THAT(findings(with_accepted(sound(), 2)),
              ElementsAre(HasSubstr("it counts 2 accepted events, and there are 1")));
}

TEST_F(verify_of_what_waits, counts_the_events_that_are_too_old) {
  waiting_change change = sound();
  change.puts.push_back(waiting_at(seq(9), waiting_state::dead));
  change.puts.back().attempts = 0;
  change.edit = [](backlog& b) { b.too_old = 1; };
  EXPECT_THAT(findings(change), IsEmpty());
}

TEST_F(verify_of_what_waits, finds_that_an_event_is_not_too_old) {
  waiting_change change = sound();
  change.puts.push_back(waiting_at(seq(9), waiting_state::dead));
  change.puts.back().attempts = 3;
  change.edit = [](backlog& b) { b.too_old = 1; };
  EXPECT_THAT(findings(change),
              ElementsAre(HasSubstr("it counts 1 events that are too old, and there are 0")));
}

TEST_F(verify_of_what_waits, finds_that_nothing_is_accepted_above_the_last_one_handled) {
  EXPECT_THAT(findings(with_accepted(sound(), 1, seq(3))),
              ::testing::Contains(HasSubstr("it counts 1 accepted events, and there are 0")));
}

TEST_F(verify_of_what_waits, counts_accepted_events_of_a_held_backlog_by_themselves) {
  waiting_change change = sound();
  change.edit = [](backlog& b) {
    b.held = true;
    b.accepted = {seq(5), {}, {}, 1};
  };
  EXPECT_THAT(findings(change), IsEmpty());
  auto s = open();
  EXPECT_EQ(must(s->load(k_stream)).counters.waiting_dead, 1U);
  EXPECT_EQ(must(s->load(k_stream)).counters.waiting_parked, 1U);
}

TEST_F(verify_of_what_waits, finds_a_backlog_of_nothing) {
  waiting_change change = sound();
  change.puts.clear();
  change.spoil = [](backlog_change& b) { b.after = backlog{}; };
  change.spoil_row = [](aggregate_row& row) { row.waits = true; };
  change.edit = {};
  EXPECT_THAT(findings(change), ElementsAre(HasSubstr("nothing waits, and nothing was skipped")));
}

TEST_F(verify_of_what_waits, counts_the_events_of_a_held_backlog_as_dead) {
  waiting_change change = sound();
  change.edit = [](backlog& b) { b.held = true; };
  EXPECT_THAT(findings(change), IsEmpty());
  auto s = open();
  EXPECT_EQ(must(s->load(k_stream)).counters.waiting_dead, 2U);
  EXPECT_EQ(must(s->load(k_stream)).counters.waiting_parked, 0U);
}

struct verify_of_what_waits_in_strict_order : verify_of_what_waits {
  verify_of_what_waits_in_strict_order() : verify_of_what_waits{order::strict} {}
};

TEST_F(verify_of_what_waits_in_strict_order, wants_no_index_of_ids) {
  EXPECT_THAT(findings(sound()), IsEmpty());
  auto s = open();
  const std::string key = id_key(id_of_number(5));
  EXPECT_FALSE(must(database_of(*s).get({}, family::waiting, key)));
}

}  // namespace
}  // namespace ratchet
