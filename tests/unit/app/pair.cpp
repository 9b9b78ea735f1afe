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

#include "replicate/base_record.hpp"
#include "replicate/log_record.hpp"
#include "unit/app/pair_world.hpp"

namespace ratchet {
namespace {

using pair_support::cluster;
using pair_support::instance;
using pair_support::pair_source;
using testing::memory_log;
using testing::memory_slot_log;

constexpr int k_aggregates = 4;

/// Adds records with rising numbers.
void produce(cluster& to, int count) {
  for (int i = 0; i < count; ++i) {
    const int n = static_cast<int>(to.records.size());
    std::string value = line("a" + std::to_string(n % k_aggregates), n + 1);
    value.pop_back();
    to.records.push_back(std::move(value));
  }
}

std::map<std::string, std::string> expected(const cluster& c) {
  std::map<std::string, std::string> all{{"consumed", std::to_string(c.records.size())}};
  for (std::size_t n = 0; n < c.records.size(); ++n)
    all["a" + std::to_string(n % k_aggregates)] = std::to_string(n + 1);
  return all;
}

/// Until all records are read, and some polls more, in which they are confirmed.
auto until_all_is_read() {
  return [behind = 0](pair_source& s, std::atomic<bool>& stop) mutable {
    if (s.has_read_all() && ++behind > 10) stop = true;
  };
}

auto until_polled(int times) {
  return [left = times](pair_source&, std::atomic<bool>& stop) mutable {
    if (left-- == 0) stop = true;
  };
}

/// Where a base is looked for some seconds.
auto until_refused() {
  return [](pair_source&, std::atomic<bool>&) { std::this_thread::sleep_for(std::chrono::milliseconds{1}); };
}

TEST(pair, the_first_instance_begins_the_history_and_owns_the_state) {
  cluster c;
  produce(c, 20);
  instance first{c, "ratchet-0"};
  const auto failed = first.run(until_all_is_read());
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(first.seen(), expected(c));
  EXPECT_GT(c.log.end(), 20 / 3) << "each step is in the log";
  EXPECT_EQ(c.committed.at(pair_support::k_input).offset, 20);
}

TEST(pair, a_follower_joins_although_others_append_all_the_time) {
  cluster c;
  produce(c, 20);
  instance first{c, "ratchet-0"};
  ASSERT_FALSE(first.run(until_all_is_read()));
  instance second{c, "ratchet-1"};
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

TEST(pair, a_follower_is_ready_once_the_group_has_let_it_in) {
  cluster c;
  produce(c, 20);
  instance first{c, "ratchet-0"};
  ASSERT_FALSE(first.run(until_all_is_read()));
  instance second{c, "ratchet-1"};
  const std::string refusal = "Broker: Invalid session timeout";
  std::string why;
  const auto refused = [&, left = 100](pair_source& s, std::atomic<bool>& stop) mutable {
    why = second.why_not_ready();
    if (left == 100 || left == 50) s.refuse(refusal);
    if (--left == 0) stop = true;
  };
  ASSERT_FALSE(second.run(refused));
  EXPECT_EQ(why, "waiting for the group to let this instance in: " + refusal);
}

TEST(pair, another_instance_takes_over_with_nothing_but_the_log) {
  cluster c;
  produce(c, 20);
  instance first{c, "ratchet-0"};
  ASSERT_FALSE(first.run(until_all_is_read()));
  produce(c, 10);
  instance second{c, "ratchet-1"};
  const auto failed = second.run(until_all_is_read());
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(second.seen(), expected(c)) << "each record was handled once";
}

TEST(pair, an_instance_that_comes_back_follows_what_the_other_one_did) {
  cluster c;
  produce(c, 20);
  instance first{c, "ratchet-0"};
  instance second{c, "ratchet-1"};
  ASSERT_FALSE(first.run(until_all_is_read()));
  produce(c, 10);
  ASSERT_FALSE(second.run(until_all_is_read()));
  c.owner = &c;  // the second one is alive
  const auto failed = first.run(until_polled(20));
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(first.seen(), expected(c));
  EXPECT_EQ(first.step(), second.step());
}

TEST(pair, what_is_not_confirmed_is_not_told) {
  cluster c;
  produce(c, 20);
  instance first{c, "ratchet-0"};
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

TEST(pair, records_of_a_dead_owner_that_land_later_do_not_count) {
  cluster c;
  produce(c, 20);
  instance first{c, "ratchet-0"};
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
  instance second{c, "ratchet-1"};
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

TEST(pair, the_slot_comes_back_behind_a_rebalance) {
  cluster c;
  produce(c, 30);
  instance first{c, "ratchet-0"};
  int polls = 0;
  const auto failed =
      first.run([&, until = until_all_is_read()](pair_source& s, std::atomic<bool>& stop) mutable {
        if (++polls == 12) s.rebalance();
        until(s, stop);
      });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(first.seen(), expected(c));
  EXPECT_EQ(c.generation, 2U);
}

TEST(pair, a_record_that_fails_costs_an_attempt_and_nothing_else) {
  cluster c;
  produce(c, 30);
  instance first{c, "ratchet-0"};
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

/// Seconds pass while the log is waited for.
class patient_clock final : public clock_port {
 public:
  [[nodiscard]] timestamp now() const override { return timestamp{k_noon_time + waited}; }
  [[nodiscard]] std::chrono::steady_clock::time_point steady() const override {
    return std::chrono::steady_clock::time_point{std::chrono::hours{1}} + waited;
  }
  std::chrono::milliseconds waited{0};
};

TEST(pair, an_owner_whose_steps_are_not_confirmed_for_long_goes_on_from_the_confirmed_ones) {
  cluster c;
  produce(c, 30);
  instance first{c, "ratchet-0"};
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

TEST(pair, a_log_that_lost_steps_is_refused) {
  cluster c;
  produce(c, 20);
  instance first{c, "ratchet-0"};
  ASSERT_FALSE(first.run(until_all_is_read()));
  c.log.lose_from(c.log.end() - 2);
  const auto failed = first.run(until_polled(50));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->code, make_error_code(errc::state_foreign));
  EXPECT_NE(failed->message.find("ends_earlier"), std::string::npos) << failed->message;
}

TEST(pair, a_config_that_means_something_else_is_refused) {
  cluster c;
  produce(c, 5);
  instance first{c, "ratchet-0"};
  ASSERT_FALSE(first.run(until_all_is_read()));
  instance second{c, "ratchet-1"};
  second.change = [](config& settings) { settings.streams.front().reducer.from = "/n"; };
  const auto failed = second.run(until_polled(50));
  ASSERT_TRUE(failed);
  EXPECT_NE(failed->message.find("other_meaning"), std::string::npos) << failed->message;
}

TEST(pair, a_stream_that_is_added_is_refused) {
  cluster c;
  produce(c, 5);
  instance first{c, "ratchet-0"};
  ASSERT_FALSE(first.run(until_all_is_read()));
  first.change = [](config& settings) { settings.streams.push_back(stream_named("orders", "o")); };
  const auto failed = first.run(until_polled(50));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->code, make_error_code(errc::state_foreign));
}

TEST(pair, whoever_cannot_write_the_log_does_not_open_the_state) {
  cluster c;
  const instance first{c, "ratchet-0"};
  const auto opened = engine::open(first.settings(), {}, {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, make_error_code(errc::not_built_yet));
}

/// Bases as often as they can be.
void make_many_bases(config& of) {
  of.replicate->base.at_least = 1;
}

TEST(pair, an_owner_cuts_the_log_before_a_base_and_others_begin_there) {
  cluster c;
  produce(c, 60);
  instance first{c, "ratchet-0"};
  first.change = make_many_bases;
  ASSERT_FALSE(first.run(until_all_is_read()));
  EXPECT_GT(c.log.first(), 0) << "it was cut";
  EXPECT_GT(c.bases.first(), 0) << "so were the bases before the newest";
  instance second{c, "ratchet-1"};
  produce(c, 10);
  const auto failed = second.run(until_all_is_read());
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(second.seen(), expected(c));
}

TEST(pair, an_owner_that_may_be_late_cuts_nothing) {
  cluster c;
  produce(c, 60);
  instance first{c, "ratchet-0"};
  ASSERT_FALSE(first.run(until_all_is_read()));
  // It has nothing to append, so it hears of another fence only when it asks.
  first.change = make_many_bases;
  bool has_fenced = false;
  memory_slot_log* log = nullptr;
  memory_slot_log watcher{c.bases};
  watcher.on_progress([&] {
    replicate::base_record last;
    if (!decode_base_record(*c.bases.at(c.bases.end() - 1), last)) return;
    if (last.head.kind != replicate::base_kind::end || std::exchange(has_fenced, true)) return;
    // Its base is whole, and another instance fences.
    replicate::log_record fence;
    ASSERT_EQ(replicate::decode_record(*c.log.at(0), fence), replicate::record_fault::none);
    fence.head.epoch = {9, 0};
    fence.head.writer = 99;
    std::string bytes;
    append_fence(bytes, fence.head, fence.fence);
    c.log.append(bytes);
    log->lands = false;  // and the brokers answer this one late
  });
  const auto failed = first.run(
      [&, polls = 0](pair_source& s, std::atomic<bool>& stop) mutable {
        if (!has_fenced) return;
        if (++polls == 5) s.lose();
        log->lands = polls >= 5;
        if (polls == 15) stop = true;
      },
      [&](memory_slot_log& made) { log = &made; });
  ASSERT_FALSE(failed) << failed->message;
  ASSERT_TRUE(has_fenced);
  EXPECT_EQ(c.log.first(), 0);
  EXPECT_EQ(c.bases.first(), 0);
}

TEST(pair, an_instance_that_is_killed_while_it_reads_a_base_begins_again) {
  cluster c;
  produce(c, 60);
  instance first{c, "ratchet-0"};
  first.change = make_many_bases;
  ASSERT_FALSE(first.run(until_all_is_read()));
  c.owner = &c;
  ASSERT_GT(c.log.first(), 0);
  for (int killed_at = 1; killed_at < 12 && !HasFailure(); ++killed_at) {
    SCOPED_TRACE(killed_at);
    instance second{c, "ratchet-1"};
    const auto killed = second.run([left = killed_at](pair_source& s, std::atomic<bool>& stop) mutable {
      if (--left > 0) return;
      s.kill();
      stop = true;
    });
    ASSERT_FALSE(killed) << killed->message;
    const auto failed = second.run(until_polled(40));
    ASSERT_FALSE(failed) << failed->message;
    EXPECT_EQ(second.seen(), expected(c));
    EXPECT_EQ(second.step(), first.step());
  }
}

TEST(pair, an_instance_that_was_away_for_long_begins_again_from_a_base) {
  cluster c;
  produce(c, 20);
  instance first{c, "ratchet-0"};
  instance second{c, "ratchet-1"};
  second.change = make_many_bases;
  ASSERT_FALSE(first.run(until_all_is_read()));
  const std::uint64_t before = first.step();
  produce(c, 100);
  ASSERT_FALSE(second.run(until_all_is_read()));
  ASSERT_GT(c.log.first(), static_cast<std::int64_t>(before) + 2) << "the log does not lead on from there";
  c.owner = &c;
  const auto failed = first.run(until_polled(60));
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(first.seen(), expected(c));
  EXPECT_EQ(first.step(), second.step());
}

TEST(pair, a_log_that_was_cut_without_a_base_is_refused) {
  cluster c;
  produce(c, 20);
  instance first{c, "ratchet-0"};
  ASSERT_FALSE(first.run(until_all_is_read()));
  c.log.delete_before(3);
  instance second{c, "ratchet-1"};
  const auto failed = second.run(until_refused());
  ASSERT_TRUE(failed);
  EXPECT_NE(failed->message.find("begins_later"), std::string::npos) << failed->message;
}

TEST(pair, an_old_state_stays_as_it_is_where_no_base_is_whole) {
  cluster c;
  produce(c, 20);
  instance first{c, "ratchet-0"};
  instance second{c, "ratchet-1"};
  second.change = make_many_bases;
  ASSERT_FALSE(first.run(until_all_is_read()));
  const auto before = first.seen();
  produce(c, 100);
  ASSERT_FALSE(second.run(until_all_is_read()));
  c.bases.lose_from(c.bases.end() - 1);
  c.owner = &c;
  const auto failed = first.run(until_refused());
  ASSERT_TRUE(failed);
  EXPECT_NE(failed->message.find("begins_later"), std::string::npos) << failed->message;
  EXPECT_EQ(first.seen(), before);
}

/// Kills at any point, records that land late, twice, unsaid or never, slots that move; RATCHET_SEED sets the
/// first seed, RATCHET_SEEDS how many.
TEST(pair, every_record_is_handled_once_whatever_happens) {
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
    cluster c;
    instance both[] = {{c, "ratchet-0"}, {c, "ratchet-1"}};
    if (seed % 2 == 0) both[0].change = both[1].change = make_many_bases;
    for (int life = 0; life < 8 && !HasFailure(); ++life) {
      produce(c, static_cast<int>(below(12)));
      const bool lands = below(2) == 0;
      const auto most = static_cast<int>(below(80));
      int polls = 0;
      const auto land_one = [&] {
        constexpr memory_log::how k_hows[] = {memory_log::how::kept, memory_log::how::unsaid,
                                              memory_log::how::repeated, memory_log::how::lost};
        const auto& all = c.log.producers();
        (void)c.log.land(*all[below(all.size())], k_hows[below(8) == 0 ? 1 + below(3) : 0]);
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
    c.log.land_all();
    ASSERT_FALSE(both[0].run(until_all_is_read()));
    EXPECT_EQ(both[0].seen(), expected(c));
    c.owner = &c;
    ASSERT_FALSE(both[1].run(until_polled(60)));
    EXPECT_EQ(both[1].seen(), expected(c));
    EXPECT_EQ(both[1].step(), both[0].step());
  }
}

}  // namespace
}  // namespace ratchet
