// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/backoff.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/core_world.hpp"

namespace ratchet {
namespace {

using std::chrono::milliseconds;

struct pause_row {
  const char* name;
  milliseconds low;
  milliseconds high;
  std::uint32_t attempt;
  milliseconds shortest;
  milliseconds longest;
};

constexpr milliseconds k_forever = milliseconds::max();

// clang-format off
constexpr pause_row k_pauses[] = {
    {"behind_the_first", milliseconds{40}, milliseconds{1000}, 1, milliseconds{40}, milliseconds{80}},
    {"behind_the_second", milliseconds{40}, milliseconds{1000}, 2, milliseconds{80}, milliseconds{160}},
    {"behind_the_fourth", milliseconds{40}, milliseconds{1000}, 4, milliseconds{320}, milliseconds{640}},
    {"up_to_high", milliseconds{40}, milliseconds{1000}, 5, milliseconds{500}, milliseconds{1000}},
    {"behind_the_last", milliseconds{40}, milliseconds{1000}, 4'000'000'000, milliseconds{500}, milliseconds{1000}},
    {"high_below_twice_low", milliseconds{40}, milliseconds{50}, 3, milliseconds{40}, milliseconds{50}},
    {"low_is_high", milliseconds{40}, milliseconds{40}, 1, milliseconds{40}, milliseconds{40}},
    {"the_shortest", milliseconds{1}, milliseconds{1}, 7, milliseconds{1}, milliseconds{1}},
    {"odd", milliseconds{3}, milliseconds{7}, 2, milliseconds{3}, milliseconds{7}},
    {"without_end", milliseconds{40}, k_forever, 300, k_forever / 2, k_forever},
};
// clang-format on

class pauses : public ::testing::TestWithParam<pause_row> {};

/// Each pause of the range is drawn, and none beside it.
TEST_P(pauses, are_drawn_from_this_range) {
  const pause_row& row = GetParam();
  const retry_config retry{.attempts = 8, .backoff = row.low, .most = row.high};
  milliseconds least = k_forever;
  milliseconds most{0};
  for (int i = 0; i < 20'000; ++i) {
    const milliseconds pause =
        backoff(retry, "a" + std::to_string(i % 200), seq(static_cast<std::uint64_t>(i / 200)), row.attempt);
    least = std::min(least, pause);
    most = std::max(most, pause);
  }
  if (row.high == k_forever) {
    EXPECT_GE(least, row.shortest);
    return;
  }
  EXPECT_EQ(least, row.shortest);
  EXPECT_EQ(most, row.longest);
}

INSTANTIATE_TEST_SUITE_P(of_an_event, pauses, ::testing::ValuesIn(k_pauses),
                         [](const auto& tested) { return std::string{tested.param.name}; });

}  // namespace
}  // namespace ratchet
