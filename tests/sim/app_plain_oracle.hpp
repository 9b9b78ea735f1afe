// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app_history.hpp"

namespace ratchet::sim {

/// What becomes of a record, in the oracle's own words.
enum class fate : std::uint8_t {
  applied,
  repeated,
  stale,
  malformed,
  conflict,
  too_old,
  id_reused,
};
inline constexpr std::size_t k_fates = 7;

/// What a stream must come to, by the words of the contract, one record at a time, over plain values, with
/// every minimum computed anew. It knows what a producer meant, not what lies in the log, and shares nothing
/// with the pipeline.
class plain_oracle {
 public:
  struct aggregate {
    bool exists{false};
    std::pair<std::uint64_t, std::uint64_t> last;  ///< epoch, number
    std::optional<event_id> id;
    std::string payload;  ///< of the last one applied; empty: it was a tombstone
    bool deleted{false};
    std::string snapshot;
  };
  struct partition {
    bool known{false};
    std::int64_t next{0};
    std::optional<std::int64_t> highest;
    bool idle{false};
  };

  explicit plain_oracle(const stream_setup&);

  /// One record at `offset`, handled when the wall clock said `now`.
  fate take(const message&, std::int64_t offset, std::int64_t now);
  /// The partition goes on at `offset`: at a start, or past what holds no records.
  void go_on_at(std::uint32_t which, std::int64_t offset);
  /// A timer left these partitions out of the floor, together.
  void leave_out(std::span<const std::uint32_t> those);

  [[nodiscard]] const std::map<std::uint32_t, aggregate>& aggregates() const { return aggregates_; }
  [[nodiscard]] const std::vector<partition>& partitions() const { return partitions_; }
  [[nodiscard]] std::optional<std::int64_t> floor() const { return floor_; }
  [[nodiscard]] std::uint64_t count(fate f) const { return counts_[static_cast<std::size_t>(f)]; }
  [[nodiscard]] std::uint64_t taken() const { return taken_; }
  /// Every (id, aggregate) that was applied.
  [[nodiscard]] const std::set<std::pair<event_id, std::uint32_t>>& ids() const { return ids_; }
  [[nodiscard]] const std::map<std::pair<std::uint32_t, std::int64_t>, fate>& rejected() const {
    return rejected_;
  }

 private:
  [[nodiscard]] fate judge(const message&) const;
  void apply(const message&);
  void raise_floor();

  const stream_setup* setup_;
  std::map<std::uint32_t, aggregate> aggregates_;
  std::vector<partition> partitions_;
  std::optional<std::int64_t> floor_;
  std::uint64_t counts_[k_fates]{};
  std::uint64_t taken_{0};
  std::set<std::pair<event_id, std::uint32_t>> ids_;
  std::map<std::pair<std::uint32_t, std::int64_t>, fate> rejected_;
};

/// What the folding reducer makes of a snapshot and one more payload.
[[nodiscard]] std::string fold(const std::string& before, const std::string& payload);

}  // namespace ratchet::sim
