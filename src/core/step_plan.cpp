// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/aggregate_hash.hpp"
#include "core/plan_keys.hpp"
#include "core/step.hpp"

namespace ratchet {

namespace {

[[nodiscard]] bool has_aggregate(const decoded_event& e) noexcept {
  return e.kind == decoded_kind::event || e.kind == decoded_kind::tombstone;
}

}  // namespace

void step_plan::add(std::string_view aggregate) {
  aggregates.push_back(aggregate);
  hashes.push_back(hash_of_aggregate(aggregate));
}

step_plan plan_step(const stream_rules& rules, const reducer_traits& traits,
                    std::span<const decoded_event> events) {
  step_plan plan;
  plan.order = rules.gate.order;
  plan.events = events;
  plan.needs_snapshots = !traits.full_state;
  plan.opaque_ids = rules.opaque_ids;
  plan.restarts = rules.restarts;
  plan.has_ranges = rules.has_ranges;
  plan.aggregate_of.assign(events.size(), k_no_index);
  plan.id_of.assign(events.size(), k_no_index);
  plan_keys keys{plan, events.size()};
  for (std::size_t i = 0; i < events.size(); ++i) {
    const decoded_event& e = events[i];
    if (!has_aggregate(e)) continue;
    plan.needs_snapshots = plan.needs_snapshots || e.keeps_columns;
    plan.aggregate_of[i] = keys.aggregate(e.aggregate);
    if (!e.has_id || !rules.dedup || rules.monotonic_ids) continue;
    plan.id_of[i] = keys.id(plan.aggregate_of[i], e.id);
  }
  return plan;
}

}  // namespace ratchet
