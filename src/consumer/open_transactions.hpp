// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "ports/source.hpp"

namespace ratchet {

/// A partition that is read up to an open transaction, which holds back what follows.
struct open_transaction {
  std::int64_t offset{0};  ///< where it began: all below is read
  std::int64_t high{0};    ///< behind the last record that was there when it was looked at
  std::chrono::steady_clock::time_point since;  ///< the partition stands still
  bool told{false};                             ///< in the log
};

/// Which partitions stand still before an open transaction. Brokers give out nothing behind the first record
/// of a transaction before it ends, and say of a log that goes on there that it ends there. Asks nobody and
/// writes nothing. Thread-safety: the owner's thread.
class open_transactions {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// What the brokers said of a partition whose next offset is this, and that stands still since then.
  void note(const topic_partition&, const log_bounds&, std::int64_t next_offset, time_point since);
  /// It moved on, or is not read.
  void leave(const topic_partition& where) { open_.erase(where); }
  void forget() { open_.clear(); }
  [[nodiscard]] bool has(const topic_partition& where) const { return open_.contains(where); }
  [[nodiscard]] std::map<topic_partition, open_transaction>& all() noexcept { return open_; }

 private:
  std::map<topic_partition, open_transaction> open_;
};

}  // namespace ratchet
