// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "core/record.hpp"
#include "ratchet/types.hpp"
#include "streams/partition_task.hpp"

namespace ratchet {

/// Notices that this machine's clock cannot be right. A wrong clock never makes a decision wrong: it only
/// caps how far record times may move the window. One that is behind holds the window still, and one that was
/// ahead let it move too far; somebody has to hear of both. Pure.
class clock_watch {
 public:
  /// Beyond the allowed skew, so that clocks that differ a little are no news.
  static constexpr std::chrono::minutes k_tolerance{1};

  explicit clock_watch(const task_list& tasks) : tasks_{tasks} {}

  /// Looks at the times of records that just came. Only a batch of which every record is from the future
  /// speaks against the clock: one that is not shows that the rest are the producers' clocks.
  void look_at(std::span<const record>, timestamp now);

  /// What is wrong with the clock, for a person; none where nothing is known to be.
  [[nodiscard]] std::optional<std::string> fault(timestamp now) const;

 private:
  [[nodiscard]] std::chrono::milliseconds allowed() const;

  const task_list& tasks_;
  std::optional<timestamp> oldest_of_future_;  ///< of a batch that lay in the future as a whole
};

}  // namespace ratchet
