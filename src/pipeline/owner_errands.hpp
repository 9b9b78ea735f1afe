// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>

#include "outbox/refused_messages.hpp"
#include "ports/store.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

/// How an errand ended.
enum class errand_end : std::uint8_t {
  done,
  occupied,    ///< another one is under way
  not_served,  ///< the owner did not come by in time: it was taken back
  closed,      ///< there is no owner now: taken back
  unclaimed,   ///< the owner may not change the state yet, and did not come to in time
  unwanted,    ///< whoever asked is gone
};

/// What whoever asked is told where the owner did not do a decision's errand, for which it is not `done`.
/// Code: source_unavailable.
[[nodiscard]] problem decision_not_made(errand_end);
/// What an errand has come to until it says otherwise: an exception may end it. Code: internal.
[[nodiscard]] problem errand_was_cut_short();

class pipeline;

/// How long a decision waits.
struct decision_patience {
  /// For the claim; a member that was killed stays in its group for 45 s, if nothing else is configured.
  std::chrono::milliseconds claim{60'000};
  std::chrono::milliseconds owner{10'000};  ///< for the owner to come by once it may
};
/// False: whoever asked is gone, so that nothing is to be done any more. Empty: they stay.
using still_wanted = std::function<bool()>;

/// Lets another thread have something done with store and pipeline by their owner, between two steps. One
/// slot: one errand at a time. Thread-safety: run() on any thread, the rest on the owner's.
class owner_errands {
 public:
  /// What the owner owns.
  struct access {
    store& state;
    pipeline& way;
    std::span<const named_refusals> refusals{};  ///< of each lane that is sent
    bool may_change{true};                       ///< false: the state may still be another's to change
  };
  using errand = std::function<void(access)>;

  /// Waits until the owner comes by, no longer than `patience`; and then until it is done. The owner waits
  /// meanwhile: an errand should be short. One that throws is done, too, and the owner has the exception.
  [[nodiscard]] errand_end run(errand, std::chrono::milliseconds patience);

  /// The same for what changes the state: waits until the owner may, and until nobody else's errand is under
  /// way. The errand is given `may_change`. Others are served meanwhile.
  [[nodiscard]] errand_end decide(const errand&, const decision_patience&, const still_wanted&);

  /// Leaves it for the owner and waits for nothing: for a thread that is the owner itself. False: another one
  /// is under way, or there is no owner.
  [[nodiscard]] bool leave(errand);

  /// Does what is asked, if anything is. To be called between steps.
  void serve(access);

  void open();
  /// Whoever waits is sent away. To be called before the store goes.
  void close();

 private:
  enum class state : std::uint8_t { empty, waiting, under_way, done };

  [[nodiscard]] std::optional<errand_end> wait_until_allowed(std::chrono::steady_clock::time_point until,
                                                             const still_wanted&);
  void note_whether_allowed(bool may_change);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> asked_{false};    ///< something waits; saves the owner the lock
  std::atomic<bool> allowed_{false};  ///< as the owner said when it last came by; changed under the lock
  bool open_{false};
  bool awaited_{true};
  state state_{state::empty};
  errand errand_;
};

}  // namespace ratchet
