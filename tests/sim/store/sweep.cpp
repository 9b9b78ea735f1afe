// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cstdio>

#include "sim/store/world.hpp"

/// Every I/O call of one fixed history fails in its turn, in every way. RATCHET_SWEEP_EVERY=1 takes each
/// call; by default every so-manieth, as many as a test run has time for. RATCHET_SWEEP_FROM: where to begin.
namespace ratchet::store_sim {
namespace {

using store_steps::from_environment;

struct way {
  fault_kind kind;
  bool lasting;
};

std::string to_text(const fault& f) {
  return std::string{name_of(f.kind)} + " at the " + (f.of_reads ? "read " : "call ") + std::to_string(f.at) +
         (f.lasting ? ", and from there on" : "") + ", seed " + std::to_string(f.seed);
}

struct extent {
  std::uint64_t calls;
  std::uint64_t reads;
};

/// How many calls the history makes where nothing fails.
extent extent_of(const history& ops) {
  tally unused;
  world w{unused, nullptr};
  w.play(ops);
  return {w.disk().calls(), w.disk().reads()};
}

void expect_that_it_holds(const history& ops, const fault& f, tally& counts) {
  const std::string what = failure_of(ops, counts, nullptr, &f);
  if (what.empty()) return;
  trace_lines trace;
  tally unused;
  const std::string again = failure_of(ops, unused, &trace, &f);
  FAIL() << to_text(f) << ": " << what << '\n' << trace.text() << "=> " << again;
}

TEST(each_call_of_a_store, may_fail_in_any_way_and_nothing_that_was_promised_is_lost) {
  constexpr std::array k_ways{way{fault_kind::io_error, false}, way{fault_kind::io_error, true},
                              way{fault_kind::no_space, false}, way{fault_kind::no_space, true},
                              way{fault_kind::unknown, false},  way{fault_kind::unknown, true},
                              way{fault_kind::power_cut, false}};
  const std::uint64_t every = from_environment("RATCHET_SWEEP_EVERY", 61);
  const std::uint64_t from = from_environment("RATCHET_SWEEP_FROM", 1);
  const history ops = plain_history();
  const extent all = extent_of(ops);
  ASSERT_EQ(extent_of(ops).calls, all.calls) << "the history is not the same each time it is played";
  tally counts;
  std::uint64_t played = 0;
  std::size_t first_way = 0;  // another one at each call, so that a coarse sweep meets all pairs in time
  for (std::uint64_t at = from; at <= all.calls && !HasFailure(); at += every) {
    for (std::size_t i = 0; i < k_ways.size(); ++i) {
      const way& w = k_ways[(i + first_way) % k_ways.size()];
      expect_that_it_holds(ops, {w.kind, at, w.lasting, false, at}, counts);
      ++played;
    }
    ++first_way;
    if (at % 100 == 0) std::printf("up to call %llu\n", static_cast<unsigned long long>(at));
    std::fflush(stdout);
  }
  const auto n = [](std::uint64_t v) { return static_cast<unsigned long long>(v); };
  std::printf(
      "sweep: %llu histories over %llu calls, %llu faults hit, %llu openings and %llu stores failed\n",
      n(played), n(all.calls), n(counts.faults), n(counts.failed_opens), n(counts.failed_stores));
  EXPECT_GE(counts.faults * 10, played * 9) << "most faults never hit";
}

TEST(each_read_of_a_store, may_fail_and_nothing_that_was_promised_is_lost) {
  const std::uint64_t every = from_environment("RATCHET_SWEEP_EVERY", 61);
  const std::uint64_t from = from_environment("RATCHET_SWEEP_FROM", 1);
  const history ops = plain_history();
  const extent all = extent_of(ops);
  tally counts;
  for (std::uint64_t at = from; at <= all.reads && !HasFailure(); at += every) {
    for (const bool lasting : {false, true}) {
      expect_that_it_holds(ops, {fault_kind::io_error, at, lasting, true, at}, counts);
    }
  }
  const auto n = [](std::uint64_t v) { return static_cast<unsigned long long>(v); };
  std::printf("sweep: %llu reads, %llu faults hit, %llu openings and %llu stores failed\n", n(all.reads),
              n(counts.faults), n(counts.failed_opens), n(counts.failed_stores));
}

}  // namespace
}  // namespace ratchet::store_sim
