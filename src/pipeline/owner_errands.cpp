// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "pipeline/owner_errands.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace ratchet {

namespace {

/// How soon it is seen that whoever asked is gone.
constexpr std::chrono::milliseconds k_look_again{100};

}  // namespace

problem decision_not_made(errand_end end) {
  problem p{make_error_code(errc::source_unavailable),
            "the running instance did not carry it out: it is busy or being stopped",
            "try again; if that does not help, check the instance's log",
            {}};
  if (end == errand_end::unclaimed) {
    p.message =
        "the running instance has no claim on its group yet, so nothing was done: another instance may still "
        "own the state";
    p.hint = "try again once the instance is ready (`ratchet status`); if that does not help, check its log";
  }
  return p;
}

problem errand_was_cut_short() {
  return {make_error_code(errc::internal),
          "an exception interrupted the request; part of it may be done",
          "check the instance's log, then list what is there now",
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
  changed_.notify_all();
  return errand_end::done;
}

errand_end owner_errands::decide(const errand& wanted, const decision_patience& patience,
                                 const still_wanted& is_wanted) {
  const auto until = std::chrono::steady_clock::now() + patience.claim;
  for (;;) {
    if (const auto end = wait_until_allowed(until, is_wanted)) return *end;
    bool was_allowed = false;
    const errand_end end = run(
        [&](access of) {
          was_allowed = of.may_change;
          if (was_allowed) wanted(of);
        },
        patience.owner);
    // A new session has to claim anew; or another errand was faster.
    const bool is_put_off = end == errand_end::done ? !was_allowed : end == errand_end::occupied;
    if (!is_put_off) return end;
  }
}

/// None: it may, and has nothing else to do.
std::optional<errand_end> owner_errands::wait_until_allowed(std::chrono::steady_clock::time_point until,
                                                            const still_wanted& is_wanted) {
  std::unique_lock lock{mutex_};
  for (;;) {
    if (!open_) return errand_end::closed;
    if (is_wanted && !is_wanted()) return errand_end::unwanted;
    if (allowed_ && state_ == state::empty) return std::nullopt;
    const auto now = std::chrono::steady_clock::now();
    if (now >= until) return allowed_ ? errand_end::occupied : errand_end::unclaimed;
    changed_.wait_until(lock, std::min(until, now + k_look_again));
  }
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

void owner_errands::note_whether_allowed(bool may_change) {
  if (allowed_.load(std::memory_order_relaxed) == may_change) return;
  const std::scoped_lock lock{mutex_};
  allowed_ = may_change;
  changed_.notify_all();
}

void owner_errands::serve(access of) {
  note_whether_allowed(of.may_change);
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
  allowed_ = false;
}

void owner_errands::close() {
  const std::scoped_lock lock{mutex_};
  open_ = false;
  changed_.notify_all();
}

}  // namespace ratchet
