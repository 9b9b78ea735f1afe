// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Several processes over one replicated log, under every fault that the simulated world knows, history by
// history. RATCHET_SEED: the first seed. RATCHET_PAIR_HISTORIES: how many.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "sim/pair/world.hpp"
#include "support/environment_number.hpp"

namespace ratchet::pair_sim {
namespace {

using testing::number_from;

constexpr std::uint64_t k_histories = 150;
constexpr std::size_t k_lines_told = 250;

[[nodiscard]] std::string report_of(std::uint64_t seed, const std::string& broken) {
  std::vector<std::string> lines;
  (void)play(seed, &lines);
  std::string text = "seed " + std::to_string(seed) + ": " + broken + "\n";
  const auto told = static_cast<std::ptrdiff_t>(std::min(lines.size(), k_lines_told));
  for (auto at = lines.end() - told; at != lines.end(); ++at) text += *at + "\n";
  return text + "again: tools/sim --pair --seeds 1 --from " + std::to_string(seed);
}

struct campaign {
  std::uint64_t first{number_from("RATCHET_SEED", 1)};
  std::uint64_t count{number_from("RATCHET_PAIR_HISTORIES", k_histories)};
  std::atomic<std::uint64_t> next{0};
  std::mutex mutex;
  history_result all;
  std::vector<std::string> failures;

  void play_some() {
    for (std::uint64_t i = next++; i < count; i = next++) {
      const history_result one = play(first + i);
      const std::string failure = one.broken.empty() ? "" : report_of(first + i, one.broken);
      const std::scoped_lock lock{mutex};
      if (!failure.empty()) {
        failures.push_back(failure);
        next = count;
      }
      all.add(one);
    }
  }
};

TEST(histories, keep_every_promise_whatever_goes_wrong) {
  campaign all;
  std::vector<std::thread> threads;
  // A history waits for the threads of its stores more than for a core.
  const std::uint64_t most =
      number_from("RATCHET_THREADS", 3 * std::uint64_t{std::thread::hardware_concurrency()});
  for (std::uint64_t i = 1; i < std::min(most, all.count); ++i)
    threads.emplace_back([&] { all.play_some(); });
  all.play_some();
  for (std::thread& each : threads) each.join();
  ASSERT_TRUE(all.failures.empty()) << all.failures.front();
  if (all.count >= k_histories) {
    EXPECT_GT(all.all.did.compared, all.count) << "followers compare their digests";
  }
  std::cout << all.count << " histories from seed " << all.first << ": " << to_text(all.all);
}

TEST(histories, are_the_same_each_time) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    std::vector<std::string> first;
    std::vector<std::string> second;
    const std::string broken = play(seed, &first).broken;
    ASSERT_EQ(broken, play(seed, &second).broken) << "seed " << seed;
    const auto [one, other] = std::ranges::mismatch(first, second);
    ASSERT_TRUE(one == first.end() && other == second.end())
        << "seed " << seed << ", line " << one - first.begin() << ":\n"
        << (one == first.end() ? "the end" : *one) << "\n"
        << (other == second.end() ? "the end" : *other);
    ASSERT_FALSE(first.empty());
  }
}

}  // namespace
}  // namespace ratchet::pair_sim
