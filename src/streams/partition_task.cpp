// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "streams/partition_task.hpp"

#include <algorithm>

#include "core/success.hpp"

namespace ratchet {

namespace {

/// No floor is above the highest time that was shown, less the window it was made with.
[[nodiscard]] std::optional<timestamp> floor_of_shorter_window(const stream_state& state,
                                                               std::chrono::milliseconds window) {
  if (!state.floor) return std::nullopt;
  const bool is_shown = std::any_of(state.partitions.begin(), state.partitions.end(), [&](const auto& p) {
    return p.second.highest_time && *p.second.highest_time >= *state.floor + window;
  });
  return is_shown ? std::nullopt : state.floor;
}

}  // namespace

task_list make_tasks(const stream_list& streams) {
  task_list tasks;
  tasks.reserve(streams.size());
  for (const auto& s : streams) tasks.push_back(std::make_unique<partition_task>(*s));
  return tasks;
}

std::uint64_t handled_in(const task_list& tasks) noexcept {
  std::uint64_t handled = 0;
  for (const auto& task : tasks) {
    const counters& of = task->state.counters;
    handled += of.consumed + (of.accounted() - of.waiting());
  }
  return handled;
}

result<void> load_tasks(const stream_list& streams, const task_list& tasks, step_store& from) {
  for (const auto& s : streams) s->id = from.id_of(s->config.name);
  for (const auto& s : tasks) {
    RATCHET_TRY(s->state, from.load(s->place()));
    s->at_start = s->state;
    s->rules.floor_of_shorter_window = floor_of_shorter_window(s->state, s->rules.window);
    if (s->rules.gap.policy == gap_policy::stop) s->rules.gaps_from = stream_time(s->rules, s->state);
    constexpr timestamp k_before_everything{std::chrono::milliseconds{0}};
    RATCHET_TRY(const due_aggregates due, from.due(s->place(), k_before_everything, std::nullopt, 0));
    s->next_wake = due.next_wake;
    s->oldest_gap = due.next_gap;
    s->ready.clear();
    s->forgotten_looked_for.reset();
    s->forgotten_after.reset();
    s->looks_for_forgotten = false;
    s->may_have_ready = due.next_wake.has_value();  // or not: a look tells
  }
  return success();
}

}  // namespace ratchet
