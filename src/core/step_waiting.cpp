// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Events of a batch whose aggregates have a backlog, or get one.
#include <algorithm>

#include "core/step_pass.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

/// Takes an aggregate off the fast way, also with the events that were decided there already.
void pass::wait_from_here(std::uint32_t aggregate) {
  aggregates_[aggregate].waits = true;
  any_wait_ = true;
}

std::optional<pass_failure> pass::handle_waiting() {
  // What the fast way made of their events is thrown away.
  std::erase_if(change_.ids, [this](const id_of_aggregate& id) { return aggregates_[id.aggregate].waits; });
  std::erase_if(change_.outputs,
                [this](const published_outputs& o) { return aggregates_[o.aggregate].waits; });
  std::erase_if(change_.tables, [this](const table_change& c) { return aggregates_[c.aggregate].waits; });
  std::vector<std::uint32_t> events;
  for (std::uint32_t i = 0; i < change_.looked_at; ++i) {
    if (reached_gate_[i] != 0 && aggregates_[plan_.aggregate_of[i]].waits) events.push_back(i);
  }
  std::stable_sort(events.begin(), events.end(), [this](std::uint32_t a, std::uint32_t b) {
    return plan_.aggregate_of[a] < plan_.aggregate_of[b];
  });
  work_.start_bytes();  // those of the fast way are taken in any case
  progress so_far{.taken = 0, .all = events.size()};
  for (auto begin = events.begin(); begin != events.end();) {
    if (so_far.taken > 0 && work_.is_over()) return pass_failure{.end = end_in_time(so_far)};
    const auto end = std::find_if(begin, events.end(), [&](std::uint32_t i) {
      return plan_.aggregate_of[i] != plan_.aggregate_of[*begin];
    });
    if (auto failed = handle_waiting_of({&*begin, static_cast<std::size_t>(end - begin)}, so_far))
      return failed;
    begin = end;
  }
  // Aggregates may share a row: the events' order decides, as if each had been a step of its own.
  std::stable_sort(change_.tables.begin(), change_.tables.end(),
                   [](const table_change& a, const table_change& b) { return a.at < b.at; });
  std::stable_sort(change_.fates.begin(), change_.fates.end(),
                   [](const waiting_fate& a, const waiting_fate& b) { return a.behind < b.behind; });
  std::sort(change_.waits.begin(), change_.waits.end(),
            [](const event_wait& a, const event_wait& b) { return a.index < b.index; });
  return std::nullopt;
}

/// What waits at the end of the step was counted by its backlog.
void pass::count_resolved(decision d) {
  counters& counts = change_.after.counters;
  const bool waits =
      d.verdict == verdict::parked || d.verdict == verdict::retrying || d.verdict == verdict::dead;
  if (waits) {
    ++counts.consumed;
  } else {
    counts.count(d);
  }
}

/// Where a step may end that has as many of these events in it as were taken now, one aggregate's behind the
/// other's.
std::uint32_t pass::end_in_time(progress so_far) const {
  return static_cast<std::uint32_t>(std::max<std::size_t>(change_.looked_at * so_far.taken / so_far.all, 1));
}

std::optional<pass_failure> pass::handle_waiting_of(std::span<const std::uint32_t> events, progress& so_far) {
  const std::uint32_t aggregate = plan_.aggregate_of[events.front()];
  const auto& row = rows_.aggregates[aggregate];
  aggregate_backlog backlog{{rules_, reducer_, now_, room_, change_.after.counters, work_},
                            plan_.aggregates[aggregate],
                            row ? &*row : nullptr,
                            find_backlog(rows_, aggregate)};
  for (const std::uint32_t i : events) {
    incoming_event in{.index = i,
                      .event = &events_[i],
                      .sequence = events_[i].sequence,
                      .id_time = id_time(i),
                      .id_filed = stored_before(i),
                      .number_known = rules_.monotonic_ids && known_[i] != 0,
                      .floor = floors_[i],
                      .stream_time = {}};
    if (forgets_) in.age = ages_[i];
    const std::optional<timestamp> floor = i + 1 < change_.looked_at ? floors_[i + 1] : change_.after.floor;
    if (floor) in.stream_time = *floor + rules_.window;
    ++so_far.taken;
    if (backlog.take(in)) {
      // As much as one step can take was released, and more may be, or a gap behind it is too old: what
      // follows, of whatever aggregate, must find that done.
      const bool ends_step = backlog.is_ready() || work_.is_over();
      if (!ends_step || i + 1 == change_.looked_at) continue;
      return pass_failure{.end = work_.is_over() ? std::min(i + 1, end_in_time(so_far)) : i + 1};
    }
    if (!backlog.stopped()) return pass_failure{};
    const auto& stopped = *backlog.stopped();
    return pass_failure{
        .stop = stop_of(stop_at(*stopped.event, make_error_code(errc::reducer_failed)), stopped.call)};
  }
  std::vector<resolved_event> resolved;
  backlog.finish(aggregate, resolved, change_);
  for (const resolved_event& s : backlog.said()) change_.decisions[s.index] = s.decision;
  for (const resolved_event& s : resolved) count_resolved(s.decision);
  return std::nullopt;
}

}  // namespace ratchet
