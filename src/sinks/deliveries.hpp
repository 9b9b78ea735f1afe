// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "ports/publisher.hpp"

namespace ratchet {

/// What came to its end on a sink's thread, on its way to the owner. Thread-safety: any thread.
class deliveries {
 public:
  /// Of the sink's thread: keep() and tell().
  void add(delivery d) {
    keep(std::move(d));
    tell();
  }
  /// Where it throws, nothing is kept.
  void keep(delivery d) {
    const std::lock_guard lock{mutex_};
    ended_.push_back(std::move(d));
    arrived_.notify_all();
  }
  /// Behind keep(): calls what on_progress() was given. What that throws ends here: no message depends on it.
  void tell() noexcept {
    // Under a lock of its own: once on_progress() has returned, no call of the old one is under way.
    const std::lock_guard lock{told_mutex_};
    try {
      if (told_) told_();
    } catch (...) {
    }
  }
  /// As publisher::delivered(), wait() and on_progress().
  [[nodiscard]] std::vector<delivery> take() {
    const std::lock_guard lock{mutex_};
    return std::exchange(ended_, {});
  }
  void wait(std::chrono::milliseconds most) {
    std::unique_lock lock{mutex_};
    arrived_.wait_for(lock, most, [this] { return !ended_.empty(); });
  }
  void on_progress(std::function<void()> told) {
    const std::lock_guard lock{told_mutex_};
    told_ = std::move(told);
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<delivery> ended_;
  std::mutex told_mutex_;
  std::function<void()> told_;
};

}  // namespace ratchet
