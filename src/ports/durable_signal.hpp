// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <stop_token>
#include <utility>

namespace ratchet {

/// Who is told that a store's durable step has moved, and who waits for that: any number of both. The store
/// owns it and calls moved(). Thread-safety: any thread.
class durable_signal {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// Holds as long as it lives; no call is under way when it has ended. Must not outlive its signal.
  class [[nodiscard]] subscription {
   public:
    subscription() = default;
    ~subscription() { end(); }
    subscription(const subscription&) = delete;
    subscription& operator=(const subscription&) = delete;
    subscription(subscription&& other) noexcept : of_{std::exchange(other.of_, nullptr)}, at_{other.at_} {}
    subscription& operator=(subscription&& other) noexcept {
      if (this == &other) return *this;
      end();
      of_ = std::exchange(other.of_, nullptr);
      at_ = other.at_;
      return *this;
    }
    void end() {
      durable_signal* const of = std::exchange(of_, nullptr);
      if (of == nullptr) return;
      const std::scoped_lock lock{of->mutex_};
      of->told_.erase(at_);
    }

   private:
    friend class durable_signal;
    using place = std::list<std::function<void()>>::iterator;
    subscription(durable_signal& of, place at) : of_{&of}, at_{at} {}
    durable_signal* of_{nullptr};
    place at_;
  };

  /// Has `told` called each time that the durable step has moved, on the thread that calls moved(). It must
  /// not subscribe, end a subscription or wait.
  [[nodiscard]] subscription on_move(std::function<void()> told) {
    const std::scoped_lock lock{mutex_};
    return {*this, told_.insert(told_.end(), std::move(told))};
  }

  /// The durable step has moved.
  void moved() {
    {
      const std::scoped_lock lock{mutex_};
      for (const auto& told : told_) told();
    }
    moved_.notify_all();
  }

  /// Waits until `reached` says so, asked again behind each move, or `until`, or the stop. What `reached`
  /// says last.
  template <class Reached>
  [[nodiscard]] bool wait(time_point until, const std::stop_token& stop, const Reached& reached) {
    std::unique_lock lock{mutex_};
    return moved_.wait_until(lock, stop, until, reached);
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any moved_;
  std::list<std::function<void()>> told_;
};

}  // namespace ratchet
