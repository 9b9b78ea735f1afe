// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

#include "pipeline/posted_tasks.hpp"

namespace ratchet {

/// What other threads want done between two turns of a store, whether this instance decides or follows: one
/// at a time, without what a session owns. Thread-safety: run() on any thread, the rest on the owner's.
class turn_jobs {
 public:
  using job = std::function<void()>;

  /// Waits until the owner has done it, and takes it back where the owner does not begin it in time. Ends:
  /// done, full (another one waits), busy, closed.
  [[nodiscard]] task_end run(const job&, std::chrono::milliseconds patience);
  /// Does the job that waits, if there is one. Throws what it throws; whoever asked is answered.
  void run_next();
  /// From now on the owner comes by.
  void open();
  /// Sends whoever waits away.
  void close();

 private:
  struct posted {
    const job& what;
    enum class stage : std::uint8_t { waiting, running, done, closed } at{stage::waiting};
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  posted* at_{nullptr};  ///< waits, or is running
  bool open_{false};
};

}  // namespace ratchet
