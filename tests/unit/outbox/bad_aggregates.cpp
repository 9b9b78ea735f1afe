// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// A sink some of whose aggregates fail by themselves, while it takes the messages of others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "unit/outbox/sink_fixture.hpp"

namespace ratchet::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using how = delivery::how;

/// What `bad` aggregates do to a sink that takes all others: they hang until their time is over, by rounds.
struct a_sink_with_bad_aggregates : a_sink {
  struct counts {
    std::size_t good{0};
    std::size_t bad{0};
    std::size_t rounds_without_good{0};  ///< none of the connections was free for them
  };
  static constexpr std::size_t k_connections = 8;

  void put_bad_and_good(std::size_t bad, std::size_t good) {
    std::vector<std::pair<std::string, std::string>> all;
    for (std::size_t i = 0; i < bad; ++i) all.emplace_back("bad" + std::to_string(i), "bad");
    for (std::size_t i = 0; i < good; ++i) all.emplace_back("good" + std::to_string(i), "good");
    put(all);
  }
  /// Good ones come through at once, as many as there are connections for; the bad ones end as their time is
  /// over, all together.
  counts run_round(milliseconds timeout, std::size_t most_good) {
    counts of;
    to_.room = k_connections;
    now_ += seconds{30};  // any pause is over
    const std::size_t before = to_.sent.size();
    for (std::size_t turns = 0; turns < most_good; ++turns) {
      turn();
      if (end_good(of) == 0) break;
    }
    of.bad = static_cast<std::size_t>(
        std::count_if(to_.sent.begin() + static_cast<std::ptrdiff_t>(before), to_.sent.end(),
                      [](const output_row& row) { return row.value == "bad"; }));
    of.rounds_without_good = of.good == 0 ? 1 : 0;
    now_ += timeout;
    to_.end_all(how::again);
    turn();
    end_good(of);
    return of;
  }
  std::size_t end_good(counts& of) {
    const auto under_way = to_.under_way;
    std::size_t ended = 0;
    for (const std::uint64_t position : under_way) {
      const auto row = std::find_if(to_.sent.rbegin(), to_.sent.rend(),
                                    [position](const output_row& r) { return r.position == position; });
      if (row->value == "bad") continue;
      to_.end(position, how::done);
      ++ended;
    }
    of.good += ended;
    return ended;
  }
};

TEST_F(a_sink_with_bad_aggregates, sends_the_others_while_those_hang) {
  put_bad_and_good(20, 1'000);
  counts all;
  for (int round = 0; round < 6; ++round) {
    const counts of = run_round(seconds{10}, 1'000);
    all.good += of.good;
    all.rounds_without_good += of.rounds_without_good;
  }
  EXPECT_EQ(all.good, 1'000U);
  EXPECT_LE(all.rounds_without_good, 3U) << "each of the twenty takes a connection once before it is known";
  // Whoever comes now meets free connections, however often those fail.
  for (int round = 0; round < 20; ++round) {
    put_bad_and_good(0, 50);
    EXPECT_EQ(run_round(seconds{10}, 1'000).good, 50U) << round;
  }
}

TEST_F(a_sink_with_bad_aggregates, keeps_to_their_pauses_whatever_comes_through) {
  put_bad_and_good(20, 0);
  std::size_t bad = 0;
  to_.room = k_connections;
  for (int ms = 0; ms < 20'000; ms += 10) {
    if (ms % 100 == 0) put({{"good" + std::to_string(ms), "good"}});
    pass(milliseconds{10});
    counts of;
    end_good(of);
    bad += to_.under_way.size();
    to_.end_all(how::again);
    turn();
  }
  EXPECT_LE(bad, 20U * 7U)
      << "0, 0.5, 1.5, 3.5, 7.5, 15.5 s: six tries of each, and none more for a good one";
  EXPECT_GE(bad, 20U * 4U) << "and they are tried";
  EXPECT_EQ(sender().sent(), 200U);
}

TEST_F(a_sink_with_bad_aggregates, tries_each_of_them_by_turns) {
  put_bad_and_good(20, 1);
  for (int round = 0; round < 5; ++round) (void)run_round(seconds{10}, 1'000);
  to_.sent.clear();
  for (int round = 0; round < 20; ++round) {
    put_bad_and_good(0, 1);
    (void)run_round(seconds{10}, 1'000);
  }
  std::set<std::string> tried;
  for (const output_row& row : to_.sent) {
    if (row.value == "bad") tried.insert(row.aggregate);
  }
  EXPECT_EQ(tried.size(), 20U) << "the first ones are no better than the last ones";
}

TEST_F(a_sink_with_bad_aggregates, does_not_go_away_for_those_that_are_known) {
  put_bad_and_good(20, 1);
  for (int round = 0; round < 8; ++round) {
    put_bad_and_good(0, 1);
    (void)run_round(seconds{10}, 1'000);
  }
  (void)run_round(seconds{30}, 1'000);  // nothing but bad ones
  put_bad_and_good(0, 1);
  turn();
  EXPECT_EQ(to_.sent.back().value, "good") << "at once";
}

TEST_F(a_sink_with_bad_aggregates, over_one_connection_sends_most_of_the_others_first) {
  put_bad_and_good(3, 100);
  to_.room = 1;
  sender_.emplace(sink_outlet{"receipts", &to_, milliseconds{500}, seconds{30}, 1}, store_, silent_log());
  std::size_t good = 0;
  std::size_t tries = 0;
  for (int i = 0; i < 500 && good < 100; ++i) {
    turn();
    counts of;
    good += end_good(of);
    tries += to_.under_way.size();
    if (!to_.under_way.empty()) now_ += seconds{10};
    to_.end_all(how::again);
  }
  EXPECT_EQ(good, 100U);
  EXPECT_LE(tries, 3U + 100U / sink_sender::k_fresh_between + 1U);
}

}  // namespace
}  // namespace ratchet::testing
