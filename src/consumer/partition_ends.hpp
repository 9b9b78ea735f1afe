// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "ratchet/types.hpp"

namespace ratchet {

/// Which partitions are read to the end of their logs, and since when. A partition that has had nothing to
/// read for long no longer holds the window's floor back. Asks nobody and writes nothing. Thread-safety: the
/// owner's thread.
class partition_ends {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// Everything below the offset was read, and there is no more for now.
  void reach(const topic_partition&, std::int64_t next_offset, time_point now);
  /// It may have more to read by now: it is not at its end until that is told again. `left_out_at`: its next
  /// offset, where it is left out of the floor. If it is told that very end, nothing came in between, and it
  /// may be left out at once.
  void expect_anew(const topic_partition&, std::optional<std::int64_t> left_out_at);
  /// Nothing is known of its end any more.
  void leave(const topic_partition& where) { reached_.erase(where); }
  /// Keeps those alone for which this is true; it is given the end that was told.
  void keep(const std::function<bool(const topic_partition&, std::int64_t next_offset)>&);
  /// Since when all below the offset is read, and nothing more came; none where that is not its end.
  [[nodiscard]] std::optional<time_point> since(const topic_partition&, std::int64_t next_offset) const;
  /// Those that have had nothing to read for so long that they need not hold the floor back.
  [[nodiscard]] std::vector<topic_partition> quiet(time_point now) const;

  /// The end of a log, as its brokers said when asked.
  void note_asked(const topic_partition& where, std::int64_t end) { asked_.insert_or_assign(where, end); }
  [[nodiscard]] std::optional<std::int64_t> asked(const topic_partition&) const;

  /// The group took back what it gave.
  void give_back() { reached_.clear(); }
  void forget();

 private:
  struct log_end {
    std::int64_t next_offset;
    time_point since;
    bool since_before;  ///< it was left out of the floor there, and nothing came since
  };
  std::map<topic_partition, log_end> reached_;
  std::map<topic_partition, std::int64_t> left_out_at_;
  std::map<topic_partition, std::int64_t> asked_;
};

}  // namespace ratchet
