// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "pipeline/posted_tasks.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace ratchet {

namespace {

/// How soon it is seen that the asker is gone.
constexpr std::chrono::milliseconds k_look_again{100};

}  // namespace

problem decision_not_made(task_end end) {
  problem p{make_error_code(errc::source_unavailable),
            "the running instance did not carry it out: it is busy or being stopped",
            "try again; if that does not help, check the instance's log",
            {}};
  if (end == task_end::unclaimed) {
    p.message =
        "the running instance has no claim on its group yet, so nothing was done: another instance may still "
        "own the state";
    p.hint = "try again once the instance is ready (`ratchet status`); if that does not help, check its log";
  }
  if (end == task_end::full) {
    p.code = make_error_code(errc::held_back);
    p.message = "the running instance did not carry it out: too many requests wait for it already";
  }
  return p;
}

problem task_was_cut_short() {
  return {make_error_code(errc::internal),
          "an exception interrupted the request; part of it may be done",
          "check the instance's log, then list what is there now",
          {}};
}

/// A task on its way. The lock guards all of it but `what` while it is running.
struct posted_tasks::posted {
  task what;
  bool changes_state{false};
  enum class stage : std::uint8_t { waiting, running, ended } at{stage::waiting};
  task_end how{task_end::done};
  std::condition_variable changed;

  posted(task t, bool changes) : what{std::move(t)}, changes_state{changes} {}
};

bool posted_tasks::post(task what) {
  const std::scoped_lock lock{mutex_};
  return !put(std::make_shared<posted>(std::move(what), false));
}

task_end posted_tasks::run(task what, std::chrono::milliseconds patience) {
  auto made = std::make_shared<posted>(std::move(what), false);
  std::unique_lock lock{mutex_};
  if (const auto refused = put(made)) return *refused;
  return wait(lock, made, {patience, patience}, {});
}

task_end posted_tasks::decide(task what, const decision_patience& patience, const still_wanted& is_wanted) {
  auto made = std::make_shared<posted>(std::move(what), true);
  std::unique_lock lock{mutex_};
  if (const auto refused = put(made)) return *refused;
  return wait(lock, made, patience, is_wanted);
}

/// None: it has its place.
std::optional<task_end> posted_tasks::put(posted_ptr made) {
  if (!open_) return task_end::closed;
  if (waiting_.size() >= most_) return task_end::full;
  waiting_.push_back(std::move(made));
  has_some_.store(true, std::memory_order_release);
  if (wake_ && next() == waiting_.back()) wake_();
  return std::nullopt;
}

task_end posted_tasks::wait(std::unique_lock<std::mutex>& lock, const posted_ptr& t,
                            const decision_patience& patience, const still_wanted& is_wanted) {
  using stage = posted::stage;
  const time_point until = std::chrono::steady_clock::now() + patience.claim;
  std::optional<time_point> next_since;
  for (;;) {
    t->changed.wait(lock, [&] { return t->at != stage::running; });
    if (t->at == stage::ended) return t->how;
    if (is_wanted && !is_wanted()) {
      take_out(t);
      return task_end::unwanted;
    }
    const time_point now = std::chrono::steady_clock::now();
    const bool is_next = t->changes_state && !is_busy_ && next() == t;
    next_since = is_next ? next_since.value_or(now) : std::optional<time_point>{};
    const time_point last = next_since ? *next_since + patience.owner : until;
    if (now >= last) {
      take_out(t);
      return t->changes_state && !may_change_ ? task_end::unclaimed : task_end::busy;
    }
    t->changed.wait_until(lock, std::min(last, now + k_look_again));
  }
}

/// The first that the owner may run.
posted_tasks::posted_ptr posted_tasks::next() const {
  const auto at = std::find_if(waiting_.begin(), waiting_.end(),
                               [this](const posted_ptr& t) { return may_change_ || !t->changes_state; });
  return at == waiting_.end() ? nullptr : *at;
}

void posted_tasks::take_out(const posted_ptr& t) {
  std::erase(waiting_, t);
  has_some_.store(!waiting_.empty(), std::memory_order_release);
}

void posted_tasks::end(posted& t, task_end how) {
  t.how = how;
  t.at = posted::stage::ended;
  t.changed.notify_all();
}

void posted_tasks::run_next(access of) {
  if (may_change_.load(std::memory_order_relaxed) != of.may_change) {
    const std::scoped_lock lock{mutex_};
    may_change_ = of.may_change;
  }
  if (!has_some_.load(std::memory_order_acquire)) return;
  std::unique_lock lock{mutex_};
  const posted_ptr t = next();
  if (!t) return;
  take_out(t);
  t->at = posted::stage::running;
  is_busy_ = true;
  lock.unlock();
  std::exception_ptr thrown;
  try {
    t->what(of);   // nobody else touches it while it is running
  } catch (...) {  // NOLINT: the asker goes on, and the owner's edge has it
    thrown = std::current_exception();
  }
  lock.lock();
  is_busy_ = false;
  end(*t, task_end::done);
  if (wake_ && next()) wake_();  // the next turn is its
  lock.unlock();
  if (thrown) std::rethrow_exception(thrown);
}

void posted_tasks::on_post(std::function<void()> wake) {
  const std::scoped_lock lock{mutex_};
  wake_ = std::move(wake);
  if (wake_ && next()) wake_();
}

void posted_tasks::open() {
  const std::scoped_lock lock{mutex_};
  open_ = true;
  may_change_ = false;
}

void posted_tasks::close() {
  const std::scoped_lock lock{mutex_};
  open_ = false;
  for (const posted_ptr& t : waiting_) end(*t, task_end::closed);
  waiting_.clear();
  has_some_.store(false, std::memory_order_release);
}

}  // namespace ratchet
