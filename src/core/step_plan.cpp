// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/aggregate_hash.hpp"
#include "core/index_table.hpp"
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
  plan.aggregate_of.assign(events.size(), k_no_index);
  plan.id_of.assign(events.size(), k_no_index);
  plan.aggregates.reserve(events.size());
  plan.hashes.reserve(events.size());
  plan.ids.reserve(events.size());
  index_table aggregates{events.size()};
  index_table ids{events.size()};
  for (std::size_t i = 0; i < events.size(); ++i) {
    const decoded_event& e = events[i];
    if (!has_aggregate(e)) continue;
    const hash128 hash = hash_of_aggregate(e.aggregate);
    const auto next = static_cast<std::uint32_t>(plan.aggregates.size());
    const std::uint32_t aggregate = aggregates.find_or_add(
        hash.low, next, [&](std::uint32_t index) { return plan.aggregates[index] == e.aggregate; });
    if (aggregate == next) {
      plan.aggregates.push_back(e.aggregate);
      plan.hashes.push_back(hash);
    }
    plan.aggregate_of[i] = aggregate;
    if (!e.has_id || !rules.dedup) continue;
    const auto next_id = static_cast<std::uint32_t>(plan.ids.size());
    const std::uint32_t id = ids.find_or_add(
        mix_bits(e.id.high ^ mix_bits(e.id.low + aggregate)), next_id, [&](std::uint32_t index) {
          return plan.ids[index].id == e.id && plan.ids[index].aggregate == aggregate;
        });
    if (id == next_id) plan.ids.push_back({aggregate, e.id, {}});
    plan.id_of[i] = id;
  }
  return plan;
}

}  // namespace ratchet
