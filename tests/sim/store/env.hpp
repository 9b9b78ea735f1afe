// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rocksdb/env.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace ratchet::store_sim {

/// RocksDB's background work on one thread, one job after the other, and only when it is let: so that a
/// history makes the same calls in the same order whenever it is played. Its clock never sleeps.
/// Thread-safety: all calls from any thread.
class stepwise_env final : public rocksdb::EnvWrapper {
 public:
  explicit stepwise_env(const std::shared_ptr<rocksdb::FileSystem>&);
  ~stepwise_env() override;
  stepwise_env(const stepwise_env&) = delete;
  stepwise_env& operator=(const stepwise_env&) = delete;

  enum class let : unsigned char { nothing, flushes, everything };
  /// What may start from now on.
  void allow(let);
  /// Lets everything run, waits until nothing is left (or what is left comes again and again), and lets
  /// nothing start.
  void run_all();

  const char* Name() const override { return "stepwise_env"; }
  void Schedule(void (*function)(void*), void* argument, Priority, void* tag,
                void (*unschedule)(void*)) override;
  int UnSchedule(void* tag, Priority) override;
  unsigned int GetThreadPoolQueueLen(Priority) const override;
  void SetBackgroundThreads(int, Priority) override {}
  void IncBackgroundThreadsIfNeeded(int, Priority) override {}
  int GetBackgroundThreads(Priority) override { return 1; }

 private:
  struct job {
    void (*function)(void*);
    void* argument;
    void* tag;
    void (*unschedule)(void*);
  };
  void run();
  [[nodiscard]] bool next(job& out);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<job> flushes_;
  std::deque<job> others_;
  let allowed_{let::nothing};
  bool running_{false};
  std::optional<int> jobs_left_;  ///< before run_all() has seen enough
  bool stop_{false};
  std::thread worker_;  ///< last: it uses all of the above
};

}  // namespace ratchet::store_sim
