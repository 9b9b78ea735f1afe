// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>

#include "kafka/handles.hpp"
#include "ports/thread_edge.hpp"

namespace ratchet {

/// Tells that a queue of librdkafka has something to serve. It must outlive the clients whose queues are
/// watched, as their threads call it. Thread-safety: any thread.
class queue_signal {
 public:
  /// From now on raise() is called when the queue is no longer empty. Called under the queue's lock.
  void watch(rd_kafka_queue_t* queue) {
    rd_kafka_queue_cb_event_enable(
        queue, [](rd_kafka_t*, void* opaque) { static_cast<queue_signal*>(opaque)->raise(); }, this);
  }
  /// No call is under way when this returns.
  static void unwatch(rd_kafka_queue_t* queue) { rd_kafka_queue_cb_event_enable(queue, nullptr, nullptr); }

  /// Has `told` called by raise(). Empty: no more, and no call is under way when this returns.
  void on_progress(std::function<void()> told) {
    const std::lock_guard lock{mutex_};
    told_ = std::move(told);
  }
  void raise() noexcept {
    const std::lock_guard lock{mutex_};
    raised_ = true;
    changed_.notify_all();
    // On a thread of librdkafka's. What it throws ends here: whoever is told serves the queue later.
    if (told_) at_edge(told_, [](const char*) {});
  }
  /// Waits until it was raised since the last wait, at most so long.
  void wait(std::chrono::milliseconds most) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, most, [&] { return raised_; });
    raised_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> told_;
  bool raised_{false};
};

}  // namespace ratchet
