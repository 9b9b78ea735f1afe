// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stop_token>

#include "ports/durable_steps.hpp"

namespace ratchet {

/// Asks for a sync, and waits until this step is durable, at most until `deadline` or the stop. False: it is
/// not. Any thread but the owner's, which syncs itself.
[[nodiscard]] inline bool wait_until_durable(durable_steps& in, std::uint64_t step,
                                             durable_signal::time_point deadline,
                                             const std::stop_token& stop = {}) {
  // One request covers the step; it is made again only in case it was lost.
  constexpr std::chrono::milliseconds k_ask_again{500};
  const auto reached = [&in, step] { return in.durable_step() >= step; };
  while (!reached()) {
    in.request_sync();
    const auto now = std::chrono::steady_clock::now();
    if (in.durable().wait(std::min(now + k_ask_again, deadline), stop, reached)) return true;
    if (stop.stop_requested() || std::chrono::steady_clock::now() >= deadline) return reached();
  }
  return true;
}

}  // namespace ratchet
