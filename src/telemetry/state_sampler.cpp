// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "telemetry/state_sampler.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace ratchet {

state_sample sample_of(const task_list& tasks, std::uint64_t step, const outbox_lanes& outbox) {
  state_sample sample;
  sample.step = step;
  sample.outbox = outbox.of({});
  sample.sinks = outbox.sinks();
  sample.streams.reserve(tasks.size());
  for (const auto& s : tasks) {
    stream_sample& one = sample.streams.emplace_back();
    one.name = s->stream.config.name;
    one.counters = s->state.counters;
    one.floor = s->state.floor;
    one.window = s->stream.config.dedup.window;
    one.next_offsets.reserve(s->state.partitions.size());
    for (const auto& [where, partition] : s->state.partitions) {
      if (!where.topic.empty() && partition.has_position())
        one.next_offsets.emplace_back(where, partition.next_offset);
    }
  }
  return sample;
}

state_sampler::state_sampler(const task_list& tasks, store& from, run_meter& meter)
    : tasks_{tasks}, store_{from}, meter_{meter}, taken_{from.durable_step()} {
  // An open store's streams are as of its last step; at its opening that one is durable.
  if (from.last_step() == taken_) meter_.publish(sample());
}

/// The store knows before which time no gap is left, so that those of long ago, which are closed, cost
/// nothing. What cannot be read is left out: this decides nothing, and whoever writes next will say so.
state_sample state_sampler::sample() {
  state_sample taken = sample_of(tasks_, taken_, store_.outboxes());
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (const auto known = largest_.find(tasks_[i]->stream.id); known != largest_.end())
      taken.streams[i].largest = known->second;
    if (tasks_[i]->state.counters.waiting_parked == 0) continue;
    if (const auto due = store_.due(tasks_[i]->place(), timestamp::min(), std::nullopt, 0))
      taken.streams[i].gap_since = due.value().next_gap;
  }
  return taken;
}

void state_sampler::note(const step_batch& step) {
  for (const step_part& part : step.parts) {
    if (part.change->rows.empty() && part.change->tables.empty()) continue;
    largest_values& largest = largest_[part.stream];
    for (const auto& changed : part.change->rows)
      largest.snapshot = std::max<std::uint64_t>(largest.snapshot, changed.row.snapshot.size());
    for (const table_change& changed : part.change->tables) {
      if (changed.value)
        largest.table_row = std::max<std::uint64_t>(largest.table_row, changed.value->size());
    }
  }
}

void state_sampler::turn(std::chrono::steady_clock::time_point now, std::chrono::milliseconds interval) {
  if (waiting_ && store_.durable_step() >= waiting_->step) {
    meter_.publish(std::move(*waiting_));
    waiting_.reset();
  }
  if (waiting_ || store_.last_step() == taken_ || now - last_ < interval) return;
  last_ = now;
  taken_ = store_.last_step();
  waiting_ = sample();
}

}  // namespace ratchet
