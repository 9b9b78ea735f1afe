// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/layout/waiting.hpp"

#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include "store/open/verify.hpp"
#include "unit/store/waiting_support.hpp"

/// What a look-up says of aggregates that have a backlog.
namespace ratchet {
namespace {

using store_support::asked_for;
using store_support::at_second;
using store_support::id_of_number;
using store_support::must;
using store_support::numbers_of;
using store_support::waiting_at;
using store_support::waiting_change;
using store_support::waiting_fixture;

using numbers = std::vector<std::uint64_t>;

std::vector<waiting_event> parked(const numbers& which) {
  std::vector<waiting_event> out;
  for (const std::uint64_t n : which) out.push_back(waiting_at(seq(n)));
  return out;
}

/// The numbers from `first` on, `count` of them.
numbers row_of_numbers(std::uint64_t first, std::uint64_t count) {
  numbers out;
  for (std::uint64_t i = 0; i < count; ++i) out.push_back(first + i);
  return out;
}

struct a_strict_backlog : waiting_fixture {};
struct a_latest_backlog : waiting_fixture {
  a_latest_backlog() : waiting_fixture{order::latest} {}
};
struct an_arrival_backlog : waiting_fixture {
  an_arrival_backlog() : waiting_fixture{order::arrival} {}
};

TEST_F(a_strict_backlog, is_read_back_as_it_was_written) {
  waiting_event bare;
  bare.head.sequence = seq(2, 9);
  bare.tombstone = true;
  waiting_event own = waiting_at(seq(7), waiting_state::retrying);
  own.record.value.reset();
  own.own_payload = "of its own";
  const waiting_event dead = waiting_at(seq(8), waiting_state::dead);
  auto s = open();
  write(*s, {{"p1", {own, dead, bare}, {}, [](backlog& b) {
                b.ready = true;
                b.wake = at_second(20);
                b.gap_since = at_second(10);
                b.adopted = seq(4);
                b.skipped = {{seq(1), seq(3)}, {seq(1, 5), seq(1, 5)}};
              }}});
  for (int opens = 0; opens < 2; ++opens) {
    asked_for ask{order::strict};
    ask.event("p1", seq(1)).event("p2", seq(1));
    const step_rows rows = ask.in(*s);
    ASSERT_TRUE(rows.aggregates[0]);
    EXPECT_FALSE(rows.aggregates[0]->has_last);
    EXPECT_TRUE(rows.aggregates[0]->waits);
    EXPECT_FALSE(rows.aggregates[1]);
    ASSERT_EQ(rows.backlogs.size(), 1U);
    EXPECT_EQ(rows.backlogs[0].first, 0U);
    const backlog_rows& found = rows.backlogs[0].second;
    EXPECT_EQ(found.backlog, *now("p1").log);
    EXPECT_EQ(found.backlog.highest, seq(2, 9));
    ASSERT_EQ(found.queue.size(), 3U);
    EXPECT_EQ(found.queue[0], own);
    EXPECT_EQ(found.queue[1], dead);
    EXPECT_EQ(found.queue[2], bare);
    EXPECT_TRUE(found.complete);
    EXPECT_TRUE(found.near.empty());
    s.reset();
    EXPECT_EQ(must(verify_store(path())), std::vector<std::string>{});
    s = open();
  }
}

TEST_F(a_strict_backlog, is_looked_for_only_where_the_row_says_that_it_waits) {
  auto s = open();
  write(*s, {{"p1", parked({5}), {}}, {"p2", {}, {}, {}, seq(3)}});
  asked_for ask{order::strict};
  ask.event("p2", seq(4)).event("p1", seq(9));
  const step_rows rows = ask.in(*s);
  ASSERT_EQ(rows.backlogs.size(), 1U);
  EXPECT_EQ(rows.backlogs[0].first, 1U);
  // Once nothing waits any more it costs nothing again.
  write(*s, {{"p1", {}, {seq(5)}, {}, seq(5)}});
  EXPECT_TRUE(ask.in(*s).backlogs.empty());
  EXPECT_FALSE(ask.in(*s).aggregates[1]->waits);
}

TEST_F(a_strict_backlog, gives_its_first_alone_to_events_that_come_behind_it) {
  auto s = open();
  write(*s, {{"p1", parked({5, 6, 9, 12}), {}, {}, seq(2)}});
  asked_for ask{order::strict};
  ask.event("p1", seq(9)).event("p1", seq(7)).event("p1", seq(10)).event("p1", seq(11)).event("p1", seq(13));
  const backlog_rows found = ask.in(*s).backlogs.at(0).second;
  EXPECT_EQ(numbers_of(found.queue), (numbers{5}));
  EXPECT_FALSE(found.complete);
  EXPECT_EQ(numbers_of(found.near), (numbers{9, 12}))
      << "the first at or above 7, 9, 10 and 11; none above 13";
  EXPECT_EQ(found.near[0], waiting_at(seq(9)).head);
}

TEST_F(a_strict_backlog, gives_no_neighbour_to_an_event_at_its_first) {
  auto s = open();
  write(*s, {{"p1", parked({5, 6}), {}}, {"p2", parked({5}), {}}});
  asked_for ask{order::strict};
  ask.event("p1", seq(5)).event("p2", seq(9));
  const step_rows rows = ask.in(*s);
  EXPECT_TRUE(rows.backlogs.at(0).second.near.empty());
  EXPECT_FALSE(rows.backlogs.at(0).second.complete);
  EXPECT_TRUE(rows.backlogs.at(1).second.complete);
  EXPECT_TRUE(rows.backlogs.at(1).second.near.empty()) << "its queue says it all";
}

TEST_F(a_strict_backlog, tells_of_the_highest_that_waits) {
  auto s = open();
  write(*s, {{"p1", parked({5, 6, 9}), {}}});
  asked_for ask{order::strict};
  ask.event("p1", seq(9));
  EXPECT_EQ(numbers_of(ask.in(*s).backlogs.at(0).second.near), (numbers{9}));
}

TEST_F(a_strict_backlog, is_read_whole_where_an_event_may_close_its_gap) {
  auto s = open();
  write(*s, {{"p1", parked({5, 6, 9}), {}}});
  asked_for ask{order::strict};
  ask.event("p1", seq(9)).event("p1", seq(4));
  const backlog_rows found = ask.in(*s).backlogs.at(0).second;
  EXPECT_EQ(numbers_of(found.queue), (numbers{5, 6, 9}));
  EXPECT_TRUE(found.complete);
  EXPECT_TRUE(found.near.empty());
}

TEST_F(a_strict_backlog, is_read_whole_where_it_is_ready_or_resumed) {
  auto s = open();
  write(*s, {{"p1", parked({5, 6}), {}}, {"p2", parked({7, 8}), {}, [](backlog& b) { b.ready = true; }}});
  asked_for later{order::strict};
  later.event("p1", seq(9)).event("p2", seq(9));
  step_rows rows = later.in(*s);
  EXPECT_EQ(numbers_of(rows.backlogs.at(0).second.queue), (numbers{5}));
  EXPECT_EQ(numbers_of(rows.backlogs.at(1).second.queue), (numbers{7, 8}));
  asked_for timer{order::strict};
  timer.add("p1");
  timer.plan.resumes = true;
  rows = timer.in(*s);
  EXPECT_EQ(numbers_of(rows.backlogs.at(0).second.queue), (numbers{5, 6}));
  EXPECT_TRUE(rows.backlogs.at(0).second.complete);
}

TEST_F(a_strict_backlog, is_read_behind_what_is_accepted_unless_that_is_run) {
  auto s = open();
  const auto accept_6 = [](backlog& b) {
    b.ready = true;
    b.wake = at_second(20);
    b.accepted = {seq(6), {}, {}, 2};
  };
  write(*s, {{"p1", parked({5, 6, 8, 9}), {}, accept_6}, {"p2", parked({5, 6}), {}, accept_6}});
  asked_for later{order::strict};
  later.event("p1", seq(9)).event("p2", seq(7));
  step_rows rows = later.in(*s);
  EXPECT_EQ(numbers_of(rows.backlogs.at(0).second.queue), (numbers{8}));
  EXPECT_FALSE(rows.backlogs.at(0).second.complete);
  EXPECT_EQ(numbers_of(rows.backlogs.at(0).second.near), (numbers{9}));
  EXPECT_EQ(numbers_of(rows.backlogs.at(1).second.queue), (numbers{}));
  EXPECT_TRUE(rows.backlogs.at(1).second.complete);
  asked_for closing{order::strict};
  closing.event("p1", seq(7));
  rows = closing.in(*s);
  EXPECT_EQ(numbers_of(rows.backlogs.at(0).second.queue), (numbers{8, 9}));
  EXPECT_TRUE(rows.backlogs.at(0).second.complete);
  for (const bool runs : {false, true}) {
    asked_for timer{order::strict};
    timer.add("p1");
    timer.plan.resumes = true;
    timer.plan.runs_accepted = runs;
    rows = timer.in(*s);
    EXPECT_EQ(numbers_of(rows.backlogs.at(0).second.queue), runs ? (numbers{5, 6, 8, 9}) : (numbers{8, 9}));
    EXPECT_TRUE(rows.backlogs.at(0).second.complete);
  }
}

TEST_F(a_strict_backlog, gives_no_more_than_the_limit_in_all_but_the_first_of_each) {
  auto s = open();
  write(*s, {{"p3", parked(row_of_numbers(10, 3000)), {}},
             {"p2", parked(row_of_numbers(10, 3000)), {}},
             {"p1", parked({10, 11}), {}}});
  asked_for ask{order::strict};
  ask.event("p3", seq(1)).event("p2", seq(1)).event("p2", seq(2000)).event("p1", seq(1));
  const step_rows rows = ask.in(*s);
  ASSERT_EQ(rows.backlogs.size(), 3U);
  const backlog_rows& first = rows.backlogs[0].second;
  const backlog_rows& second = rows.backlogs[1].second;
  const backlog_rows& third = rows.backlogs[2].second;
  EXPECT_EQ(first.queue.size(), 3000U);
  EXPECT_TRUE(first.complete);
  EXPECT_EQ(second.queue.size(), k_queue_events - 3000 - 1);
  EXPECT_FALSE(second.complete);
  EXPECT_EQ(numbers_of(second.near), (numbers{2000}));
  EXPECT_EQ(numbers_of(third.queue), (numbers{10}));
  EXPECT_FALSE(third.complete);
}

TEST_F(a_strict_backlog, comes_in_the_order_of_the_plan_however_it_was_found) {
  auto s = open();
  const numbers many = row_of_numbers(1, 40);
  std::vector<waiting_change> changes;
  for (const std::uint64_t n : many) changes.push_back({"p" + std::to_string(n), parked({5}), {}});
  write(*s, changes);
  asked_for ask{order::strict};
  std::vector<std::string> names;
  for (const std::uint64_t n : many) names.push_back("p" + std::to_string(41 - n));
  for (const std::string& name : names) ask.event(name, seq(6));
  for (int opens = 0; opens < 2; ++opens) {
    const step_rows rows = ask.in(*s);
    ASSERT_EQ(rows.backlogs.size(), many.size());
    for (std::uint32_t i = 0; i < rows.backlogs.size(); ++i) EXPECT_EQ(rows.backlogs[i].first, i);
    // Half of the rows are remembered, half are asked for.
    s.reset();
    s = open();
    asked_for half{order::strict};
    for (std::size_t i = 0; i < names.size(); i += 2) half.event(names[i], seq(6));
    EXPECT_EQ(half.in(*s).backlogs.size(), many.size() / 2);
  }
}

TEST_F(a_strict_backlog, begins_behind_what_was_taken_from_it) {
  auto s = open();
  write(*s, {{"p1", parked({5, 6, 7, 9}), {}, {}, seq(3)}});
  write(*s, {{"p1", {}, {seq(5), seq(6)}, {}, seq(6)}});
  asked_for ask{order::strict};
  ask.plan.resumes = true;
  ask.add("p1");
  EXPECT_EQ(numbers_of(ask.in(*s).backlogs.at(0).second.queue), (numbers{7, 9}));
  // One that is put again takes the place of the one before.
  write(*s, {{"p1", {waiting_at(seq(7), waiting_state::dead)}, {}}});
  const backlog_rows found = ask.in(*s).backlogs.at(0).second;
  EXPECT_EQ(numbers_of(found.queue), (numbers{7, 9}));
  EXPECT_EQ(found.queue[0].head.state, waiting_state::dead);
  EXPECT_EQ(found.backlog.dead, 1U);
}

TEST_F(a_strict_backlog, of_one_aggregate_holds_nothing_of_others_whose_names_begin_alike) {
  auto s = open();
  const std::string zero{"a\0", 2};
  const std::string zeros{"a\0\xff", 3};
  write(*s,
        {{"a", parked({5}), {}}, {zero, parked({6}), {}}, {zeros, parked({7}), {}}, {"ab", parked({8}), {}}});
  asked_for ask{order::strict};
  ask.plan.resumes = true;
  for (const std::string_view name :
       {std::string_view{"ab"}, std::string_view{zeros}, std::string_view{zero}, std::string_view{"a"}}) {
    ask.add(name);
  }
  const step_rows rows = ask.in(*s);
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(numbers_of(rows.backlogs.at(i).second.queue), (numbers{8 - i})) << i;
    EXPECT_TRUE(rows.backlogs.at(i).second.complete) << i;
  }
}

TEST_F(a_strict_backlog, without_events_is_kept_for_what_was_skipped) {
  auto s = open();
  const auto skip = [](backlog& b) { b.skipped = {{seq(1), seq(4)}}; };
  write(*s, {{"p1", parked({5}), {}, skip, seq(4)}});
  write(*s, {{"p1", {}, {seq(5)}, {}, seq(5)}});
  asked_for ask{order::strict};
  ask.event("p1", seq(3));
  const backlog_rows found = ask.in(*s).backlogs.at(0).second;
  EXPECT_TRUE(found.queue.empty());
  EXPECT_TRUE(found.complete);
  EXPECT_TRUE(found.backlog.was_skipped(seq(3)));
  s.reset();
  EXPECT_EQ(must(verify_store(path())), std::vector<std::string>{});
}

TEST_F(a_strict_backlog, is_found_with_and_without_memory_of_the_row_and_the_snapshot) {
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{8} << 20U}) {
    remembered_bytes_ = bytes;
    auto s = open();
    const std::string name = "p" + std::to_string(bytes);
    write(*s, {{name, parked({5}), {}, {}, seq(2)}});
    for (const bool snapshots : {false, true}) {
      asked_for ask{order::strict};
      ask.event(name, seq(6));
      ask.plan.needs_snapshots = snapshots;
      const step_rows rows = ask.in(*s);
      ASSERT_EQ(rows.backlogs.size(), 1U);
      EXPECT_EQ(rows.aggregates[0]->last, seq(2));
      EXPECT_TRUE(rows.aggregates[0]->has_last);
      EXPECT_TRUE(rows.aggregates[0]->waits);
      EXPECT_EQ(rows.aggregates[0]->snapshot, snapshots ? "snapshot" : "");
    }
  }
}

TEST_F(a_strict_backlog, that_is_gone_takes_the_row_with_it_where_nothing_was_applied) {
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{8} << 20U}) {
    remembered_bytes_ = bytes;
    auto s = open();
    write(*s, {{"p1", parked({5}), {}}});
    write(*s, {{"p1", {}, {seq(5)}}});
    asked_for ask{order::strict};
    ask.event("p1", seq(1));
    EXPECT_FALSE(ask.in(*s).aggregates[0]);
    s.reset();
    EXPECT_EQ(must(verify_store(path())), std::vector<std::string>{});
    s = open();
    EXPECT_FALSE(ask.in(*s).aggregates[0]);
  }
}

TEST_F(a_strict_backlog, whose_rows_are_missing_is_damage_and_not_an_empty_queue) {
  auto s = open();
  const auto refused = [&](const std::string& name, const std::string& key) {
    write(*s, {{name, parked({5, 6}), {}}});
    database& db = database_of(*s);
    EXPECT_TRUE(db.db().Delete({}, db.handle(family::waiting), key).ok());
    asked_for ask{order::strict};
    ask.event(name, seq(1));
    step_rows rows;
    return s->lookup(s->id_of("payments"), ask.plan, rows).error() == errc::state_damaged;
  };
  std::string key;
  layout::append_waiting_event_key(key, stream_id{1}, k_instance_slot, "p1", seq(6));
  EXPECT_TRUE(refused("p1", key)) << "one of the queue";
  key.clear();
  layout::append_backlog_key(key, stream_id{1}, k_instance_slot, "p2");
  EXPECT_TRUE(refused("p2", key)) << "the backlog";
}

TEST_F(a_latest_backlog, is_read_whole) {
  auto s = open();
  write(*s, {{"p1",
              {waiting_at(seq(5), waiting_state::dead), waiting_at(seq(9), waiting_state::retrying)},
              {},
              {},
              seq(3)}});
  asked_for ask{order::latest};
  ask.event("p1", seq(12));
  const backlog_rows found = ask.in(*s).backlogs.at(0).second;
  EXPECT_EQ(numbers_of(found.queue), (numbers{5, 9}));
  EXPECT_TRUE(found.complete);
}

TEST_F(a_latest_backlog, beyond_the_limit_still_tells_who_has_an_events_sequence) {
  auto s = open();
  write(*s, {{"p1", parked(row_of_numbers(10, k_queue_events + 100)), {}}});
  asked_for ask{order::latest};
  ask.event("p1", seq(4150)).event("p1", seq(4150)).event("p1", seq(20)).event("p1", seq(9000));
  const backlog_rows found = ask.in(*s).backlogs.at(0).second;
  EXPECT_EQ(found.queue.size(), k_queue_events);
  EXPECT_FALSE(found.complete);
  EXPECT_EQ(numbers_of(found.near), (numbers{4150}));
}

TEST_F(an_arrival_backlog, gives_its_first_and_those_that_wait_under_an_id_of_the_step) {
  auto s = open();
  waiting_event nameless = waiting_at(seq(8));
  nameless.head.id.reset();
  write(*s, {{"p1", {waiting_at(seq(5)), waiting_at(seq(6)), waiting_at(seq(7)), nameless}, {}},
             {"p2", parked({5, 11}), {}}});
  asked_for ask{order::arrival};
  ask.event("p1", {}, id_of_number(7))
      .event("p1", {}, id_of_number(5))
      .event("p1", {}, id_of_number(6))
      .event("p1", {}, id_of_number(7))
      .event("p1", {}, id_of_number(11))
      .event("p1", {});
  const backlog_rows found = ask.in(*s).backlogs.at(0).second;
  EXPECT_EQ(numbers_of(found.queue), (numbers{5}));
  EXPECT_FALSE(found.complete);
  EXPECT_EQ(numbers_of(found.near), (numbers{6, 7}))
      << "11 waits at another aggregate, and 5 is in the queue";
  EXPECT_EQ(found.near[1], waiting_at(seq(7)).head);
}

TEST_F(an_arrival_backlog, forgets_the_id_of_one_that_waits_no_more) {
  auto s = open();
  write(*s, {{"p1", parked({5, 6, 7}), {}}});
  write(*s, {{"p1", {waiting_at(seq(7), waiting_state::dead)}, {seq(6)}}});
  asked_for ask{order::arrival};
  ask.event("p1", {}, id_of_number(6)).event("p1", {}, id_of_number(7));
  const backlog_rows found = ask.in(*s).backlogs.at(0).second;
  EXPECT_EQ(numbers_of(found.near), (numbers{7}));
  EXPECT_EQ(found.near.at(0).state, waiting_state::dead);
  s.reset();
  EXPECT_EQ(must(verify_store(path())), std::vector<std::string>{});
}

}  // namespace
}  // namespace ratchet
