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

/// Drops stops past the end of a shortened step. The step that reaches those records finds the failure again;
/// kept, a stop would halt the partition in front of good records.
void forget_behind(std::span<const decoded_event> events, std::vector<cut>& cuts,
                   std::vector<partition_stop>& stops) {
  const auto is_gone = [&](const topic_partition& where, event_place place) {
    return std::none_of(events.begin(), events.end(), [&](const decoded_event& e) {
      return *e.from->where == where && e.from->place() == place;
    });
  };
  std::erase_if(cuts, [&](const cut& c) { return is_gone(*c.where, c.from); });
  std::erase_if(stops, [&](const partition_stop& s) { return is_gone(s.where, s.place()); });
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
  std::vector<cut> cuts;
  std::vector<partition_stop> stops;
  // Where an event keeps some of what is stored, what came before it is missed.
  const bool supersede = may_supersede(rules.gate, reduce.traits()) && !plan.needs_snapshots;
  events = known_ones(events, plan, rows);
  // Every failed pass ends the step earlier, so this ends.
  for (int passes = 0;; ++passes) {
    work.start();
    pass attempt{
        rules, reduce, before, events, plan, rows, now, work, supersede && passes < k_superseding_passes};
    std::optional<pass_failure> failure = attempt.run(cuts);
    if (!failure) {
      stream_change change = attempt.take(before);
      // A partition stops at its first failure only.
      std::erase_if(stops, [&](const partition_stop& s) {
        return std::any_of(cuts.begin(), cuts.end(),
                           [&](const cut& c) { return *c.where == s.where && c.from < s.place(); });
      });
      change.stops.insert(change.stops.end(), std::make_move_iterator(stops.begin()),
                          std::make_move_iterator(stops.end()));
      return change;
    }
    if (failure->end) {
      events = events.first(*failure->end);
      forget_behind(events, cuts, stops);
      continue;
    }
    if (!failure->stop && events.size() > 1) {
      events = events.first(events.size() / 2);  // the other half finds its own limit
      forget_behind(events, cuts, stops);
      continue;
    }
    if (!failure->stop) failure->stop = full(rules, events.front());
    const event_place from = failure->stop->place();
    const auto at = std::find_if(events.begin(), events.end(), [&](const decoded_event& e) {
      return *e.from->where == failure->stop->where && e.from->place() == from;
    });
    // What follows of its partition was judged as if it had been taken, and others by that. The step ends
    // here, and failures that were found behind it are for the next one.
    events = events.first(static_cast<std::size_t>(at - events.begin()) + 1);
    forget_behind(events, cuts, stops);
    cuts.push_back({at->from->where, from});
    stops.push_back(std::move(*failure->stop));
  }
}

}  // namespace ratchet
