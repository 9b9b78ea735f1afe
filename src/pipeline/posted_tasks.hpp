// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "outbox/refused_messages.hpp"
#include "ports/store.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

class pipeline;

/// How a task ended.
enum class task_end : std::uint8_t {
  done,
  full,       ///< as many tasks wait as there is room for: it was not posted
  busy,       ///< the owner did not begin it in time: it was taken back
  closed,     ///< there is no owner now: it was taken back
  unclaimed,  ///< the owner may not change the state yet, and did not come to in time
  unwanted,   ///< the asker is gone: it was taken back
};

/// What the asker of a decision reads if its task is not `done`. Code: held_back if there was no room,
/// otherwise source_unavailable.
[[nodiscard]] problem decision_not_made(task_end);
/// The outcome of a task until it sets another one: an exception may end it. Code: internal.
[[nodiscard]] problem task_was_cut_short();

/// How long a decision waits.
struct decision_patience {
  /// For the claim; a member that was killed stays in its group for 45 s, if nothing else is configured.
  std::chrono::milliseconds claim{60'000};
  /// For the owner to begin it, once it may and nothing stands before it.
  std::chrono::milliseconds owner{10'000};
};
/// False: the asker is gone, so that nothing is to be done any more. Empty: they stay.
using still_wanted = std::function<bool()>;

/// The tasks of a mailbox: functions that get what the owner owns. The owner runs one a turn, in the order in
/// which they were posted; one that changes the state lets others pass until the owner may. Thread-safety:
/// post(), run() and decide() on any thread, the rest on the owner's.
class posted_tasks {
 public:
  static constexpr std::size_t k_most = 64;  ///< far more than connections to the control socket

  posted_tasks() = default;
  explicit posted_tasks(std::size_t most) : most_{most} {}

  /// What the owner owns.
  struct access {
    store& state;
    pipeline& way;
    std::span<const named_refusals> refusals{};  ///< of each lane that is sent
    bool may_change{true};                       ///< false: the state may still be another's to change
  };
  using task = std::function<void(access)>;

  /// Posts a task and waits for nothing: also for the owner itself. False: there is no room, or no owner.
  [[nodiscard]] bool post(task);
  /// Posts a task and waits until it is done. Takes it back if the owner has not begun it after `patience`.
  /// The owner waits meanwhile: a task should be short. One that throws is done, too, and the owner has the
  /// exception.
  [[nodiscard]] task_end run(task, std::chrono::milliseconds patience);
  /// The same for what changes the state: the owner begins it once it may.
  [[nodiscard]] task_end decide(task, const decision_patience&, const still_wanted&);

  /// Runs the first task that may be run, if there is one. Call it between steps. Throws what the task
  /// throws.
  void run_next(access);
  /// See mailbox::on_post().
  void on_post(std::function<void()> wake);
  /// From now on the owner comes by. It may not change the state yet.
  void open();
  /// Sends all askers away. Call it before the store goes.
  void close();

 private:
  using time_point = std::chrono::steady_clock::time_point;
  struct posted;
  using posted_ptr = std::shared_ptr<posted>;

  // All with the lock held.
  [[nodiscard]] std::optional<task_end> put(posted_ptr);
  [[nodiscard]] task_end wait(std::unique_lock<std::mutex>&, const posted_ptr&, const decision_patience&,
                              const still_wanted&);
  [[nodiscard]] posted_ptr next() const;
  void take_out(const posted_ptr&);
  void end(posted&, task_end);

  const std::size_t most_{k_most};
  std::mutex mutex_;
  std::atomic<bool> has_some_{false};    ///< saves the owner the lock
  std::atomic<bool> may_change_{false};  ///< as the owner said when it last came by; changed under the lock
  bool open_{false};
  bool is_busy_{false};  ///< a task is running
  std::function<void()> wake_;
  std::deque<posted_ptr> waiting_;
};

}  // namespace ratchet
