// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Instances whose steps go through one replicated log: one owns the state, others follow, and each step that
// was confirmed is there for whoever comes next.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "unit/app/pair_fixture.hpp"

namespace ratchet {
namespace {

using pair_support::cluster;
using pair_support::expected;
using pair_support::fences;
using pair_support::instance;
using pair_support::make_many_bases;
using pair_support::pair;
using pair_support::pair_source;
using pair_support::patient_clock;
using pair_support::produce;
using pair_support::until_all_is_read;
using pair_support::until_polled;
using testing::memory_log;
using testing::memory_slot_log;

TEST_F(pair, the_first_instance_begins_the_history_and_owns_the_state) {
  produce(c, 20);
  const auto failed = first.run(until_all_is_read());
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(first.seen(), expected(c));
  EXPECT_GT(c.log.end(), 20 / 3) << "each step is in the log";
  EXPECT_EQ(c.committed.at(pair_support::k_input).offset, 20);
}

TEST_F(pair, a_follower_joins_although_others_append_all_the_time) {
  let_first_read(20);
  bool has_joined = false;
  const auto busy = [&, left = 1'000](pair_source& s, std::atomic<bool>& stop) mutable {
    has_joined = has_joined || c.owner == &s;
    if (has_joined || --left == 0) stop = true;
    for (int i = 0; i < 2; ++i) c.log.append("of a stranger");
  };
  const auto failed = second.run(busy, [](memory_slot_log& log) { log.most_entries = 2; });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_TRUE(has_joined) << "no read finds the end of the log";
}

TEST_F(pair, a_follower_is_ready_once_the_group_has_let_it_in) {
  let_first_read(20);
  c.refusal = "Broker: Invalid session timeout";
  std::string why;
  const auto refused = [&, left = 100](pair_source&, std::atomic<bool>& stop) mutable {
    why = second.why_not_ready();
    if (--left == 0) stop = true;
  };
  ASSERT_FALSE(second.run(refused));
  EXPECT_EQ(why, "waiting for the group to let this instance in: " + c.refusal);
}

TEST_F(pair, another_instance_takes_over_with_nothing_but_the_log) {
  let_first_read(20);
  produce(c, 10);
  const auto failed = second.run(until_all_is_read());
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(second.seen(), expected(c)) << "each record was handled once";
}

TEST_F(pair, an_instance_that_comes_back_follows_what_the_other_one_did) {
  let_first_read(20);
  produce(c, 10);
  ASSERT_FALSE(second.run(until_all_is_read()));
  c.owner = &c;  // the second one is alive
  const auto failed = first.run(until_polled(20));
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(first.seen(), expected(c));
  EXPECT_EQ(first.step(), second.step());
}

TEST_F(pair, what_is_not_confirmed_is_not_told) {
  produce(c, 20);
  first.change = [](config& of) { of.state.commit_interval = std::chrono::milliseconds{1}; };
  int polls = 0;
  memory_slot_log* log = nullptr;
  const auto failed = first.run(
      [&](pair_source& s, std::atomic<bool>& stop) {
        // Behind the claim the brokers take records, and acknowledge none.
        if (c.committed.contains(pair_support::k_input)) log->lands = false;
        std::this_thread::sleep_for(std::chrono::milliseconds{1});  // so that commits come to be due
        if (++polls < 60) return;
        s.kill();
        stop = true;
      },
      [&](memory_slot_log& made) { log = &made; });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(c.committed.at(pair_support::k_input).offset, 0) << "an offset says that a step is there";
  EXPECT_EQ(first.seen().at("consumed"), "0") << "the store has confirmed steps alone";
}

TEST_F(pair, records_of_a_dead_owner_that_land_later_do_not_count) {
  produce(c, 20);
  memory_slot_log* log = nullptr;
  int polls = 0;
  ASSERT_FALSE(first.run(
      [&](pair_source& s, std::atomic<bool>& stop) {
        if (c.committed.contains(pair_support::k_input)) log->lands = false;
        if (++polls < 60) return;
        s.kill();
        stop = true;
      },
      [&](memory_slot_log& made) { log = &made; }));
  const auto late = c.log.producers();
  int seen = 0;
  const auto failed =
      second.run([&, until = until_all_is_read()](pair_source& s, std::atomic<bool>& stop) mutable {
        if (++seen == 15) {
          for (const auto& each : late) {
            while (c.log.land(*each)) {
            }
          }
        }
        until(s, stop);
      });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(second.seen(), expected(c));
  c.owner = &c;
  ASSERT_FALSE(first.run(until_polled(20)));
  EXPECT_EQ(first.seen(), expected(c)) << "the first one believes the log, too";
}

TEST_F(pair, the_slot_comes_back_behind_a_rebalance) {
  produce(c, 30);
  int polls = 0;
  const auto failed =
      first.run([&, until = until_all_is_read()](pair_source& s, std::atomic<bool>& stop) mutable {
        if (++polls == 12) s.rebalance();
        until(s, stop);
      });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(first.seen(), expected(c));
  EXPECT_EQ(c.generation, 2U);
  EXPECT_EQ(fences(c), 1) << "it led all the time";
}

TEST_F(pair, a_record_that_fails_costs_an_attempt_and_nothing_else) {
  produce(c, 30);
  memory_slot_log* log = nullptr;
  int polls = 0;
  const auto failed = first.run(
      [&, until = until_all_is_read()](pair_source& s, std::atomic<bool>& stop) mutable {
        ++polls;
        if (polls == 12) log->lands = false;
        if (polls == 14) {
          (void)c.log.land(log->producer(), memory_log::how::lost);
          log->lands = true;
        }
        until(s, stop);
      },
      [&](memory_slot_log& made) { log = &made; });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(first.seen(), expected(c));
}

TEST_F(pair, an_owner_whose_steps_are_not_confirmed_for_long_goes_on_from_the_confirmed_ones) {
  produce(c, 30);
  patient_clock clock;
  first.clock = &clock;
  memory_slot_log* log = nullptr;
  int polls = 0;
  const auto failed = first.run(
      [&, until = until_all_is_read()](pair_source& s, std::atomic<bool>& stop) mutable {
        if (++polls != 12) return until(s, stop);
        log->lands = false;
        log->room = 1;
      },
      [&](memory_slot_log& made) {
        log = &made;
        made.on_wait = [&] {
          clock.waited += std::chrono::milliseconds{500};
          if (clock.waited > std::chrono::seconds{8}) log->lands = true;
        };
      });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_GT(clock.waited, std::chrono::seconds{5}) << "it has waited";
  EXPECT_EQ(first.seen(), expected(c));
}

TEST_F(pair, a_log_that_lost_steps_is_refused) {
  let_first_read(20);
  c.log.lose_from(c.log.end() - 2);
  const auto failed = first.run(until_polled(50));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->code, make_error_code(errc::state_foreign));
  EXPECT_NE(failed->message.find("ends_earlier"), std::string::npos) << failed->message;
}

TEST_F(pair, a_config_that_means_something_else_is_refused) {
  let_first_read(5);
  second.change = [](config& settings) { settings.streams.front().reducer.from = "/n"; };
  const auto failed = second.run(until_polled(50));
  ASSERT_TRUE(failed);
  EXPECT_NE(failed->message.find("other_meaning"), std::string::npos) << failed->message;
}

TEST_F(pair, a_stream_that_is_added_is_refused) {
  let_first_read(5);
  first.change = [](config& settings) { settings.streams.push_back(stream_named("orders", "o")); };
  const auto failed = first.run(until_polled(50));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->code, make_error_code(errc::state_foreign));
}

TEST_F(pair, whoever_cannot_write_the_log_does_not_open_the_state) {
  const instance first{c, "ratchet-0"};
  const auto opened = engine::open(first.settings(), {}, {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, make_error_code(errc::not_built_yet));
}

/// Kills at any point, records that land late, twice, unsaid or never, slots that move; RATCHET_SEED sets the
/// first seed, RATCHET_SEEDS how many.
TEST_F(pair, every_record_is_handled_once_whatever_happens) {
  const auto number = [](const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
  };
  const std::uint64_t first_seed = number("RATCHET_SEED", 1);
  const std::uint64_t seeds = number("RATCHET_SEEDS", 6);
  for (std::uint64_t seed = first_seed; seed < first_seed + seeds && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random{seed};
    const auto below = [&](std::uint64_t bound) { return random() % bound; };
    cluster world;
    instance both[] = {{world, "ratchet-0"}, {world, "ratchet-1"}};
    if (seed % 2 == 0) both[0].change = both[1].change = make_many_bases;
    for (int life = 0; life < 8 && !HasFailure(); ++life) {
      produce(world, static_cast<int>(below(12)));
      const bool lands = below(2) == 0;
      const auto most = static_cast<int>(below(80));
      int polls = 0;
      const auto land_one = [&] {
        constexpr memory_log::how k_hows[] = {memory_log::how::kept, memory_log::how::unsaid,
                                              memory_log::how::repeated, memory_log::how::lost};
        const auto& all = world.log.producers();
        (void)world.log.land(*all[below(all.size())], k_hows[below(8) == 0 ? 1 + below(3) : 0]);
      };
      const auto failed = both[below(2)].run(
          [&](pair_source& s, std::atomic<bool>& stop) {
            if (below(3) == 0) land_one();
            if (below(40) == 0) s.rebalance();
            if (++polls < most) return;
            if (below(3) != 0) s.kill();
            stop = true;
          },
          [&](memory_slot_log& made) {
            made.lands = lands;
            made.on_wait = land_one;
          });
      ASSERT_FALSE(failed) << failed->message;
    }
    world.log.land_all();
    ASSERT_FALSE(both[0].run(until_all_is_read()));
    EXPECT_EQ(both[0].seen(), expected(world));
    world.owner = &world;
    ASSERT_FALSE(both[1].run(until_polled(60)));
    EXPECT_EQ(both[1].seen(), expected(world));
    EXPECT_EQ(both[1].step(), both[0].step());
  }
}

}  // namespace
}  // namespace ratchet
