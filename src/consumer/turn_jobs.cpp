// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/turn_jobs.hpp"

#include <exception>

namespace ratchet {

task_end turn_jobs::run(const job& what, std::chrono::milliseconds patience) {
  using stage = posted::stage;
  std::unique_lock lock{mutex_};
  if (!open_) return task_end::closed;
  if (at_ != nullptr) return task_end::full;
  posted made{what};
  at_ = &made;
  if (!changed_.wait_for(lock, patience, [&] { return made.at != stage::waiting; })) {
    at_ = nullptr;
    return task_end::busy;
  }
  changed_.wait(lock, [&] { return made.at != stage::running; });
  return made.at == stage::done ? task_end::done : task_end::closed;
}

void turn_jobs::run_next() {
  using stage = posted::stage;
  std::unique_lock lock{mutex_};
  if (at_ == nullptr) return;
  posted& mine = *at_;  // whoever asked waits until it is done
  mine.at = stage::running;
  changed_.notify_all();
  lock.unlock();
  std::exception_ptr thrown;
  try {
    mine.what();
  } catch (...) {  // NOLINT: the asker goes on, and the owner's edge has it
    thrown = std::current_exception();
  }
  lock.lock();
  mine.at = stage::done;
  at_ = nullptr;
  changed_.notify_all();
  lock.unlock();
  if (thrown) std::rethrow_exception(thrown);
}

void turn_jobs::open() {
  const std::scoped_lock lock{mutex_};
  open_ = true;
}

void turn_jobs::close() {
  const std::scoped_lock lock{mutex_};
  open_ = false;
  if (at_ == nullptr || at_->at != posted::stage::waiting) return;
  at_->at = posted::stage::closed;
  at_ = nullptr;
  changed_.notify_all();
}

}  // namespace ratchet
