// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "ports/durable_steps.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

/// How far the steps of a session are safe: asks for a sync once per commit interval, and notices where that
/// brings nothing. Who waits for a step asks store::durable(). Thread-safety: the owner's thread.
class durability {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// Borrows the store.
  durability(durable_steps& of, std::chrono::milliseconds interval, time_point now) noexcept
      : of_{of}, interval_{interval}, last_sync_{now}, moved_at_{now} {}

  /// Steps up to this one survive a power cut.
  [[nodiscard]] std::uint64_t covered() const noexcept { return of_.durable_step(); }
  /// When that grew last, or was all that there is.
  [[nodiscard]] time_point moved_at() const noexcept { return moved_at_; }
  /// Asks for a sync where one is due. Errors: write_indeterminate, of a sync that had to be waited for.
  [[nodiscard]] result<void> turn(time_point now);

 private:
  durable_steps& of_;
  std::chrono::milliseconds interval_;
  time_point last_sync_;
  time_point moved_at_;
  std::uint64_t seen_{0};
};

}  // namespace ratchet
