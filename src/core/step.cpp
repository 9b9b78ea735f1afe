// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/step.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/step_pass.hpp"
#include "core/work_meter.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

namespace {

/// Superseding leaves out runs of the reducer, so it is for those that nobody could miss.
[[nodiscard]] bool may_supersede(const gate_rules& gate, const reducer_traits& traits) noexcept {
  return gate.order == order::latest && traits.full_state && !traits.has_effects;
}

/// How many passes may fail before superseding is left off. Each failure of a superseding event costs a pass
/// to find the next older one; without superseding it costs a pass a partition.
constexpr int k_superseding_passes = 8;

/// The record that would have to wait, and finds no room.
[[nodiscard]] partition_stop full(const stream_rules& rules, const decoded_event& e) {
  partition_stop stop = stop_at(e, make_error_code(errc::waiting_full));
  stop.what =
      std::to_string(rules.waiting.events) + " events, " + std::to_string(rules.waiting.bytes) + " bytes";
  return stop;
}

/// The events up to the first whose aggregate was not looked up.
std::span<const decoded_event> known_ones(std::span<const decoded_event> events, const step_plan& plan,
                                          const step_rows& rows) {
  const std::size_t known = rows.aggregates.size();
  if (known == plan.aggregates.size()) return events;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (plan.aggregate_of[i] != k_no_index && plan.aggregate_of[i] >= known) return events.first(i);
  }
  return events;
}

}  // namespace

partition_stop stop_at(const decoded_event& e, std::error_code code) {
  partition_stop stop;
  stop.where = *e.from->where;
  stop.offset = e.from->offset;
  stop.index = e.from->index;
  stop.code = code;
  stop.aggregate = std::string{e.aggregate};
  return stop;
}

stream_change run_step(const stream_rules& rules, const reducer& reduce, const stream_state& before,
                       std::span<const decoded_event> events, const step_plan& plan, const step_rows& rows,
                       timestamp now, const has_had_its_time& is_over) {
  work_meter work{is_over};
  std::optional<partition_stop> stop;  // before the last event, which is not taken then
  // Where an event keeps some of what is stored, what came before it is missed.
  const bool supersede = may_supersede(rules.gate, reduce.traits()) && !plan.needs_snapshots;
  events = known_ones(events, plan, rows);
  // Every failed pass takes less than the one before it, so this ends.
  for (int passes = 0;; ++passes) {
    work.start();
    pass attempt{
        rules, reduce, before, events, plan, rows, now, work, supersede && passes < k_superseding_passes};
    std::optional<pass_failure> failure = attempt.run(stop.has_value());
    if (!failure) {
      stream_change change = attempt.take(before);
      if (stop) change.stops.push_back(std::move(*stop));
      return change;
    }
    // A step that ends earlier leaves the stop to the one that reaches its record, and finds the failure
    // again; kept, it would halt the partition in front of good records.
    if (failure->end) {
      events = events.first(*failure->end);
      stop.reset();
      continue;
    }
    if (!failure->stop && events.size() > 1) {
      events = events.first(events.size() / 2);  // the other half finds its own limit
      stop.reset();
      continue;
    }
    if (!failure->stop) failure->stop = full(rules, events.front());
    const event_place from = failure->stop->place();
    const auto at = std::find_if(events.begin(), events.end(), [&](const decoded_event& e) {
      return *e.from->where == failure->stop->where && e.from->place() == from;
    });
    // What follows of its partition was judged as if it had been taken, and others by that. The step ends
    // here.
    events = events.first(static_cast<std::size_t>(at - events.begin()) + 1);
    stop = std::move(failure->stop);
  }
}

}  // namespace ratchet
