// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/aggregate_hash.hpp"
#include "core/index_table.hpp"
#include "core/step.hpp"

namespace ratchet {

/// Enters the aggregates and ids of a batch into its plan, each once. Borrows the plan, which must have none
/// before.
class plan_keys {
 public:
  /// `most`: no more distinct ones of either come.
  plan_keys(step_plan& plan, std::size_t most) : plan_{plan}, aggregates_{most}, ids_{most} {
    plan.aggregates.reserve(most);
    plan.hashes.reserve(most);
    plan.ids.reserve(most);
  }

  /// Its index.
  std::uint32_t aggregate(std::string_view name) {
    const hash128 hash = hash_of_aggregate(name);
    const auto next = static_cast<std::uint32_t>(plan_.aggregates.size());
    // The hash stands for the name, as in all that is remembered. The names lie in the records, far apart: to
    // compare those of repeated aggregates took 2 % of a run.
    const std::uint32_t index = aggregates_.find_or_add(
        hash.low, next, [&](std::uint32_t known) { return plan_.hashes[known] == hash; });
    if (index == next) {
      plan_.aggregates.push_back(name);
      plan_.hashes.push_back(hash);
    }
    return index;
  }

  /// The index of this id of the aggregate.
  std::uint32_t id(std::uint32_t aggregate, const event_id& id) {
    const auto next = static_cast<std::uint32_t>(plan_.ids.size());
    const std::uint32_t index =
        ids_.find_or_add(mix_bits(id.high ^ mix_bits(id.low + aggregate)), next, [&](std::uint32_t known) {
          return plan_.ids[known].id == id && plan_.ids[known].aggregate == aggregate;
        });
    if (index == next) plan_.ids.push_back({aggregate, id, {}});
    return index;
  }

 private:
  step_plan& plan_;
  index_table aggregates_;
  index_table ids_;
};

}  // namespace ratchet
