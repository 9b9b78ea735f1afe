// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "app/owner_errands.hpp"

#include <exception>
#include <utility>

namespace ratchet {

problem owner_did_not_come() {
  return {make_error_code(errc::source_unavailable),
          "the running instance did not come to do it: it is busy, or being stopped",
          "try again; if it stays so, look at the instance's log",
          {}};
}

problem owner_may_not_yet() {
  return {
      make_error_code(errc::source_unavailable),
      "the running instance has no claim on its group yet, so that nothing was done: the state may still be "
      "another's to change",
      "try again once the instance is ready (`ratchet status`); if it stays so, look at its log",
      {}};
}

problem errand_was_cut_short() {
  return {make_error_code(errc::internal),
          "an exception ended the owner's work in its midst; nobody knows how much of it is done",
          "look at the instance's log, then ask what is there now",
          {}};
}

errand_end owner_errands::run(errand wanted, std::chrono::milliseconds patience) {
  std::unique_lock lock{mutex_};
  if (!open_) return errand_end::closed;
  if (state_ != state::empty) return errand_end::occupied;
  errand_ = std::move(wanted);
  state_ = state::waiting;
  asked_.store(true, std::memory_order_release);
  changed_.wait_for(lock, patience, [this] { return state_ != state::waiting || !open_; });
  if (state_ == state::waiting) {
    asked_.store(false, std::memory_order_release);
    state_ = state::empty;
    errand_ = nullptr;
    return open_ ? errand_end::not_served : errand_end::closed;
  }
  changed_.wait(lock, [this] { return state_ == state::done; });
  state_ = state::empty;
  errand_ = nullptr;
  return errand_end::done;
}

bool owner_errands::leave(errand wanted) {
  const std::scoped_lock lock{mutex_};
  if (!open_ || state_ != state::empty) return false;
  errand_ = std::move(wanted);
  awaited_ = false;
  state_ = state::waiting;
  asked_.store(true, std::memory_order_release);
  return true;
}

void owner_errands::serve(access of) {
  if (!asked_.load(std::memory_order_acquire)) return;
  std::unique_lock lock{mutex_};
  if (state_ != state::waiting) return;
  asked_.store(false, std::memory_order_release);
  state_ = state::under_way;
  changed_.notify_all();
  lock.unlock();
  std::exception_ptr thrown;
  try {
    errand_(of);   // nobody else touches it while it is under way
  } catch (...) {  // NOLINT: whoever waits for it goes on, and the owner's edge has it
    thrown = std::current_exception();
  }
  lock.lock();
  state_ = std::exchange(awaited_, true) ? state::done : state::empty;
  changed_.notify_all();
  lock.unlock();
  if (thrown) std::rethrow_exception(thrown);
}

void owner_errands::open() {
  const std::scoped_lock lock{mutex_};
  open_ = true;
}

void owner_errands::close() {
  const std::scoped_lock lock{mutex_};
  open_ = false;
  changed_.notify_all();
}

}  // namespace ratchet
