// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/output.hpp"
#include "ports/replica.hpp"
#include "ports/source.hpp"
#include "sim/pair/cluster.hpp"
#include "sim/pair/setting.hpp"
#include "support/replicate_plain_bases.hpp"
#include "support/replicate_plain_reader.hpp"

namespace ratchet::pair_sim {

/// The rows of a state, by family and key, as the plain words of their steps make them.
class plain_rows {
 public:
  using map = std::map<std::pair<std::string, std::string>, std::string>;
  plain_rows() = default;
  explicit plain_rows(map all) : all_{std::move(all)} {}
  void apply(std::string_view step);
  [[nodiscard]] const map& all() const { return all_; }

 private:
  map all_;
};

/// Reads the log beside everybody else, with a reader of its own, and throws `broken` where something that
/// must always hold does not. The numbers are those of docs/internals/testing.md.
class judge {
 public:
  explicit judge(const cluster& of) : of_{of}, log_{rules()} {}

  /// (1) What the brokers have by now is one chain without a gap.
  void read_on();
  /// (2, 4) A step goes into somebody's store: it counts in the log, and always has for whoever told of it.
  void on_apply(const std::string& who, std::span<const confirmed_rows>);
  /// (3) A store is where it says, and has what the history up to there has.
  void on_rest(const std::string& who, const replica&, const plain_rows::map& rows);
  /// (5, 7) Offsets are committed: confirmed steps cover them.
  void on_offsets(std::span<const commit_request>) const;
  /// (5, 6) A message is on its way: it is one of a confirmed step.
  void on_send(const std::string& who, const output_row&);
  /// A receiver has it.
  void on_received(const output_row&);
  /// (8) Somebody has cut the log, or its bases: one of those that are left has all that the log lacks.
  void on_cut();
  [[nodiscard]] std::uint64_t cuts() const { return cuts_; }

  /// When all is at rest. (1, 2) again from the log's first record on, (6) each message came, (10) the
  /// ledger.
  void at_the_end();

  [[nodiscard]] std::uint64_t confirmed() const {
    return confirmed_.empty() ? 0 : confirmed_.rbegin()->first;
  }
  [[nodiscard]] std::uint64_t last_step() const { return log_.last_step(); }
  /// Confirmed steps cover the input to its end, and every message was received.
  [[nodiscard]] bool is_all_done() const;
  /// The state behind the last confirmed step.
  [[nodiscard]] const plain_rows& told() const { return told_; }
  [[nodiscard]] const std::map<std::string, std::uint64_t>& fates() const { return fates_; }

 private:
  [[nodiscard]] static plain_log::options rules() {
    plain_log::options any;
    any.newest_layout = ~0ULL;
    return any;
  }
  void confirm(std::uint64_t step);
  [[nodiscard]] const plain_rows& state_at(std::uint64_t step);
  [[nodiscard]] bool leads_on(const plain_log::base&);
  [[nodiscard]] std::int64_t covered(const topic_partition&) const;

  const cluster& of_;
  plain_log::reader log_;
  std::int64_t read_to_{0};
  std::map<std::string, std::uint64_t> fates_;
  std::map<std::uint64_t, std::string> confirmed_;  ///< chains, by step
  std::optional<plain_rows> empty_;  ///< what a state has before its first step: the streams of the config
  plain_rows told_;
  std::map<std::uint64_t, plain_rows> at_;  ///< the newest that was asked for
  std::map<std::pair<std::string, std::string>, std::string>
      messages_;  ///< all rows that confirmed steps put
  std::map<event_id, output_row> sent_;
  std::map<std::string, std::vector<std::string>> sent_of_;  ///< by aggregate, in the order of first sending
  std::set<event_id> received_;
  std::uint64_t cuts_{0};
};

}  // namespace ratchet::pair_sim
