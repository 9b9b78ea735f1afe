// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sim/store/env.hpp"

#include <rocksdb/system_clock.h>

#include <utility>

namespace ratchet::store_sim {

namespace {

/// RocksDB sleeps a second before it goes on after an error in the background.
class sleepless_clock final : public rocksdb::SystemClockWrapper {
 public:
  using SystemClockWrapper::SystemClockWrapper;
  const char* Name() const override { return "sleepless_clock"; }
  void SleepForMicroseconds(int) override { std::this_thread::yield(); }
};

}  // namespace

/// A compaction that fails is tried again for as long as it does: the real clock lets a second pass before.
constexpr int k_most_jobs = 40;

stepwise_env::stepwise_env(const std::shared_ptr<rocksdb::FileSystem>& files)
    : EnvWrapper(rocksdb::NewCompositeEnv(files)) {
  system_clock_ = std::make_shared<sleepless_clock>(rocksdb::SystemClock::Default());
  worker_ = std::thread{[this] { run(); }};
}

stepwise_env::~stepwise_env() {
  {
    const std::scoped_lock lock{mutex_};
    stop_ = true;
  }
  changed_.notify_all();
  worker_.join();
}

void stepwise_env::allow(let what) {
  const std::scoped_lock lock{mutex_};
  allowed_ = what;
  changed_.notify_all();
}

void stepwise_env::run_all() {
  std::unique_lock lock{mutex_};
  allowed_ = let::everything;
  jobs_left_ = k_most_jobs;
  changed_.notify_all();
  changed_.wait(lock,
                [this] { return !running_ && (jobs_left_ == 0 || (flushes_.empty() && others_.empty())); });
  allowed_ = let::nothing;
  jobs_left_.reset();
}

bool stepwise_env::next(job& out) {
  std::deque<job>* from = nullptr;
  if (!flushes_.empty() && allowed_ != let::nothing) from = &flushes_;
  if (!from && !others_.empty() && allowed_ == let::everything) from = &others_;
  if (!from || jobs_left_ == 0) return false;
  if (jobs_left_) --*jobs_left_;
  out = from->front();
  from->pop_front();
  return true;
}

void stepwise_env::run() {
  std::unique_lock lock{mutex_};
  while (true) {
    job todo{};
    changed_.wait(lock, [&] { return stop_ || next(todo); });
    if (stop_) return;
    running_ = true;
    lock.unlock();
    todo.function(todo.argument);
    lock.lock();
    running_ = false;
    changed_.notify_all();
  }
}

void stepwise_env::Schedule(void (*function)(void*), void* argument, Priority priority, void* tag,
                            void (*unschedule)(void*)) {
  const std::scoped_lock lock{mutex_};
  (priority == Priority::HIGH ? flushes_ : others_).push_back({function, argument, tag, unschedule});
  changed_.notify_all();
}

int stepwise_env::UnSchedule(void* tag, Priority priority) {
  std::deque<job> dropped;
  {
    const std::scoped_lock lock{mutex_};
    std::deque<job>& from = priority == Priority::HIGH ? flushes_ : others_;
    std::deque<job> kept;
    for (const job& j : from) (j.tag == tag && tag != nullptr ? dropped : kept).push_back(j);
    from = std::move(kept);
  }
  changed_.notify_all();
  for (const job& j : dropped) {
    if (j.unschedule) j.unschedule(j.argument);
  }
  return static_cast<int>(dropped.size());
}

unsigned int stepwise_env::GetThreadPoolQueueLen(Priority priority) const {
  const std::scoped_lock lock{mutex_};
  return static_cast<unsigned int>((priority == Priority::HIGH ? flushes_ : others_).size());
}

}  // namespace ratchet::store_sim
