// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/kept_rejected.hpp"

#include <gtest/gtest.h>

#include "support/noon.hpp"

namespace ratchet {
namespace {

using namespace std::chrono_literals;
using positions = std::vector<kept_rejected::position>;

using testing::k_noon;

kept_rejected::position at(std::int64_t offset) {
  return {{"t", partition_id{0}}, offset};
}

TEST(kept_rejected_records, go_by_number_the_oldest_first) {
  kept_rejected kept;
  for (std::uint32_t i = 0; i < 5; ++i) kept.add(at(9 - i), {7, i}, k_noon);
  EXPECT_EQ(kept.trim({.records = 5}), positions{});
  EXPECT_EQ(kept.trim({.records = 3}), (positions{at(9), at(8)}));
  EXPECT_EQ(kept.newest(2), (positions{at(5), at(6)}));
  EXPECT_EQ(kept.size(), 3U);
}

TEST(kept_rejected_records, go_by_age_at_the_very_millisecond) {
  kept_rejected kept;
  EXPECT_EQ(kept.oldest(), std::nullopt);
  for (std::uint64_t step = 1; step <= 3; ++step)
    kept.add(at(static_cast<std::int64_t>(step)), {step, 0}, k_noon + 1s * static_cast<int>(step));
  EXPECT_EQ(kept.oldest(), k_noon + 1s);
  EXPECT_EQ(kept.trim({.before = k_noon + 1999ms}), positions{at(1)});
  EXPECT_EQ(kept.trim({.before = k_noon + 2s}), positions{at(2)});
  EXPECT_EQ(kept.trim({}), positions{}) << "without a time none goes for its age";
  EXPECT_EQ(kept.oldest(), k_noon + 3s);
}

TEST(kept_rejected_records, that_are_rejected_again_are_new) {
  kept_rejected kept;
  kept.add(at(1), {1, 0}, k_noon);
  kept.add(at(2), {1, 1}, k_noon);
  kept.add(at(1), {2, 0}, k_noon + 1h);
  EXPECT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept.trim({.before = k_noon}), positions{at(2)});
  EXPECT_EQ(kept.newest(9), positions{at(1)});
}

TEST(kept_rejected_records, of_a_clock_that_was_ahead_keep_those_behind_them_as_long) {
  kept_rejected kept;
  kept.add(at(1), {1, 0}, k_noon + 1h);
  kept.add(at(2), {2, 0}, k_noon);
  EXPECT_EQ(kept.trim({.before = k_noon + 1min}), positions{});
  EXPECT_EQ(kept.trim({.before = k_noon + 1h}), (positions{at(1), at(2)}));
}

}  // namespace
}  // namespace ratchet
