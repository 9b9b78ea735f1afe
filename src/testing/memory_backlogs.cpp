// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What a step looks up in a store in memory, and which aggregates are due.
#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "testing/memory_store.hpp"

namespace ratchet {

using stream_contents = memory_store::stream_contents;

namespace {

void read_asked(const stream_contents& of, const step_plan& plan, std::uint32_t aggregate,
                backlog_rows& out) {
  const std::string name{plan.aggregates[aggregate]};
  std::map<sequence, asked_row> found;
  for (const asked_event& asked : plan.asked) {
    const auto at = of.waiting.find({name, asked.sequence});
    const auto is_it = [&asked](const waiting_event& e) { return e.head.sequence == asked.sequence; };
    if (asked.aggregate != aggregate || at == of.waiting.end()) continue;
    if (std::any_of(out.queue.begin(), out.queue.end(), is_it)) continue;
    asked_row row{.event = at->second, .previous = std::prev(at)->second.head};
    if (out.backlog.is_accepted(asked.sequence)) {
      row.accepted_below =
          static_cast<std::uint64_t>(std::distance(of.waiting.lower_bound({name, sequence{}}), at));
    }
    found.emplace(asked.sequence, std::move(row));
  }
  for (auto& [number, row] : found) out.asked.push_back(std::move(row));
}

/// As the rules of store::lookup() want it, but for the bound of all queues together.
[[nodiscard]] backlog_rows read_backlog(const stream_contents& of, const step_plan& plan,
                                        std::uint32_t aggregate, std::size_t& room) {
  const std::string name{plan.aggregates[aggregate]};
  backlog_rows out;
  out.backlog = of.backlogs.at(name);
  const bool passes_over = !plan.runs_accepted && out.backlog.accepted;
  const auto begin = passes_over ? of.waiting.upper_bound({name, out.backlog.accepted->sequence})
                                 : of.waiting.lower_bound({name, sequence{}});
  const auto in = [&](auto at) { return at != of.waiting.end() && at->first.first == name; };
  if (!in(begin)) return out;
  bool wants_more = plan.resumes || out.backlog.goes_on() || plan.order == order::latest;
  for (std::size_t i = 0; i < plan.events.size(); ++i) {
    const decoded_event& e = plan.events[i];
    const sequence lowest = begin->first.second;
    const bool covers_it = e.begins_at && sequence{e.sequence.epoch, *e.begins_at} <= lowest;
    const bool is_below = e.sequence < lowest || covers_it;
    wants_more |= plan.order == order::strict && plan.aggregate_of[i] == aggregate && is_below;
  }
  auto at = begin;
  const auto has_room = [&] { return room > 0 && out.queue.size() < plan.most_queued; };
  const auto take = [&] {
    for (bool is_first = true; in(at) && (is_first || (wants_more && has_room())); ++at) {
      out.queue.push_back(at->second);
      if (room > 0) --room;
      is_first = false;
    }
  };
  take();
  const bool asks = std::any_of(plan.asked.begin(), plan.asked.end(),
                                [aggregate](const asked_event& a) { return a.aggregate == aggregate; });
  if (asks && in(at) && out.backlog.is_accepted(out.queue.back().head.sequence)) {
    at = of.waiting.upper_bound({name, out.backlog.accepted->sequence});
    take();
  }
  out.complete = !in(at);
  if (asks) read_asked(of, plan, aggregate, out);
  const sequence last = out.queue.back().head.sequence;
  std::map<sequence, waiting_head> near;
  for (std::size_t i = 0; i < plan.events.size() && !out.complete; ++i) {
    if (plan.aggregate_of[i] != aggregate) continue;
    const decoded_event& e = plan.events[i];
    if (plan.order != order::arrival) {
      const sequence s = plan.restarts ? sequence{last.epoch, e.sequence.number} : e.sequence;
      const auto found = of.waiting.lower_bound({name, std::max(s, sequence{last.epoch, last.number + 1})});
      if (in(found) && s > last) near.emplace(found->first.second, found->second.head);
      continue;
    }
    for (auto of_id = at; in(of_id); ++of_id) {
      if (e.has_id && of_id->second.head.id == e.id) near.emplace(of_id->first.second, of_id->second.head);
    }
  }
  for (auto& [number, head] : near) out.near.push_back(head);
  return out;
}

}  // namespace

void memory_store::stream_contents::look_up(const step_plan& plan, step_rows& out,
                                            std::size_t queue_events) const {
  out.aggregates.assign(plan.aggregates.size(), std::nullopt);
  out.id_stored.assign(plan.ids.size(), 0);
  out.id_filed.assign(plan.opaque_ids ? plan.ids.size() : 0, timestamp{});
  out.answers.assign(plan.wants_answers ? plan.ids.size() : 0, std::nullopt);
  out.backlogs.clear();
  std::size_t room = queue_events;
  for (std::size_t i = 0; i < plan.aggregates.size(); ++i) {
    const auto at = rows.find(plan.aggregates[i]);
    if (at == rows.end()) continue;
    out.aggregates[i] = at->second;
    if (at->second.waits) {
      const auto index = static_cast<std::uint32_t>(i);
      out.backlogs.emplace_back(index, read_backlog(*this, plan, index, room));
    }
    if (!plan.needs_snapshots) out.aggregates[i]->snapshot.clear();  // as a store that saves the read
  }
  for (std::size_t i = 0; i < plan.ids.size(); ++i) {
    const id_of_aggregate& id_of = plan.ids[i];
    const auto key = std::pair{id_of.id, std::string{plan.aggregates.at(id_of.aggregate)}};
    const auto at = ids.find(key);
    if (at == ids.end()) continue;
    out.id_stored[i] = 1;
    if (plan.opaque_ids) out.id_filed[i] = at->second;
    const auto answer = plan.wants_answers ? answers.find(key) : answers.end();
    if (answer != answers.end()) out.answers[i] = answer->second;
  }
}

due_aggregates memory_store::stream_contents::due(timestamp now, std::optional<timestamp> gaps,
                                                  std::size_t limit) const {
  struct entry {
    timestamp when;
    std::string name;
    bool is_wake;
  };
  std::vector<entry> wakes;
  std::vector<entry> old_gaps;
  for (const auto& [name, b] : backlogs) {
    if (b.wake) wakes.push_back({*b.wake, name, true});
    if (b.gap_since) old_gaps.push_back({*b.gap_since, name, false});
  }
  due_aggregates out;
  const auto by_time = [](const entry& a, const entry& b) {
    return std::tie(a.when, a.name) < std::tie(b.when, b.name);
  };
  const auto name_due = [&](std::vector<entry>& all, std::optional<timestamp> until,
                            std::optional<timestamp>& next) {
    std::sort(all.begin(), all.end(), by_time);
    for (const entry& e : all) {
      const bool is_named = std::find(out.names.begin(), out.names.end(), e.name) != out.names.end();
      if (until && e.when <= *until && (is_named || out.names.size() < limit)) {
        if (!is_named) out.names.push_back(e.name);
      } else if (!next) {
        next = e.when;
      }
    }
  };
  name_due(wakes, now, out.next_wake);
  name_due(old_gaps, gaps, out.next_gap);
  return out;
}

forgotten_aggregates memory_store::stream_contents::find_forgotten(const retention_state& of,
                                                                   const std::optional<std::string>& after,
                                                                   std::size_t limit) const {
  forgotten_aggregates out;
  auto at = after ? rows.upper_bound(*after) : rows.begin();
  for (std::size_t n = 0; n < limit && at != rows.end(); ++n, ++at) {
    if (is_forgotten(of, at->second.seen)) out.names.push_back(at->first);
  }
  if (at != rows.end() && at != rows.begin()) out.last = std::prev(at)->first;
  return out;
}

bool memory_store::stream_contents::is_gone(const std::string& aggregate, const aggregate_row& row) const {
  if (!is_forgotten(state.retention, row.seen)) return false;
  const auto of = backlogs.find(aggregate);
  return of == backlogs.end() || of->second.events() == 0;
}

std::vector<std::string> memory_store::stream_contents::due_behind(timestamp until, std::size_t limit) const {
  std::vector<std::string> out;
  for (const auto& [name, b] : backlogs) {
    if (b.wake && *b.wake > until && out.size() < limit) out.push_back(name);
  }
  return out;
}

}  // namespace ratchet
