// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "support/core_print.hpp"
#include "support/core_world.hpp"

namespace ratchet::testing {
namespace {

using enum verdict;
using verdicts = std::vector<verdict>;

/// A stream in order arrival whose ids are numbers that grow.
world monotonic() {
  world w{reducer{folding{}}, order::arrival};
  w.rules.monotonic_ids = true;
  return w;
}

/// As the decoder makes it: the id is of its partition, its source and its number.
spec numbered(std::uint64_t number, std::int64_t offset, std::string payload = "x", int partition = 0,
              std::string source = {}) {
  const auto of = static_cast<std::uint64_t>(partition) << 32U | std::hash<std::string>{}(source) << 40U;
  return {.id = event_id{of, number},
          .payload = std::move(payload),
          .partition = partition,
          .offset = offset,
          .source = std::move(source)};
}

TEST(monotonic_ids, tell_a_repeat_by_the_last_one_of_their_partition) {
  for (const bool one_by_one : {false, true}) {
    world w = monotonic();
    const std::vector<spec> events = {numbered(1, 0, "a"), numbered(5, 1, "b"), numbered(5, 2, "b"),
                                      numbered(1, 3, "a"), numbered(3, 4, "?"), numbered(6, 5, "c")};
    verdicts got;
    if (one_by_one) {
      for (const spec& e : events) got.push_back(verdicts_of(w.step({e})).at(0));
    } else {
      got = verdicts_of(w.step(events));
    }
    EXPECT_EQ(got, (verdicts{applied, applied, duplicate, duplicate, duplicate, applied})) << one_by_one;
    EXPECT_EQ(w.snapshot(), "a;b;c;");
    EXPECT_EQ(w.partition(0).last_ids.at(""), seq(6));
    EXPECT_TRUE(w.ids.empty()) << "no window is kept";
  }
}

TEST(monotonic_ids, have_neither_a_time_nor_an_aggregate) {
  world w = monotonic();
  spec first = numbered(7, 0, "a");
  first.time = 5'000'000;
  spec old = numbered(8, 1, "b");
  old.time = 1000;
  spec elsewhere = numbered(8, 2, "b");
  elsewhere.aggregate = "z";
  EXPECT_EQ(verdicts_of(w.step({first, old, elsewhere})), (verdicts{applied, applied, duplicate}));
  EXPECT_EQ(w.state.counters.ids_ahead, 0U);
  EXPECT_EQ(w.state.counters.rejected(), 0U) << "nothing is too old";
}

TEST(monotonic_ids, grow_in_each_partition_and_source_by_themselves) {
  world w = monotonic();
  const auto got =
      w.step({numbered(9, 0, "a", 0, "/x"), numbered(2, 1, "b", 0, "/y"), numbered(3, 0, "c", 1, "/x"),
              numbered(3, 1, "c", 1, "/x"), numbered(9, 2, "a", 0, "/x"), numbered(3, 3, "d", 0, "/y")});
  EXPECT_EQ(verdicts_of(got), (verdicts{applied, applied, applied, duplicate, duplicate, applied}));
  EXPECT_EQ(w.partition(0).last_ids.at("/x"), seq(9));
  EXPECT_EQ(w.partition(0).last_ids.at("/y"), seq(3));
  EXPECT_EQ(w.partition(1).last_ids.at("/x"), seq(3));
}

TEST(monotonic_ids, of_events_that_wait_have_come) {
  world w = monotonic();
  EXPECT_EQ(verdicts_of(w.step({numbered(1, 0, "?1"), numbered(2, 1, "b"), numbered(1, 2, "?1"),
                                numbered(2, 3, "b"), numbered(3, 4, "c")})),
            (verdicts{retrying, parked, duplicate, duplicate, parked}));
  EXPECT_EQ(verdicts_of(w.step({numbered(2, 5, "b")})), (verdicts{duplicate}));
  w.now += std::chrono::hours{1};
  w.resume();
  EXPECT_EQ(w.state.counters.waiting(), 0U);
  EXPECT_EQ(w.state.counters.applied, 3U);
  EXPECT_EQ(verdicts_of(w.step({numbered(3, 6, "c"), numbered(4, 7, "d")})), (verdicts{duplicate, applied}));
  EXPECT_TRUE(w.ids.empty());
}

TEST(monotonic_ids, behind_a_reducer_that_stops_have_not_come) {
  world w = monotonic();
  const auto stopped = w.step({numbered(1, 0, "a"), numbered(2, 1, "!"), numbered(3, 2, "c")});
  ASSERT_EQ(stopped.stops.size(), 1U);
  EXPECT_EQ(w.partition(0).last_ids.at(""), seq(1));
  EXPECT_EQ(verdicts_of(w.step({numbered(2, 1, "b"), numbered(3, 2, "c")})), (verdicts{applied, applied}));
}

/// Its partition has had as many sources as are kept, "/0" and so on.
world with_all_sources() {
  world w = monotonic();
  std::vector<spec> events;
  for (std::size_t i = 0; i < k_most_sources; ++i)
    events.push_back(numbered(1, static_cast<std::int64_t>(i), "x", 0, "/" + std::to_string(i)));
  EXPECT_TRUE(w.step(events).stops.empty());
  return w;
}

TEST(monotonic_ids, of_more_sources_than_are_kept_are_rejected_and_others_go_on) {
  world w = with_all_sources();
  const std::int64_t next = w.partition(0).next_offset;
  const auto got = w.step({numbered(2, next, "x", 0, "/7"), numbered(1, next + 1, "y", 0, "/new"),
                           numbered(3, next + 2, "x", 0, "/7"), numbered(1, 0, "x", 1, "/new")});
  EXPECT_EQ(verdicts_of(got), (verdicts{applied, rejected, applied, applied}));
  EXPECT_EQ(got.decisions[1].reason, reject_reason::malformed);
  EXPECT_EQ(got.rejected, std::vector<std::uint32_t>{1});
  EXPECT_TRUE(got.stops.empty());
  EXPECT_EQ(w.partition(0).next_offset, next + 3);
  EXPECT_EQ(w.partition(0).last_ids.size(), k_most_sources);
  EXPECT_EQ(w.state.counters.rejected(), 1U);
  EXPECT_EQ(w.snapshot().find('y'), std::string::npos);
}

TEST(monotonic_ids, of_made_up_sources_do_not_poison_their_partition) {
  world w = with_all_sources();
  w.rules.poison_limit = 3;
  std::int64_t next = w.partition(0).next_offset;
  std::vector<spec> events;
  for (int i = 0; i < 10; ++i) events.push_back(numbered(1, next++, "x", 0, "/new" + std::to_string(i)));
  events.push_back(numbered(2, next++, "x", 0, "/7"));
  const auto got = w.step(events);
  EXPECT_TRUE(got.stops.empty());
  EXPECT_EQ(got.decisions.back().verdict, applied);
  EXPECT_EQ(w.state.counters.rejected(), 10U);
}

/// However a history with repeats falls into steps, each number has its effect once.
TEST(monotonic_ids, have_their_effect_once_however_steps_are_cut) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random{seed};
    std::vector<spec> events;
    std::map<std::string, std::string> want;
    std::map<std::pair<int, std::string>, std::vector<spec>> sent;
    std::map<int, std::int64_t> offsets;
    for (int i = 0; i < 60; ++i) {
      const int partition = static_cast<int>(random() % 2);
      const std::string source = random() % 2 == 0 ? "/x" : "/y";
      auto& before = sent[{partition, source}];
      spec e;
      if (!before.empty() && random() % 3 == 0) {
        e = before[random() % before.size()];
      } else {
        const std::uint64_t last = before.empty() ? 0 : before.back().id->low;
        e = numbered(last + 1 + random() % 3, 0, std::to_string(i), partition, source);
        e.aggregate = "a" + std::to_string(random() % 3);
        if (random() % 5 == 0) e.payload = "?" + std::to_string(1 + random() % 2) + e.payload;
        before.push_back(e);
        want[e.aggregate] += "1";
      }
      e.offset = offsets[partition]++;
      events.push_back(e);
    }
    world w = monotonic();
    for (std::size_t i = 0; i < events.size();) {
      const std::size_t end = std::min(events.size(), i + 1 + random() % 9);
      w.step({events.begin() + static_cast<std::ptrdiff_t>(i),
              events.begin() + static_cast<std::ptrdiff_t>(end)});
      i = end;
      w.now += std::chrono::minutes{static_cast<int>(random() % 3)};
      w.resume();
    }
    for (int i = 0; i < 20; ++i) {
      w.now += std::chrono::hours{1};
      w.resume();
    }
    std::uint64_t all = 0;
    for (const auto& [aggregate, once] : want) {
      const std::string folded = w.snapshot(aggregate);
      EXPECT_EQ(std::count(folded.begin(), folded.end(), ';'), static_cast<std::ptrdiff_t>(once.size()))
          << "seed " << seed << " " << aggregate << ": " << folded;
      all += once.size();
    }
    EXPECT_EQ(w.state.counters.applied, all) << "seed " << seed;
    EXPECT_EQ(w.state.counters.duplicate, events.size() - all) << "seed " << seed;
  }
}

}  // namespace
}  // namespace ratchet::testing
