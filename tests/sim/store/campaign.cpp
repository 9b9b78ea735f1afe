// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>

#include "sim/store/world.hpp"

/// The real store on a disk that fails (disk.hpp says how). RATCHET_SEED: the first seed;
/// RATCHET_HISTORIES: how many. A failure prints its seed and a shortened history with every call that
/// changed the disk. RATCHET_TRACE=1 prints all that happens as it happens.
namespace ratchet::store_sim {
namespace {

using store_steps::from_environment;

/// The shortest history found that fails, and all that happens in it.
std::string explain(const history& failing) {
  const history ops = shrink(failing);
  trace_lines trace;
  tally unused;
  const std::string what = failure_of(ops, unused, &trace);
  return trace.text() + "=> " + what + '\n';
}

void print(const char* what, const tally& t) {
  const auto n = [](std::uint64_t v) { return static_cast<unsigned long long>(v); };
  std::printf(
      "%s: %llu histories, %llu operations, %llu steps, %llu openings; %llu power cuts, %llu kills, %llu "
      "faults that hit; %llu openings and %llu stores failed, %llu times steps were lost that nobody was "
      "promised, %llu failed writes were there after all; %llu steps at a block's end; %llu checkpoints; "
      "%llu "
      "damaged, %llu refused at opening, %llu met by reading\n",
      what, n(t.histories), n(t.operations), n(t.steps), n(t.opened), n(t.power_cuts), n(t.kills),
      n(t.faults), n(t.failed_opens), n(t.failed_stores), n(t.lost_steps), n(t.kept_unsure), n(t.block_ends),
      n(t.checkpoints), n(t.damaged), n(t.damage_refused), n(t.damage_read));
  std::fflush(stdout);
}

TEST(a_store_on_a_failing_disk, is_an_exact_prefix_of_its_steps_or_refuses_damage_and_leaves_it_as_it_was) {
  const std::uint64_t count = from_environment("RATCHET_HISTORIES", 150);
  const std::uint64_t first = from_environment("RATCHET_SEED", 1);
  constexpr std::uint64_t k_progress_every = 500;
  const bool live = from_environment("RATCHET_TRACE", 0) != 0;
  tally counts;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const history ops = make_history(seed);
    trace_lines lines{live};
    const std::string what = failure_of(ops, counts, live ? &lines : nullptr);
    ASSERT_TRUE(what.empty()) << "RATCHET_SEED=" << seed << " RATCHET_HISTORIES=1: " << what << '\n'
                              << explain(ops);
    if ((seed + 1 - first) % k_progress_every == 0)
      print(("up to seed " + std::to_string(seed)).c_str(), counts);
  }
  print("store on a failing disk", counts);
  if (count >= 100) {
    EXPECT_GT(counts.lost_steps, 0U);
    EXPECT_GT(counts.kept_unsure, 0U);
    EXPECT_GT(counts.failed_opens, 0U);
    EXPECT_GT(counts.failed_stores, 0U);
    EXPECT_GT(counts.damage_refused, 0U);
    EXPECT_GT(counts.block_ends, 0U);
    EXPECT_GT(counts.checkpoints, 0U);
  }
}

}  // namespace
}  // namespace ratchet::store_sim
