// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Steps that no record begins: the timer's and the operator's.
#include "core/waiting_machine.hpp"
#include "core/window.hpp"

namespace ratchet {

namespace {

/// Has `act` done with each aggregate of a plan that `resumes`.
template <class Act>
[[nodiscard]] stream_change for_each_backlog(const stream_rules& rules, const reducer& reduce,
                                             const stream_state& before, const step_plan& plan,
                                             const step_rows& rows, timestamp now, Act act) {
  stream_change change;
  change.after = before;
  change.opaque_ids = rules.opaque_ids;
  waiting_room room = room_of(rules, before.counters);
  std::vector<settled_event> nothing;
  for (std::uint32_t i = 0; i < plan.aggregates.size(); ++i) {
    const backlog_rows* stored = find_backlog(rows, i);
    if (stored == nullptr) continue;
    const auto& row = rows.aggregates[i];
    waiting_machine machine{
        {rules, reduce, now, room, change.after.counters}, plan.aggregates[i], row ? &*row : nullptr, stored};
    act(machine, i);
    machine.finish(i, nothing, change);
  }
  change.after.counters.waiting_bytes = room.bytes;
  return change;
}

}  // namespace

stream_change resume_waiting(const stream_rules& rules, const reducer& reduce, const stream_state& before,
                             const step_plan& plan, const step_rows& rows, timestamp now) {
  // Gaps are no matter of a step that runs what its stream deferred: of those behind it little is looked up.
  const bool skips = rules.gap.policy == gap_policy::skip && !(rules.deferred && plan.runs_accepted);
  const auto gaps = skips ? gaps_due(rules, before) : std::nullopt;
  return for_each_backlog(
      rules, reduce, before, plan, rows, now,
      [&](waiting_machine& machine, std::uint32_t) { machine.resume(gaps, plan.runs_accepted); });
}

stream_change obey_orders(const stream_rules& rules, const reducer& reduce, const stream_state& before,
                          const step_plan& plan, const step_rows& rows, std::span<const waiting_order> orders,
                          timestamp now, std::vector<waiting_answer>& answers) {
  answers.assign(orders.size(), waiting_answer::none_waits);
  const auto obey = [&](waiting_machine& machine, std::uint32_t aggregate) {
    for (std::size_t i = 0; i < orders.size(); ++i) {
      if (orders[i].aggregate == aggregate) answers[i] = machine.obey(orders[i]);
    }
  };
  return for_each_backlog(rules, reduce, before, plan, rows, now, obey);
}

stream_state leave_out(const stream_rules& rules, const stream_state& before,
                       std::span<const topic_partition> partitions) {
  stream_state after = before;
  for (const topic_partition& where : partitions) {
    const auto known = after.partitions.find(where);
    if (known != after.partitions.end()) known->second.idle = true;
  }
  window_floor{after, rules.window}.recompute();
  return after;
}

std::optional<timestamp> stream_time(const stream_rules& rules, const stream_state& state) {
  return state.floor ? std::optional{*state.floor + rules.window} : std::nullopt;
}

std::optional<timestamp> gaps_due(const stream_rules& rules, const stream_state& state) {
  if (rules.gate.order != order::strict || rules.gap.policy == gap_policy::wait) return std::nullopt;
  if (has_no_time(rules, state.floor)) return std::nullopt;
  const auto time = stream_time(rules, state);
  return time ? std::optional{*time - rules.gap.timeout} : std::nullopt;
}

}  // namespace ratchet
