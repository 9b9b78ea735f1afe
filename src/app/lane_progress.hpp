// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "core/output.hpp"

namespace ratchet {

/// How far a lane of the outbox is durable, how far it was delivered, and what of that is still in it.
/// Thread-safety: none.
class lane_progress {
 public:
  /// What is in the lane may have come with `last_step`.
  lane_progress(std::string lane, const outbox_state& all, std::uint64_t last_step)
      : lane_{std::move(lane)}, first_{all.first}, durable_next_{all.first}, trimmed_to_{all.first} {
    wrote(last_step, all.next);
  }

  /// The step was written, and the lane reaches up to `next` with it.
  void wrote(std::uint64_t step, std::uint64_t next) {
    const std::uint64_t known = written_.empty() ? durable_next_ : written_.back().next;
    if (next != known) written_.push_back({step, next});
  }
  /// Steps up to this one are durable.
  void note_durable(std::uint64_t durable) {
    while (!written_.empty() && written_.front().step <= durable) {
      durable_next_ = written_.front().next;
      written_.pop_front();
    }
  }
  /// So far the lane is durable.
  [[nodiscard]] std::uint64_t durable_next() const noexcept { return durable_next_; }
  /// There are rows whose step is not durable yet.
  [[nodiscard]] bool waits_for_sync() const noexcept { return !written_.empty(); }

  /// The lowest position that was not delivered.
  [[nodiscard]] std::uint64_t first() const noexcept { return first_; }
  /// That one was; `bytes` as it is stored.
  void delivered(std::uint64_t bytes) {
    ++first_;
    delivered_bytes_ += bytes;
  }
  /// The lowest rows, all delivered, that are still in the lane; empty where there is none.
  [[nodiscard]] outbox_change trim() const {
    outbox_change change;
    change.trimmed_rows = first_ - trimmed_to_;
    change.trimmed_bytes = delivered_bytes_;
    change.trimmed_lane = lane_;
    return change;
  }
  /// These are gone.
  void trimmed() {
    trimmed_to_ = first_;
    delivered_bytes_ = 0;
  }

 private:
  struct written_step {
    std::uint64_t step;
    std::uint64_t next;
  };
  std::string lane_;
  std::deque<written_step> written_;  ///< not durable yet
  std::uint64_t first_;
  std::uint64_t durable_next_;
  std::uint64_t trimmed_to_;
  std::uint64_t delivered_bytes_{0};  ///< from trimmed_to_ up to first_
};

}  // namespace ratchet
