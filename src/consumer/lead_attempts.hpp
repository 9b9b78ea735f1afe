// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "ratchet/config.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

/// Why an attempt to own the state has ended, where no other instance ended it.
struct lead_failure {
  enum class kind : std::uint8_t {
    claim,      ///< the group was not asked whether this instance is late, or did not say
    fence,      ///< the fence was refused
    silence,    ///< nobody said what became of the fence
    step,       ///< a record of a step was refused
    note,       ///< a record that is no part of a step was refused
    too_large,  ///< a step has more rows than the log takes
  };
  kind what{kind::fence};
  std::error_code code;
  std::uint64_t step{0};     ///< of kind step and too_large
  std::uint64_t bytes{0};    ///< of its rows, where it is too large
  std::uint64_t attempt{0};  ///< see slot_replica::attempt()
};

/// When this instance may try again to own the state, behind attempts that failed: each pause is longer than
/// the one before, as core/backoff.hpp has it. Somebody else may own it meanwhile. Pure. Thread-safety: one
/// owner thread.
class lead_attempts {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  /// `instance`: others pause for another time.
  explicit lead_attempts(std::string instance) : instance_{std::move(instance)} {}

  void failed(const lead_failure&, time_point now);
  /// The fence counts: what stood against it does not stand any more.
  void led();
  /// A fence counts, of whomever: what passes is over.
  void fenced();
  /// A step is confirmed, of whomever.
  void confirmed(std::uint64_t step);

  /// The next attempt may begin.
  [[nodiscard]] bool is_due(time_point now) const { return !due_at_ || now >= *due_at_; }
  /// So many attempts have failed that the group should give the slot to another instance, until the next
  /// one is due.
  [[nodiscard]] bool gives_way(time_point now) const;
  /// What stands against owning the state; none: nothing that is known.
  [[nodiscard]] const std::optional<lead_failure>& failure() const { return failure_; }
  /// The failure, once, to tell of it; none: all was told.
  [[nodiscard]] std::optional<lead_failure> take_news();
  /// How long the pause was that the last failure began.
  [[nodiscard]] std::chrono::milliseconds pause() const { return pause_; }

 private:
  std::string instance_;
  std::optional<lead_failure> failure_;
  std::uint32_t failures_{0};  ///< one soon behind the other
  std::uint64_t count_{0};     ///< of all
  std::uint64_t told_{0};      ///< of them
  std::optional<time_point> due_at_;
  std::chrono::milliseconds pause_{0};
};

/// What stands against owning the state, for a person: what was refused and why, and what to type.
[[nodiscard]] problem describe(const lead_failure&, const kafka_config&, const std::string& log_topic);

}  // namespace ratchet
