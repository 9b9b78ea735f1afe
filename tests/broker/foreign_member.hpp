// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <system_error>
#include <variant>
#include <vector>

#include "broker/workload_main_job.hpp"

namespace ratchet::testing {

/// A plain consumer in the same group, that reads what it is given and commits nothing.
class foreign_member {
 public:
  explicit foreign_member(const main_job& job)
      : source_{open_source(config_of(job.target().brokers, job.group()))} {
    const auto joined = source_->join(std::vector{job.target().topic});
    if (!joined) throw std::system_error{joined.error()};
  }
  /// Serves the group until it holds so many partitions.
  bool comes_to_hold(std::size_t partitions = 1) {
    return eventually([this, partitions] {
      turn();
      return held_.size() >= partitions;
    });
  }
  /// Answers what the group said. As long as it is not called, no rebalance comes to an end.
  void turn() {
    const auto got = source_->poll(100, 50ms);
    if (!got) throw std::system_error{got.error()};
    for (const auto& n : got.value().notices) {
      result<void> answered = BOOST_OUTCOME_V2_NAMESPACE::success();
      if (const auto* a = std::get_if<notice::assigned>(&n)) {
        std::vector<position> positions;
        for (const auto& where : a->partitions) positions.push_back({where, 0});
        held_ = a->partitions;
        answered = source_->assign(positions);
      } else if (std::holds_alternative<notice::revoked>(n)) {
        held_.clear();
        answered = source_->unassign();
      }
      if (!answered) throw std::system_error{answered.error()};
    }
  }
  /// Claims what it holds, as another copy of the directory that has claimed it.
  void claim_as_a_copy() {
    const auto known = source_->committed(held_, k_patience);
    if (!known) throw std::system_error{known.error()};
    std::vector<commit_request> claims;
    for (const committed_offset& c : known.value()) {
      auto mark = parse_metadata(c.metadata);
      if (!mark || !c.offset) throw std::runtime_error{"nobody has claimed it: " + c.metadata};
      mark->incarnation = {mark->incarnation.counter + 1, 99};
      claims.push_back({c.where, *c.offset, to_metadata(*mark)});
    }
    const auto claimed = source_->commit_and_wait(claims, k_patience);
    if (!claimed) throw std::system_error{claimed.error()};
  }
  void leave() { source_->close(k_patience); }

 private:
  std::unique_ptr<source> source_;
  std::vector<topic_partition> held_;
};

}  // namespace ratchet::testing
