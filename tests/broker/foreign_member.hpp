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
      return held_ >= partitions;
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
        held_ = positions.size();
        answered = source_->assign(positions);
      } else if (std::holds_alternative<notice::revoked>(n)) {
        held_ = 0;
        answered = source_->unassign();
      }
      if (!answered) throw std::system_error{answered.error()};
    }
  }
  void leave() { source_->close(k_patience); }

 private:
  std::unique_ptr<source> source_;
  std::size_t held_{0};
};

}  // namespace ratchet::testing
