// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What producers' numbers do not say: ties, aggregates that begin again, ranges, and events that are too old.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/ordered_text.hpp"
#include "core/reducers.hpp"
#include "support/core_print.hpp"
#include "support/core_world.hpp"

namespace ratchet {
namespace {

using std::chrono::milliseconds;
using testing::folding;
using testing::id_at;
using testing::spec;
using testing::verdicts_of;
using testing::world;
using verdicts = std::vector<verdict>;

constexpr decision k_conflict{verdict::rejected, reject_reason::conflict};

/// The same records in one step and in a step each: what is said of them must not differ.
std::vector<decision> decided(const world& begin, const std::vector<spec>& specs, world* end) {
  world at_once = begin;
  world one_by_one = begin;
  const auto all = at_once.step(specs).decisions;
  std::vector<decision> each;
  for (const spec& s : specs) each.push_back(one_by_one.step({s}).decisions.at(0));
  EXPECT_EQ(at_once.snapshot(), one_by_one.snapshot());
  EXPECT_EQ(at_once.rows.at("a").last, one_by_one.rows.at("a").last);
  for (std::size_t i = 0; i < all.size() && i < each.size(); ++i) {
    const bool superseded = all[i].verdict == verdict::superseded && each[i].verdict == verdict::applied;
    EXPECT_TRUE(superseded || all[i] == each[i]) << "record " << i;
  }
  *end = one_by_one;
  return each;
}

spec event(std::int64_t offset, std::uint64_t number, std::string payload) {
  return {.sequence = seq(number), .payload = std::move(payload), .offset = offset};
}

spec tombstone(std::int64_t offset, std::uint64_t number) {
  return {.sequence = seq(number), .kind = decoded_kind::tombstone, .offset = offset};
}

spec with_id(spec s, std::uint64_t n) {
  s.id = id_at(1'000'000'000, n);
  return s;
}

TEST(equal_numbers, without_ids_are_one_event_only_with_one_payload) {
  for (const order o : {order::latest, order::strict}) {
    const world w{replace_reducer{}, o};
    world end = w;
    const auto got = decided(w, {event(0, 1, "new"), event(1, 1, "new"), event(2, 1, "paid")}, &end);
    EXPECT_EQ(got.at(1).verdict, verdict::duplicate);
    EXPECT_EQ(got.at(2), k_conflict) << "never a duplicate";
    EXPECT_EQ(end.snapshot(), "new");
  }
}

TEST(equal_numbers, of_a_waiting_event_are_compared_by_their_payload_too) {
  world w{replace_reducer{}, order::strict};
  w.step({event(0, 3, "c")});
  EXPECT_EQ(w.step({event(1, 3, "c")}).decisions.at(0).verdict, verdict::duplicate);
  EXPECT_EQ(w.step({event(2, 3, "other")}).decisions.at(0), k_conflict);
}

TEST(ties, are_won_by_the_later_event) {
  world w{replace_reducer{}};
  w.rules.gate.ties_by_offset = true;
  world end = w;
  decided(w, {event(0, 7, "new"), event(1, 7, "reserved"), event(2, 7, "paid"), event(3, 7, "paid")}, &end);
  EXPECT_EQ(end.snapshot(), "paid");
  EXPECT_EQ(end.state.counters.duplicate, 1U);
  EXPECT_EQ(end.state.counters.applied, 3U);
}

TEST(ties, of_events_with_ids_are_repeats_by_their_ids) {
  world w{replace_reducer{}};
  w.rules.gate.ties_by_offset = true;
  world end = w;
  const auto got = decided(
      w,
      {with_id(event(0, 7, "new"), 1), with_id(event(1, 7, "open"), 2), with_id(event(2, 7, "paid"), 3),
       with_id(event(3, 7, "paid"), 3), with_id(event(4, 7, "new"), 1), with_id(event(5, 6, "old"), 4)},
      &end);
  EXPECT_EQ(end.snapshot(), "paid");
  EXPECT_EQ(got.at(3).verdict, verdict::duplicate);
  EXPECT_EQ(got.at(4).verdict, verdict::duplicate) << "an older one of the same second, once more";
  EXPECT_EQ(got.at(5).verdict, verdict::stale);
}

world restarting() {
  world w{replace_reducer{}};
  w.rules.restarts = true;
  return w;
}

TEST(aggregates_that_begin_again, count_from_the_start_behind_a_delete) {
  world end = restarting();
  const auto got = decided(restarting(),
                           {event(0, 4, "3 items"), tombstone(1, 5), event(2, 0, "1 item"),
                            event(3, 1, "2 items"), event(4, 1, "2 items"), event(5, 0, "1 item")},
                           &end);
  EXPECT_EQ(end.snapshot(), "2 items");
  EXPECT_EQ(end.rows.at("a").last, seq(1, 1)) << "in an epoch of its own";
  EXPECT_EQ(got.at(4).verdict, verdict::duplicate);
  EXPECT_EQ(got.at(5).verdict, verdict::stale);
}

TEST(aggregates_that_begin_again, may_do_so_many_times) {
  world end = restarting();
  decided(restarting(),
          {event(0, 1, "a"), tombstone(1, 2), event(2, 1, "b"), tombstone(3, 2), event(4, 1, "c")}, &end);
  EXPECT_EQ(end.snapshot(), "c");
  EXPECT_EQ(end.rows.at("a").last, seq(2, 1));
}

TEST(aggregates_that_begin_again, need_a_delete_and_a_first_number) {
  world end = restarting();
  auto got = decided(restarting(), {event(0, 4, "x"), event(1, 0, "y"), event(2, 1, "z")}, &end);
  EXPECT_EQ(got.at(1).verdict, verdict::stale);
  EXPECT_EQ(got.at(2).verdict, verdict::stale);
  got =
      decided(restarting(), {event(0, 4, "x"), tombstone(1, 5), event(2, 3, "late"), tombstone(3, 0)}, &end);
  EXPECT_EQ(got.at(2).verdict, verdict::stale) << "from before the delete";
  EXPECT_EQ(got.at(3).verdict, verdict::stale) << "a delete begins nothing";
  EXPECT_EQ(end.snapshot(), "-");
}

TEST(aggregates_that_begin_again, go_on_where_the_numbers_go_on) {
  world end = restarting();
  decided(restarting(), {event(0, 4, "x"), tombstone(1, 5), event(2, 6, "y")}, &end);
  EXPECT_EQ(end.rows.at("a").last, seq(6));
  EXPECT_EQ(end.snapshot(), "y");
}

TEST(aggregates_that_begin_again, are_not_woken_by_a_repeat_that_its_id_tells) {
  world end = restarting();
  spec gone = with_id(tombstone(1, 1), 2);
  const auto got = decided(
      restarting(),
      {with_id(event(0, 0, "x"), 1), gone, with_id(event(2, 0, "x"), 1), with_id(event(3, 0, "y"), 3)}, &end);
  EXPECT_EQ(got.at(2).verdict, verdict::duplicate);
  EXPECT_EQ(end.snapshot(), "y");
}

TEST(aggregates_that_begin_again, do_so_as_well_where_an_event_of_theirs_waits) {
  world w{folding{}};
  w.rules.restarts = true;
  w.step({event(0, 4, "x")});
  w.step({event(1, 5, "?1")});
  ASSERT_EQ(w.state.counters.waiting_retrying, 1U);
  EXPECT_EQ(w.step({tombstone(2, 6)}).decisions.at(0).verdict, verdict::applied);
  EXPECT_EQ(w.step({event(3, 0, "y")}).decisions.at(0).verdict, verdict::applied);
  EXPECT_EQ(w.rows.at("a").last, seq(1, 0));
}

TEST(ranges, follow_each_other_without_a_gap) {
  world w{folding{}, order::strict};
  w.rules.gate.first = first_number::any;
  w.rules.gap = {gap_policy::skip, milliseconds{10'000}};
  const auto range = [](std::int64_t offset, std::uint64_t from, std::uint64_t to, const char* payload) {
    spec s = event(offset, to, payload);
    s.begins_at = from;
    return s;
  };
  world end = w;
  decided(w, {range(0, 157, 160, "a"), range(1, 161, 163, "b"), range(2, 164, 164, "c")}, &end);
  EXPECT_EQ(end.snapshot(), "a;b;c;");
  EXPECT_EQ(end.state.counters.waiting(), 0U);
  EXPECT_EQ(end.step({range(3, 168, 170, "e")}).decisions.at(0).verdict, verdict::parked);
  EXPECT_EQ(end.step({range(4, 165, 167, "d")}).decisions.at(0).verdict, verdict::applied);
  EXPECT_EQ(end.snapshot(), "a;b;c;d;e;") << "the range is kept while it waits";
}

TEST(ranges, tell_which_numbers_are_missing) {
  world w{folding{}, order::strict};
  w.rules.gap = {gap_policy::skip, milliseconds{5'000}};
  spec first = event(0, 3, "a");
  first.begins_at = 1;
  first.time = 10'000;
  spec ahead = event(1, 9, "c");
  ahead.begins_at = 6;
  ahead.time = 10'000;
  w.step({first, ahead});
  w.step({{.aggregate = "z", .sequence = seq(1), .time = 20'000, .offset = 2}});
  EXPECT_EQ(w.snapshot(), "a;c;");
  ASSERT_EQ(w.audits.size(), 1U);
  EXPECT_NE(w.audits[0].text.find("the numbers 4 to 5 "), std::string::npos) << w.audits[0].text;
}

TEST(too_old_events, wait_for_an_operator_in_front_of_their_aggregate) {
  world w{folding{}, order::arrival};
  w.rules.parks_too_old = true;
  const std::int64_t now = 1'000'000'000;
  const auto of = [&](const char* aggregate, std::int64_t age, std::uint64_t n, const char* payload,
                      std::int64_t at) {
    return spec{
        .aggregate = aggregate, .id = id_at(now - age, n), .payload = payload, .time = now, .offset = at};
  };
  w.step({of("z", 0, 1, "z", 0)});
  EXPECT_EQ(verdicts_of(w.step({of("a", 8'000, 2, "new", 1), of("a", 0, 3, "paid", 2)})),
            (verdicts{verdict::dead, verdict::parked}));
  EXPECT_EQ(w.snapshot(), "?");
  EXPECT_EQ(w.state.counters.waiting_dead, 1U);
  EXPECT_EQ(w.state.counters.rejected_too_old, 0U);
  EXPECT_EQ(verdicts_of(w.step({of("a", 8'000, 2, "new", 3)})), verdicts{verdict::duplicate}) << "it waits";
  const auto& waiting = w.waiting.at("a");
  ASSERT_FALSE(waiting.empty());
  EXPECT_EQ(waiting.begin()->second.attempts, 0U);
  EXPECT_FALSE(waiting.begin()->second.error.empty());
  EXPECT_EQ(w.run_command(waiting_verb::replay, waiting.begin()->first), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "new;paid;");
  EXPECT_EQ(w.state.counters.waiting(), 0U);
}

TEST(too_old_events, may_be_skipped) {
  world w{folding{}, order::arrival};
  w.rules.parks_too_old = true;
  const std::int64_t now = 1'000'000'000;
  w.step({{.aggregate = "z", .id = id_at(now, 1), .time = now, .offset = 0}});
  w.step({{.id = id_at(now - 8'000, 2), .payload = "new", .time = now, .offset = 1}});
  w.step({{.id = id_at(now, 3), .payload = "paid", .time = now, .offset = 2}});
  ASSERT_FALSE(w.waiting.at("a").empty());
  EXPECT_EQ(w.run_command(waiting_verb::skip, w.waiting.at("a").begin()->first), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "paid;");
}

TEST(digits_as_text, of_two_lengths_are_told_and_never_lost_in_silence) {
  constexpr decision k_mixed{verdict::rejected, reject_reason::sequence_mixed};
  const auto text = [](std::int64_t offset, const char* number, const char* payload) {
    return spec{.sequence = sequence_of_text(number).value(), .payload = payload, .offset = offset};
  };
  world w{replace_reducer{}};
  w.rules.gate.numbers_or_text = true;
  world end = w;
  auto got = decided(w,
                     {text(0, "8", "a"), text(1, "9", "b"), text(2, "10", "c"), text(3, "9", "b"),
                      text(4, "8", "a"), text(5, "9a", "d")},
                     &end);
  EXPECT_EQ(got.at(1).verdict, verdict::applied);
  EXPECT_EQ(got.at(2), k_mixed) << "as text it is below 9";
  EXPECT_EQ(got.at(3).verdict, verdict::duplicate);
  EXPECT_EQ(got.at(4).verdict, verdict::stale);
  EXPECT_EQ(got.at(5).verdict, verdict::applied) << "text of other bytes has any length";
  got = decided(w, {text(0, "10", "a"), text(1, "9", "b")}, &end);
  EXPECT_EQ(got.at(1), k_mixed) << "as text the older one is above";
  EXPECT_EQ(end.snapshot(), "a");
  got = decided(w, {text(0, "0009", "a"), text(1, "0010", "b")}, &end);
  EXPECT_EQ(got.at(1).verdict, verdict::applied);
  w.rules.gate.numbers_or_text = false;
  got = decided(w, {text(0, "9", "a"), text(1, "10", "b")}, &end);
  EXPECT_EQ(got.at(1).verdict, verdict::stale) << "whoever names as: text has said so";
}

/// Events that waited are compared with L once more, when they are due and when L moves.
struct waiting_digits {
  waiting_digits() {
    w.rules.gate.numbers_or_text = true;
    w.rules.retry.attempts = 9;
  }
  stream_change step(std::int64_t offset, const char* number, const char* payload) {
    return w.step({{.sequence = of(number), .payload = payload, .offset = offset}});
  }
  static sequence of(const char* number) { return sequence_of_text(number).value(); }
  void resume() {
    w.now += w.rules.retry.most;
    w.resume();
  }
  void expect_dead(const char* snapshot) {
    EXPECT_EQ(w.snapshot(), snapshot);
    EXPECT_EQ(w.state.counters.waiting_dead, 1U);
    EXPECT_EQ(w.state.counters.superseded, 0U);
    const waiting_event& dead = w.waiting.at("a").begin()->second;
    EXPECT_FALSE(dead.due);
    EXPECT_FALSE(dead.is_undecided()) << "it is not for its age that it waits";
    EXPECT_NE(dead.error.find("two lengths"), std::string::npos) << dead.error;
  }
  world w{folding{}, order::latest};
};

TEST(digits_as_text, of_two_lengths_are_never_run_behind_each_other_when_they_are_due) {
  waiting_digits t;
  t.step(0, "9", "?1");
  t.step(1, "10", "b");
  EXPECT_EQ(t.w.state.counters.waiting_retrying, 1U);
  t.resume();
  t.expect_dead("b;");
  t.resume();
  t.expect_dead("b;");
  EXPECT_EQ(t.w.run_command(waiting_verb::replay, t.of("9")), waiting_answer::done);
  t.expect_dead("b;");
  EXPECT_EQ(t.w.run_command(waiting_verb::skip, t.of("9")), waiting_answer::done);
  EXPECT_EQ(t.w.state.counters.waiting_dead, 0U);
  EXPECT_EQ(t.w.rows.at("a").last, t.of("10"));
  EXPECT_EQ(t.step(2, "11", "c").decisions.at(0).verdict, verdict::applied);
}

TEST(digits_as_text, of_two_lengths_do_not_supersede_each_other_where_they_wait) {
  for (const bool at_once : {true, false}) {
    waiting_digits t;
    if (at_once) {
      t.w.step({{.sequence = t.of("10"), .payload = "?1", .offset = 0},
                {.sequence = t.of("9"), .payload = "a", .offset = 1}});
    } else {
      t.step(0, "10", "?1");
      t.step(1, "9", "a");
    }
    t.expect_dead("a;");
    EXPECT_EQ(t.step(2, "08", "a").decisions.at(0).reason, reject_reason::sequence_mixed);
    EXPECT_EQ(t.step(3, "9x", "c").decisions.at(0).verdict, verdict::applied);
    EXPECT_EQ(t.w.state.counters.superseded, 1U) << "text of other bytes has an order among all";
  }
}

TEST(numbers_and_text, are_not_run_behind_each_other_when_they_are_due) {
  for (const bool number_waits : {true, false}) {
    waiting_digits t;
    const auto step = [&t](bool number, std::int64_t offset, const char* payload) {
      t.w.step({{.sequence = number ? seq(5) : t.of("a"), .payload = payload, .offset = offset}});
    };
    step(number_waits, 0, "?1");
    step(!number_waits, 1, "b");
    t.resume();
    t.expect_dead("b;");
  }
}

}  // namespace
}  // namespace ratchet
