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
#include <string>
#include <thread>
#include <vector>

#include "core/transactions.hpp"

namespace ratchet {

/// The transactions of a mailbox: callers of transact() post them, and wait until they are durable. One group
/// shares a step and a sync. A caller's function is borrowed: it is called only between take() and the
/// written(), put_back() or refuse() that follows, and no caller leaves meanwhile.
///
/// What was taken and is not answered when a store is lost goes back to the front: done again, its key finds
/// whether it was done before. Thread-safety: post(), wait() and run() on any thread; the rest on the
/// owner's.
class posted_transactions {
 public:
  /// Posted and not answered. Each holds a thread of the program.
  static constexpr std::size_t k_most = 16'384;

  posted_transactions() = default;
  explicit posted_transactions(std::size_t most) : most_{most} {}

  /// One transaction of a caller. Owns what it names, but for the function.
  struct wanted {
    std::size_t stream{0};  ///< its place in the stream_list
    std::string aggregate;
    event_id id;
    std::optional<hash128> fingerprint;
    const transaction_function* function{nullptr};
  };
  class ticket;
  using ticket_ptr = std::shared_ptr<ticket>;

  /// Leaves it for the owner. It is answered at once with errc::not_running if nobody runs, and with
  /// errc::held_back if there is no room.
  [[nodiscard]] ticket_ptr post(wanted);
  /// Waits for the answer. After the time-out it is errc::timed_out, and errc::not_running if the owner
  /// stops. A time-out that comes while the function may be called is waited for.
  [[nodiscard]] transaction_answer wait(const ticket_ptr&, std::chrono::milliseconds timeout);
  /// wait() would return at once, with an answer.
  [[nodiscard]] bool is_answered(const ticket_ptr&) const;
  /// Both.
  [[nodiscard]] transaction_answer run(wanted, std::chrono::milliseconds timeout);
  /// True on the owner's thread, whose waiting would last for ever.
  [[nodiscard]] bool is_owner() const;

  /// From now on the owner comes by, which is this thread.
  void open();
  /// Sends all callers away.
  void close();
  /// See mailbox::on_post().
  void on_post(std::function<void()> wake);

  /// The oldest that wait, at most `limit`, for the owner to do.
  [[nodiscard]] std::vector<ticket_ptr> take(std::size_t limit);
  /// They are in this step, and are told so when it is durable.
  void written(const std::vector<ticket_ptr>&, std::vector<transaction_answer>, std::uint64_t step);
  /// Nothing is known of their step.
  void put_back(const std::vector<ticket_ptr>&);
  /// Nothing was done for them.
  void refuse(const std::vector<ticket_ptr>&, std::error_code, const std::string& why);
  /// Tells those whose steps are durable.
  void answer(std::uint64_t durable_step);
  /// What was written, but not durable, is to be done again.
  void store_lost();
  /// Some were written and not answered yet. Any thread.
  [[nodiscard]] bool awaits_sync() const noexcept { return awaits_sync_.load(std::memory_order_acquire); }

 private:
  void finish(ticket&, transaction_answer);
  void release(std::size_t taken);

  const std::size_t most_{k_most};
  mutable std::mutex mutex_;
  std::atomic<bool> has_waiting_{false};  ///< saves the owner the lock
  std::atomic<bool> awaits_sync_{false};
  bool open_{false};
  std::thread::id owner_;
  std::function<void()> wake_;
  std::size_t taken_{0};
  std::deque<ticket_ptr> waiting_;
  std::deque<ticket_ptr> written_;  ///< in the order of steps
};

/// A transaction on its way. The lock guards all of it.
class posted_transactions::ticket {
 public:
  explicit ticket(wanted w) : what{std::move(w)} {}
  wanted what;

 private:
  friend class posted_transactions;
  enum class stage : std::uint8_t { waiting, taken, written, answered, abandoned };
  stage at{stage::waiting};
  std::uint64_t step{0};
  transaction_answer answer;
  std::condition_variable changed;
};

}  // namespace ratchet
