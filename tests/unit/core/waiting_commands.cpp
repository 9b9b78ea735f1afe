// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What an operator may decide about events that wait, and what follows from it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/core_print.hpp"
#include "support/core_world.hpp"

namespace ratchet {
namespace {

using testing::folding;
using testing::id_at;
using testing::spec;
using testing::world;

constexpr auto k_replay = waiting_verb::replay;
constexpr auto k_skip = waiting_verb::skip;
constexpr auto k_discard = waiting_verb::discard;

/// Events of `a` with these numbers and payloads.
std::vector<spec> events(std::initializer_list<std::pair<std::uint64_t, const char*>> all) {
  std::vector<spec> out;
  for (const auto& [number, payload] : all) {
    out.push_back({.sequence = seq(number),
                   .id = id_at(5000, number),
                   .payload = payload,
                   .offset = static_cast<std::int64_t>(number)});
  }
  return out;
}

world with(order o, std::initializer_list<std::pair<std::uint64_t, const char*>> all) {
  world w{folding{}, o};
  std::int64_t offset = 0;
  for (const spec& e : events(all)) {
    spec one = e;
    one.offset = offset++;
    w.step({one});
  }
  return w;
}

void expect_ledger(const world& w) {
  EXPECT_EQ(w.state.counters.accounted(), w.state.counters.consumed);
}

TEST(waiting_commands, skip_of_the_first_that_came_gives_up_what_is_missing_before_it) {
  world w = with(order::strict, {{5, "e"}});
  ASSERT_EQ(w.run_command(k_skip, seq(5)), waiting_answer::done);
  ASSERT_EQ(w.audits.size(), 2U);
  EXPECT_NE(w.audits[1].text.find("the numbers 1 to 4"), std::string::npos) << w.audits[1].text;
  spec late = events({{3, "c"}}).front();
  late.offset = 1;
  const stream_change change = w.step({late});
  EXPECT_EQ(change.decisions[0].verdict, verdict::rejected);
  EXPECT_EQ(change.decisions[0].reason, reject_reason::late)
      << "a person gave it up: it does not go in silence";
  expect_ledger(w);
}

TEST(waiting_commands, replay_a_dead_event_and_what_waits_behind_it) {
  world w = with(order::strict, {{1, "#"}, {2, "b"}, {3, "c"}});
  EXPECT_EQ(w.run_command(k_replay, seq(1)), waiting_answer::done);
  EXPECT_EQ(w.state.counters.waiting_dead, 1U) << "it fails as it did";
  EXPECT_EQ(w.waiting.at("a").at(seq(1)).attempts, 1U) << "as if for the first time";
  EXPECT_EQ(w.run_command(k_replay, seq(1), "mended"), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "mended;b;c;");
  EXPECT_EQ(w.state.counters.applied, 3U);
  EXPECT_TRUE(w.ids.contains({"a", id_at(5000, 1)})) << "handled now";
  EXPECT_FALSE(w.backlogs.contains("a"));
  expect_ledger(w);
}

TEST(waiting_commands, give_a_corrected_payload_the_hash_of_its_own) {
  world w = with(order::strict, {{1, "#"}});
  EXPECT_EQ(w.run_command(k_replay, seq(1), "mended"), waiting_answer::done);
  EXPECT_EQ(w.rows.at("a").payload_hash, (hash128{std::hash<std::string>{}("mended"), 1}));
}

TEST(waiting_commands, leave_audit_rows_that_say_which_bytes_they_were_about) {
  const auto said = [](waiting_verb verb, std::optional<std::string> payload) {
    world w = with(order::strict, {{1, "#"}});
    EXPECT_EQ(w.run_command(verb, seq(1), std::move(payload)), waiting_answer::done);
    return w.audits.at(0).text;
  };
  const std::string begin = "aggregate `a`: event 1, dead (t/0@0, 1 byte, hash ";
  for (const waiting_verb verb : {k_replay, k_skip, k_discard})
    EXPECT_TRUE(said(verb, {}).starts_with(begin)) << said(verb, {});
  const std::string mended = said(k_replay, "mended");
  EXPECT_TRUE(mended.starts_with(begin)) << mended;
  const std::size_t other = mended.find(", is tried again with another payload (6 bytes, hash ");
  ASSERT_NE(other, std::string::npos) << mended;
  EXPECT_NE(mended.substr(begin.size(), 32), mended.substr(mended.size() - 33, 32)) << "two hashes";
  EXPECT_TRUE(mended.ends_with("0000000000000001)")) << "of 128 bits, the lower half last";
}

TEST(waiting_commands, leave_parked_events_to_their_order) {
  world w = with(order::strict, {{2, "b"}, {3, "c"}});
  EXPECT_EQ(w.run_command(k_replay, seq(2)), waiting_answer::not_in_trouble);
  EXPECT_EQ(w.run_command(k_replay, seq(9)), waiting_answer::none_waits);
  EXPECT_EQ(w.run_command(k_skip, seq(3)), waiting_answer::not_first);
  EXPECT_EQ(w.state.counters.waiting_parked, 2U);
  EXPECT_TRUE(w.audits.empty()) << "nothing was done";
}

TEST(waiting_commands, skip_a_dead_event_and_go_on_behind_it) {
  world w = with(order::strict, {{1, "a"}, {2, "#"}, {3, "c"}});
  EXPECT_EQ(w.run_command(k_skip, seq(2)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "a;c;");
  EXPECT_EQ(w.rows.at("a").last, seq(3));
  EXPECT_EQ(w.state.counters.skipped, 1U);
  EXPECT_FALSE(w.ids.contains({"a", id_at(5000, 2)})) << "it was not handled";
  const auto late = w.step({{.sequence = seq(2), .id = id_at(5000, 2), .offset = 9}});
  EXPECT_EQ(late.decisions[0], (decision{verdict::rejected, reject_reason::late}));
  expect_ledger(w);
}

TEST(waiting_commands, skip_an_event_behind_a_gap_with_the_gap) {
  world w = with(order::strict, {{1, "a"}, {4, "d"}, {5, "e"}});
  EXPECT_EQ(w.run_command(k_skip, seq(4)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "a;e;");
  const auto late = w.step({{.sequence = seq(3), .id = id_at(5000, 3), .offset = 9}});
  EXPECT_EQ(late.decisions[0].reason, reject_reason::late);
  expect_ledger(w);
}

TEST(waiting_commands, pass_over_numbers_that_never_came) {
  world w = with(order::strict, {{1, "a"}, {5, "e"}});
  EXPECT_EQ(w.run_command(k_skip, seq(3)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "a;") << "4 is still missing";
  EXPECT_EQ(w.rows.at("a").last, seq(3));
  EXPECT_EQ(w.run_command(k_skip, seq(4)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "a;e;");
  EXPECT_EQ(w.state.counters.skipped, 0U) << "no record was skipped";
  EXPECT_EQ(w.audits.size(), 2U);
  EXPECT_EQ(w.backlogs.at("a").skipped, (std::vector{sequence_range{seq(2), seq(4)}}));
  EXPECT_EQ(w.run_command(k_skip, seq(4)), waiting_answer::none_waits);
  expect_ledger(w);
}

TEST(waiting_commands, discard_an_event_and_open_its_number) {
  world w = with(order::strict, {{1, "#"}, {2, "b"}});
  EXPECT_EQ(w.run_command(k_discard, seq(1)), waiting_answer::done);
  EXPECT_EQ(w.state.counters.discarded, 1U);
  EXPECT_EQ(w.snapshot(), "?");
  const auto again = w.step({{.sequence = seq(1), .id = id_at(5000, 7), .payload = "A", .offset = 9}});
  EXPECT_EQ(again.decisions[0].verdict, verdict::applied);
  EXPECT_EQ(w.snapshot(), "A;b;");
  expect_ledger(w);
}

/// Its gap is as old as the decision, and not as what has waited behind it.
TEST(waiting_commands, discard_an_event_and_leave_its_number_open_for_the_time_of_a_gap) {
  for (const bool deferred : {false, true}) {
    for (const std::size_t at_hand : {std::size_t{1}, k_queue_events}) {
      world w{folding{}, order::strict};
      w.rules.dedup = false;
      w.rules.deferred = deferred;
      w.queue_events = at_hand;
      w.rules.gap = {gap_policy::skip, std::chrono::milliseconds{5'000}};
      w.step({{.sequence = seq(1), .payload = "#", .time = 10'000, .offset = 0},
              {.sequence = seq(2), .payload = "b", .time = 10'000, .offset = 1},
              {.sequence = seq(4), .payload = "d", .time = 10'000, .offset = 2},
              {.aggregate = "z", .time = 90'000, .offset = 3}});
      w.work_off();
      ASSERT_EQ(w.run_command(k_discard, seq(1)), waiting_answer::done);
      EXPECT_EQ(w.backlogs.at("a").opened, testing::at_ms(90'000));
      w.step({{.aggregate = "z", .sequence = seq(2), .time = 94'000, .offset = 4}});
      const auto better = w.step({{.sequence = seq(1), .payload = "a", .time = 94'000, .offset = 5}});
      EXPECT_EQ(better.decisions[0].verdict, deferred ? verdict::parked : verdict::applied);
      w.work_off();
      EXPECT_EQ(w.snapshot(), deferred ? "a;b;d;" : "a;b;");
      w.step({{.aggregate = "z", .sequence = seq(3), .time = 95'000, .offset = 6}});
      w.work_off();
      EXPECT_EQ(w.snapshot(), "a;b;d;");
      w.step({{.sequence = seq(6), .payload = "f", .time = 95'000, .offset = 7}});
      EXPECT_EQ(w.backlogs.at("a").opened, std::nullopt) << "that was of those that waited then";
    }
  }
}

TEST(waiting_commands, skip_a_number_that_was_discarded_once_its_gap_is_old) {
  world w{folding{}, order::strict};
  w.rules.dedup = false;
  w.rules.gap = {gap_policy::skip, std::chrono::milliseconds{5'000}};
  w.step({{.sequence = seq(1), .payload = "#", .time = 10'000, .offset = 0},
          {.sequence = seq(2), .payload = "b", .time = 10'000, .offset = 1},
          {.aggregate = "z", .time = 90'000, .offset = 2}});
  ASSERT_EQ(w.run_command(k_discard, seq(1)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "?");
  w.step({{.aggregate = "z", .sequence = seq(2), .time = 95'000, .offset = 3}});
  EXPECT_EQ(w.snapshot(), "b;");
}

TEST(waiting_commands, discard_the_only_event_at_hand_and_look_at_the_gap_behind_it) {
  world w{folding{}, order::strict};
  w.queue_events = 1;
  for (const auto& [number, payload] : {std::pair{1U, "a"}, std::pair{2U, "#"}, std::pair{3U, "c"}}) {
    w.step({{.sequence = seq(number), .payload = payload, .time = 1000 + number, .offset = number}});
  }
  EXPECT_EQ(w.run_command(k_discard, seq(2)), waiting_answer::done);
  ASSERT_EQ(w.waiting.at("a").size(), 1U);
  EXPECT_TRUE(w.backlogs.at("a").gap_since) << "3 was not at hand, and its gap would have no age";
}

TEST(waiting_commands, leave_what_is_ready_due_whatever_the_clock_says) {
  world w = with(order::strict, {{1, "#"}, {2, "b"}, {3, "c"}});
  w.queue_events = 1;
  step_plan plan;
  plan.order = order::strict;
  plan.needs_snapshots = true;
  plan.resumes = true;
  plan.add("a");
  const waiting_command mended{.aggregate = 0, .sequence = seq(1), .payload = "mended"};
  std::vector<waiting_answer> answers;
  const stream_change change =
      run_commands(w.rules, w.reduce, w.state, plan, w.look_up(plan), std::span{&mended, 1}, w.now, answers);
  ASSERT_EQ(change.backlogs.size(), 1U);
  EXPECT_TRUE(change.backlogs[0].after->ready);
  EXPECT_EQ(change.backlogs[0].after->wake, timestamp{}) << "a clock that is set back must not put it off";
}

TEST(waiting_commands, leave_no_trace_of_an_aggregate_of_which_nothing_was_applied) {
  world w = with(order::strict, {{2, "b"}});
  EXPECT_EQ(w.run_command(k_discard, seq(2)), waiting_answer::done);
  EXPECT_FALSE(w.rows.contains("a"));
  EXPECT_FALSE(w.backlogs.contains("a"));
}

TEST(waiting_commands, discard_lets_the_next_one_go_in_the_order_of_arrival) {
  world w = with(order::arrival, {{1, "#"}, {2, "b"}});
  EXPECT_EQ(w.state.counters.waiting_parked, 1U);
  EXPECT_EQ(w.run_command(k_discard, seq(1)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "b;");
  expect_ledger(w);
}

/// Nothing but its id tells an event of the order of arrival when it comes again.
TEST(waiting_commands, skip_in_the_order_of_arrival_remembers_the_id) {
  world w = with(order::arrival, {{1, "#"}, {2, "b"}});
  EXPECT_EQ(w.run_command(k_skip, seq(1)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "b;");
  const auto again = w.step({{.id = id_at(5000, 1), .payload = "a", .offset = 9}});
  EXPECT_EQ(again.decisions[0].verdict, verdict::duplicate);
  EXPECT_EQ(w.snapshot(), "b;");
  EXPECT_EQ(w.state.counters.skipped, 1U);
  expect_ledger(w);
}

TEST(waiting_commands, skip_in_the_order_of_arrival_files_an_opaque_id_by_its_record) {
  world w{folding{}, order::arrival};
  w.rules.opaque_ids = true;
  w.step({{.id = id_at(0, 1), .payload = "#", .time = 5000, .offset = 0}});
  EXPECT_EQ(w.run_command(k_skip, seq(1)), waiting_answer::done);
  EXPECT_EQ(w.ids.at({"a", id_at(0, 1)}), testing::at_ms(5000));
  const auto again = w.step({{.id = id_at(0, 1), .payload = "a", .time = 5900, .offset = 1}});
  EXPECT_EQ(again.decisions[0].verdict, verdict::duplicate);
}

TEST(waiting_commands, discard_in_the_order_of_arrival_opens_the_id) {
  world w = with(order::arrival, {{1, "#"}});
  EXPECT_EQ(w.run_command(k_discard, seq(1)), waiting_answer::done);
  const auto again = w.step({{.id = id_at(5000, 1), .payload = "a", .offset = 9}});
  EXPECT_EQ(again.decisions[0].verdict, verdict::applied);
  EXPECT_EQ(w.snapshot(), "a;");
}

/// The last event of an epoch, and these of the next one.
world in_a_new_epoch(first_number first, std::initializer_list<std::uint64_t> numbers) {
  world w{folding{}, order::strict};
  w.rules.gate.first = first;
  if (first == first_number::any) w.rules.gap = {gap_policy::skip, std::chrono::milliseconds{0}};
  std::int64_t offset = 0;
  const std::uint64_t begin = first == first_number::one ? 1 : 0;
  w.step({{.sequence = seq(2, begin), .payload = "a", .time = 1000, .offset = offset++}});
  for (const std::uint64_t number : numbers)
    w.step({{.sequence = seq(3, number), .payload = "b", .time = 1000, .offset = offset++}});
  EXPECT_EQ(w.snapshot(), "a;");
  return w;
}

TEST(waiting_commands, replay_lets_a_new_epoch_in_by_its_first_number) {
  for (const auto& [first, number] : {std::pair{first_number::zero, 0U}, std::pair{first_number::one, 1U},
                                      std::pair{first_number::any, 7U}}) {
    world w = in_a_new_epoch(first, {number, number + 1});
    EXPECT_EQ(w.run_command(k_replay, seq(3, number + 1)), waiting_answer::not_in_trouble)
        << "it is not the first";
    EXPECT_EQ(w.run_command(k_replay, seq(3, number)), waiting_answer::done);
    EXPECT_EQ(w.snapshot(), "a;b;b;") << number;
    EXPECT_EQ(w.rows.at("a").last, seq(3, number + 1));
    const auto late = w.step({{.sequence = seq(2, 9), .payload = "late", .time = 1000, .offset = 9}});
    EXPECT_EQ(late.decisions[0], (decision{verdict::rejected, reject_reason::late}));
    expect_ledger(w);
  }
}

TEST(waiting_commands, replay_leaves_an_epoch_alone_of_which_the_first_numbers_are_missing) {
  world w = in_a_new_epoch(first_number::one, {2});
  EXPECT_EQ(w.run_command(k_replay, seq(3, 2)), waiting_answer::not_in_trouble) << "1 may still come";
  EXPECT_TRUE(w.audits.empty());
  EXPECT_EQ(w.run_command(k_skip, seq(3, 1)), waiting_answer::done) << "it will not";
  EXPECT_EQ(w.snapshot(), "a;b;");
}

TEST(waiting_commands, replay_of_a_new_epoch_keeps_what_fails_in_front) {
  world w{folding{}, order::strict};
  w.rules.gate.first = first_number::zero;
  w.step({{.sequence = seq(2, 0), .payload = "a", .offset = 0}});
  w.step({{.sequence = seq(3, 0), .payload = "#", .offset = 1},
          {.sequence = seq(3, 1), .payload = "c", .offset = 2}});
  EXPECT_EQ(w.run_command(k_replay, seq(3, 0)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "a;");
  EXPECT_EQ(w.state.counters.waiting_dead, 1U);
  EXPECT_EQ(w.run_command(k_replay, seq(3, 0), "b"), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "a;b;c;");
  expect_ledger(w);
}

TEST(waiting_commands, replay_lets_a_held_aggregate_go_on) {
  world w{folding{}, order::strict};
  w.rules.waiting.per_aggregate = 1;
  w.step(events({{2, "b"}, {3, "c"}}));
  ASSERT_EQ(w.state.counters.waiting_dead, 2U);
  w.step({{.sequence = seq(1), .id = id_at(5000, 1), .payload = "a", .offset = 9}});
  EXPECT_EQ(w.snapshot(), "?") << "also the one that was missing waits";
  EXPECT_EQ(w.run_command(k_replay, seq(1)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "a;b;c;");
  expect_ledger(w);
}

TEST(waiting_commands, skip_in_latest_order_moves_past_the_event_and_all_older_ones) {
  world w = with(order::latest, {{2, "#"}, {5, "#"}, {7, "#"}});
  EXPECT_EQ(w.run_command(k_skip, seq(5)), waiting_answer::done);
  EXPECT_EQ(w.state.counters.skipped, 1U);
  EXPECT_EQ(w.state.counters.superseded, 1U) << "2 is needless";
  EXPECT_EQ(w.state.counters.waiting_dead, 1U);
  const auto older = w.step({{.sequence = seq(3), .id = id_at(5000, 3), .offset = 9}});
  EXPECT_EQ(older.decisions[0].verdict, verdict::stale);
  expect_ledger(w);
}

/// 256 ranges of skipped numbers are kept. Which of two older ones was skipped, and which was handled between
/// them, nobody knows then: whoever sends one is told, and nothing goes in silence.
TEST(waiting_commands, skip_so_often_that_the_oldest_gaps_become_one) {
  world w{folding{}, order::strict};
  std::int64_t offset = 0;
  const auto send = [&](std::uint64_t number, bool with_id) {
    spec e = events({{number, "x"}}).front();
    if (!with_id) e.id.reset();
    if (!with_id) e.payload = "again";
    e.offset = offset++;
    return w.step({e}).decisions.at(0);
  };
  send(1, true);
  for (std::uint64_t n = 2; n <= 600; n += 2) {
    send(n + 1, true);
    ASSERT_EQ(w.run_command(k_skip, seq(n)), waiting_answer::done);
  }
  ASSERT_TRUE(w.backlogs.contains("a"));
  ASSERT_EQ(w.backlogs.at("a").skipped.size(), 256U);
  const decision late{verdict::rejected, reject_reason::late};
  EXPECT_EQ(send(600, false), late);
  EXPECT_EQ(send(599, false).verdict, verdict::stale);
  EXPECT_EQ(send(2, false), late) << "for ever";
  EXPECT_EQ(send(5, true).verdict, verdict::duplicate) << "its id is in the window";
  EXPECT_EQ(send(5, false), late) << "or it was skipped, who knows";
  expect_ledger(w);
}

TEST(waiting_commands, reach_an_event_behind_more_than_one_step_loads) {
  world w = with(order::strict, {{2, "b"}, {3, "c"}, {4, "d"}, {5, "e"}});
  w.queue_events = 1;
  EXPECT_EQ(w.run_command(k_discard, seq(5)), waiting_answer::done);
  EXPECT_EQ(w.run_command(k_discard, seq(5)), waiting_answer::none_waits);
  EXPECT_EQ(w.run_command(k_skip, seq(4)), waiting_answer::not_first);
  EXPECT_EQ(w.run_command(k_replay, seq(3), "new"), waiting_answer::done);
  w.step({{.sequence = seq(1), .id = id_at(5000, 1), .payload = "a", .offset = 9}});
  EXPECT_EQ(w.snapshot(), "a;b;new;d;");
  expect_ledger(w);
}

TEST(waiting_commands, try_a_dead_event_of_latest_wherever_it_lies) {
  world w = with(order::latest, {{1, "#"}, {2, "#"}, {3, "#"}, {4, "#"}});
  w.queue_events = 1;
  EXPECT_EQ(w.run_command(k_replay, seq(3), "mended"), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "mended;");
  EXPECT_EQ(w.state.counters.superseded, 2U) << "also what was not looked up for it";
  EXPECT_EQ(w.state.counters.waiting_dead, 1U);
  expect_ledger(w);
}

}  // namespace
}  // namespace ratchet
