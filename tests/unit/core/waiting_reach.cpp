// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What an operator decides comes to the same, however little of a queue one step looks up.
#include <gtest/gtest.h>

#include <random>
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

struct handled {
  order in;
  bool deferred;
};

world make(const handled& how, std::size_t queue_events) {
  world w{folding{}, how.in};
  w.rules.deferred = how.deferred;
  w.queue_events = queue_events;
  return w;
}

/// What the test knows of a world: two that differ in nothing else are the same to anybody.
void expect_same(const world& few, const world& all, order in) {
  // A number that was skipped is the last one handled until it is seen what follows; it left no state.
  const auto shown = [](const world& w) { return w.snapshot() == "-" ? "?" : w.snapshot(); };
  EXPECT_EQ(shown(few), shown(all));
  EXPECT_EQ(few.waiting, all.waiting);
  EXPECT_EQ(few.ids, all.ids);
  EXPECT_EQ(few.state.counters, all.state.counters);
  ASSERT_EQ(few.backlogs.contains("a"), all.backlogs.contains("a"));
  if (!all.backlogs.contains("a")) return;
  backlog one = few.backlogs.at("a");
  backlog other = all.backlogs.at("a");
  // Of what is not looked up nobody can say that it is not its turn: a look finds out.
  const bool looks_in_vain = one.ready && !other.ready;
  if (in == order::latest || looks_in_vain) one.wake = other.wake;
  if (looks_in_vain) one.ready = false;
  EXPECT_EQ(one.skipped, other.skipped);
  EXPECT_EQ(one.accepted, other.accepted);
  EXPECT_EQ(one.reopened, other.reopened);
  EXPECT_EQ(one, other);
}

void play(const handled& how, std::uint64_t seed) {
  std::mt19937_64 random{seed};
  const auto below = [&random](std::uint64_t bound) { return random() % bound; };
  world few = make(how, 1 + below(3));
  world all = make(how, k_queue_events);
  std::int64_t offset = 0;
  for (int round = 0; round < 12 && !::testing::Test::HasFailure(); ++round) {
    for (std::uint64_t n = below(6); n > 0; --n) {
      const std::uint64_t number = 1 + below(14);
      constexpr const char* k_payloads[] = {"x", "y", "z", "#", "?1"};
      const spec e{.sequence = seq(number),
                   .id = id_at(5000, how.in == order::arrival ? 100 + below(30) : number),
                   .payload = k_payloads[below(5)],
                   .time = 5000,
                   .offset = offset++};
      few.step({e});
      all.step({e});
    }
    constexpr waiting_verb k_verbs[] = {waiting_verb::replay, waiting_verb::skip, waiting_verb::discard};
    for (std::uint64_t n = below(3); n > 0; --n) {
      const waiting_verb verb = k_verbs[below(3)];
      const sequence number = seq(1 + below(14));
      const bool mends = verb == waiting_verb::replay && below(2) == 0;
      const auto payload = mends ? std::optional<std::string>{"mended"} : std::nullopt;
      EXPECT_EQ(few.run_command(verb, number, payload), all.run_command(verb, number, payload))
          << name_of(verb) << ' ' << number.number;
      expect_same(few, all, how.in);
    }
    if (below(4) != 0) continue;
    few.work_off();
    all.work_off();
    expect_same(few, all, how.in);
  }
}

TEST(decisions, come_to_the_same_however_little_of_a_queue_is_looked_up) {
  for (const handled& how :
       {handled{order::strict, false}, handled{order::strict, true}, handled{order::arrival, false},
        handled{order::arrival, true}, handled{order::latest, false}}) {
    for (std::uint64_t seed = 1; seed <= 400 && !::testing::Test::HasFailure(); ++seed) {
      SCOPED_TRACE(std::string{name_of(how.in)} + (how.deferred ? " deferred " : " ") + std::to_string(seed));
      play(how, seed);
    }
  }
}

TEST(decisions, of_one_step_find_what_those_before_them_released) {
  for (const std::size_t queue_events : {std::size_t{1}, k_queue_events}) {
    world w = make({order::arrival, false}, queue_events);
    for (std::uint64_t n = 1; n <= 5; ++n)
      w.step({{.id = id_at(5000, n), .payload = n == 1 ? "#" : "x", .offset = static_cast<std::int64_t>(n)}});
    using answer = waiting_answer;
    const std::vector<answer> answers =
        w.run_all({{.aggregate = 0, .verb = waiting_verb::discard, .sequence = seq(1)},
                   {.aggregate = 0, .verb = waiting_verb::skip, .sequence = seq(2)}});
    EXPECT_EQ(answers, (std::vector{answer::done, answer::none_waits}));
    EXPECT_EQ(w.snapshot(), "x;x;x;x;");
  }
}

TEST(decisions, of_one_step_know_what_those_before_them_took_away) {
  for (const std::size_t queue_events : {std::size_t{1}, std::size_t{2}, k_queue_events}) {
    world w = make({order::strict, true}, queue_events);
    std::vector<spec> all;
    for (std::uint64_t n = 1; n <= 8; ++n)
      all.push_back({.sequence = seq(n), .payload = "x", .offset = static_cast<std::int64_t>(n)});
    w.step(all);
    const auto order_of = [](waiting_verb verb, std::uint64_t n) {
      return waiting_command{.aggregate = 0, .verb = verb, .sequence = seq(n)};
    };
    using answer = waiting_answer;
    const std::vector<answer> answers = w.run_all(
        {order_of(waiting_verb::skip, 1), order_of(waiting_verb::skip, 2), order_of(waiting_verb::skip, 4),
         order_of(waiting_verb::discard, 7), order_of(waiting_verb::discard, 6)});
    EXPECT_EQ(answers,
              (std::vector{answer::done, answer::done, answer::not_first, answer::done, answer::done}));
    ASSERT_TRUE(w.backlogs.contains("a"));
    ASSERT_TRUE(w.backlogs.at("a").accepted);
    EXPECT_EQ(w.backlogs.at("a").accepted->sequence, seq(5));
    EXPECT_EQ(w.backlogs.at("a").accepted->events, 3U) << "3, 4 and 5";
    EXPECT_EQ(w.backlogs.at("a").not_accepted(), 1U) << "8 waits for 6 and 7";
    w.work_off();
    EXPECT_EQ(w.snapshot(), "x;x;x;");
  }
}

}  // namespace
}  // namespace ratchet
