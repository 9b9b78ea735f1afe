// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace ratchet {

/// Waits, or until `stop` is set.
inline void wait_or_stop(std::chrono::milliseconds time, const std::atomic<bool>& stop) {
  constexpr std::chrono::milliseconds k_slice{100};
  const auto until = std::chrono::steady_clock::now() + time;
  while (!stop.load(std::memory_order_relaxed) && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(k_slice);
  }
}

}  // namespace ratchet
