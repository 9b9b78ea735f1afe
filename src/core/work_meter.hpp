// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/result_size.hpp"
#include "core/state_bytes.hpp"
#include "core/step.hpp"

namespace ratchet {

/// Counts the calls of reducers in a step and the bytes that they move, and tells when that is enough for one
/// step: where they have had their time, or moved k_most_state_bytes. What the clock has said becomes a
/// number of calls, by which a pass that is made again ends as well. Thread-safety: none.
class work_meter {
 public:
  explicit work_meter(const has_had_its_time& is_over) : is_over_{is_over} { start(); }

  /// Behind each call.
  void called() {
    if (++calls_ >= look_at_) look();
  }
  /// Of states, to a reducer and back.
  void moved(std::size_t bytes) noexcept { bytes_ += bytes; }
  /// What it published, put into tables or replied.
  void made(const reducer_call& call) noexcept {
    if (call.outputs.empty() && call.tables.empty() && !call.reply) return;
    bytes_ += k_weight_of_results * size_of_results(call);
  }
  [[nodiscard]] bool is_over() const noexcept {
    return is_cut_ || calls_ >= most_ || bytes_ > k_most_state_bytes;
  }
  /// The bytes count anew: what comes now has its own.
  void start_bytes() noexcept { bytes_ = 0; }

  /// Before each pass over the step's events. One that is made again may have twice the calls, as other
  /// events may be among those that it runs; and is cut again only where they are slower still.
  void start() {
    if (is_cut_) most_ = 2 * calls_;
    is_cut_ = false;
    calls_ = 0;
    bytes_ = 0;
    look_at_ = is_over_ ? 1 : k_no_limit;
  }

 private:
  /// A slow one is known by its first calls; for a quick one a look at a clock is dear.
  static constexpr std::size_t k_calls_between_looks = 16;

  void look() {
    look_at_ = calls_ + std::min(calls_, k_calls_between_looks);
    is_cut_ = is_cut_ || is_over_();
  }

  const has_had_its_time& is_over_;
  std::size_t calls_{0};
  std::size_t bytes_{0};
  std::size_t look_at_{k_no_limit};
  std::size_t most_{k_no_limit};
  bool is_cut_{false};
};

}  // namespace ratchet
