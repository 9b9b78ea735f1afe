// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

#include "ratchet/types.hpp"

namespace ratchet {

/// What a run to the end has to reach: the ends that the logs had when it began to read them. Records that
/// come later do not prolong it. Thread-safety: the owner's thread.
class end_goals {
 public:
  /// The first goal of a partition stays, through every rebalance.
  void set(const topic_partition& where, std::int64_t end) { goals_.try_emplace(where, goal{end}); }
  [[nodiscard]] bool has(const topic_partition& where) const { return goals_.contains(where); }
  /// The partition was read up to there. Without effect where it has no goal.
  void reach(const topic_partition& where, std::int64_t next_offset) {
    const auto at = goals_.find(where);
    if (at != goals_.end() && next_offset >= at->second.end) at->second.reached = true;
  }
  [[nodiscard]] bool has_reached(const topic_partition& where) const {
    const auto at = goals_.find(where);
    return at != goals_.end() && at->second.reached;
  }
  /// Whether every goal was reached, but for those of partitions of which `is_excused` says true.
  template <class F>
  [[nodiscard]] bool all_reached(const F& is_excused) const {
    for (const auto& [where, g] : goals_) {
      if (!g.reached && !is_excused(where)) return false;
    }
    return true;
  }

 private:
  struct goal {
    std::int64_t end;
    bool reached{false};
  };
  std::map<topic_partition, goal> goals_;
};

}  // namespace ratchet
