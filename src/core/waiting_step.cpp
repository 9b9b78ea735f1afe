// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Steps that no record begins: the timer's and the operator's.
#include "core/aggregate_backlog.hpp"
#include "core/window.hpp"

namespace ratchet {

namespace {

/// Has `act` done with each aggregate of a plan that `resumes`, where `ends` says so until that is enough for
/// one step.
template <class Act>
[[nodiscard]] stream_change for_each_backlog(const stream_rules& rules, const reducer& reduce,
                                             const stream_state& before, const step_plan& plan,
                                             const step_rows& rows, timestamp now, work_meter& work,
                                             bool ends, Act act) {
  stream_change change;
  change.looked_at = plan.aggregates.size();
  change.after = before;
  change.opaque_ids = rules.opaque_ids;
  keep_up_retention(rules, change.after);
  const auto time = has_no_time(rules, before.floor) ? std::nullopt : stream_time(rules, before);
  waiting_room room = room_of(rules, before.counters);
  std::vector<resolved_event> nothing;
  for (std::uint32_t i = 0; i < plan.aggregates.size(); ++i) {
    const backlog_rows* stored = find_backlog(rows, i);
    if (stored == nullptr) continue;
    const auto& row = rows.aggregates[i];
    aggregate_backlog backlog{{rules, reduce, now, room, change.after.counters, work, time},
                              plan.aggregates[i],
                              row ? &*row : nullptr,
                              stored};
    act(backlog, i);
    backlog.finish(i, nothing, change);
    if (ends && work.is_over()) {
      change.looked_at = i + 1;
      break;
    }
  }
  change.after.counters.waiting_bytes = room.bytes;
  return change;
}

}  // namespace

stream_change resume_waiting(const stream_rules& rules, const reducer& reduce, const stream_state& before,
                             const step_plan& plan, const step_rows& rows, timestamp now,
                             const has_had_its_time& is_over) {
  // Gaps are no matter of a step that runs what its stream deferred: of those behind it little is looked up.
  const bool skips = rules.gap.policy == gap_policy::skip && !(rules.deferred && plan.runs_accepted);
  const auto gaps = skips ? gaps_due(rules, before) : std::nullopt;
  work_meter work{is_over};
  constexpr bool k_ends = true;
  return for_each_backlog(
      rules, reduce, before, plan, rows, now, work, k_ends,
      [&](aggregate_backlog& backlog, std::uint32_t) { backlog.resume(gaps, plan.runs_accepted); });
}

stream_change run_commands(const stream_rules& rules, const reducer& reduce, const stream_state& before,
                           const step_plan& plan, const step_rows& rows,
                           std::span<const waiting_command> orders, timestamp now,
                           std::vector<waiting_answer>& answers, const has_had_its_time& is_over) {
  answers.assign(orders.size(), waiting_answer::none_waits);
  const auto run = [&](aggregate_backlog& backlog, std::uint32_t aggregate) {
    for (std::size_t i = 0; i < orders.size(); ++i) {
      if (orders[i].aggregate == aggregate) answers[i] = backlog.run(orders[i]);
    }
  };
  work_meter work{is_over};
  constexpr bool k_ends = false;
  return for_each_backlog(rules, reduce, before, plan, rows, now, work, k_ends, run);
}

stream_state leave_out(const stream_rules& rules, const stream_state& before,
                       std::span<const topic_partition> partitions) {
  stream_state after = before;
  for (const topic_partition& where : partitions) {
    const auto known = after.partitions.find(where);
    if (known != after.partitions.end()) known->second.idle = true;
  }
  window_floor{after, rules.window}.recompute();
  keep_up_retention(rules, after);
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
