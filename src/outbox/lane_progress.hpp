// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "core/assert.hpp"
#include "core/output.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

/// How far a lane of the outbox is durable, what of it was delivered, and what of that is still in it. What
/// was delivered goes, also where one before it was not: that its row is not there any more is how the next
/// run knows. Thread-safety: none.
class lane_progress {
 public:
  /// What is in the lane may have come with `last_step`.
  lane_progress(std::string lane, const outbox_state& all, std::uint64_t last_step)
      : lane_{std::move(lane)},
        first_{all.first},
        durable_next_{all.first},
        trimmed_to_{all.first},
        gone_{all.gone} {
    wrote(last_step, all.next);
  }

  /// The step was written, and the lane reaches up to `next` with it.
  void wrote(std::uint64_t step, std::uint64_t next) {
    const std::uint64_t known = written_.empty() ? durable_next_ : written_.back().next;
    RATCHET_ASSERT(next >= known);
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

  /// Whoever reads the lane in order finds no rows at these positions. Errors: state_damaged, where more are
  /// missing than went for having been delivered.
  [[nodiscard]] result<void> missing(output_range range) {
    const std::uint64_t rows = range.next - range.first;
    if (rows > gone_) return make_error_code(errc::state_damaged);
    gone_ -= rows;
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  /// The lowest position that was not delivered.
  [[nodiscard]] std::uint64_t first() const noexcept { return first_; }
  /// All below this one were.
  void advance(std::uint64_t first) noexcept {
    RATCHET_ASSERT(first >= first_ && first <= durable_next_);
    first_ = first;
  }
  /// This one was, and is in the lane; `bytes` as it is stored.
  void delivered(std::uint64_t position, std::uint64_t bytes) {
    RATCHET_ASSERT(position >= first_ && position < durable_next_);  // nothing else was ever sent
    delivered_bytes_ += bytes;
    auto behind = delivered_.upper_bound(position);
    const bool joins = behind != delivered_.end() && behind->first == position + 1;
    const std::uint64_t next = joins ? behind->second : position + 1;
    if (joins) behind = delivered_.erase(behind);
    if (behind != delivered_.begin() && std::prev(behind)->second == position) {
      std::prev(behind)->second = next;
    } else {
      delivered_.emplace_hint(behind, position, next);
    }
  }
  /// The rows, all delivered, that are still in the lane; empty where there is none.
  [[nodiscard]] outbox_change trim() const {
    outbox_change change;
    change.trimmed_rows = change.trimmed_gone = first_ - trimmed_to_;
    change.trimmed_bytes = delivered_bytes_;
    change.trimmed_lane = lane_;
    for (const auto& [from, next] : delivered_) {
      if (from < first_) {
        change.trimmed_gone -= next - from;
      } else {
        change.trimmed_behind.push_back({from, next});
      }
    }
    return change;
  }
  /// These are gone.
  void trimmed() {
    trimmed_to_ = first_;
    delivered_bytes_ = 0;
    delivered_.clear();
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
  std::uint64_t gone_;                                ///< not seen missing yet
  std::map<std::uint64_t, std::uint64_t> delivered_;  ///< and not trimmed: ranges, `first` to `next`
  std::uint64_t delivered_bytes_{0};                  ///< of these
};

}  // namespace ratchet
