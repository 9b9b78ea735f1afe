// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "app/state_sampler.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace ratchet {

state_sample sample_of(const stream_list& streams, std::uint64_t step, const outbox_lanes& outbox) {
  state_sample sample;
  sample.step = step;
  sample.outbox = outbox.of({});
  sample.sinks = outbox.sinks();
  sample.streams.reserve(streams.size());
  for (const auto& s : streams) {
    stream_sample& one = sample.streams.emplace_back();
    one.name = s->config.name;
    one.counters = s->state.counters;
    one.floor = s->state.floor;
    one.window = s->config.dedup.window;
    one.next_offsets.reserve(s->state.partitions.size());
    for (const auto& [where, partition] : s->state.partitions) {
      if (!where.topic.empty()) one.next_offsets.emplace_back(where, partition.next_offset);
    }
  }
  return sample;
}

namespace {

/// When the stream's oldest gap began. What cannot be read is left out: this decides nothing, and whoever
/// writes next will say so.
std::optional<timestamp> oldest_gap(const store_view& view, stream_id stream) {
  const auto aggregate = view.oldest_gap(stream);
  if (!aggregate || !aggregate.value()) return std::nullopt;
  const auto found = view.backlog_of(stream, *aggregate.value());
  return found && found.value() ? found.value()->gap_since : std::nullopt;
}

}  // namespace

state_sampler::state_sampler(const stream_list& streams, const store& from, run_meter& meter)
    : streams_{streams}, store_{from}, meter_{meter}, taken_{from.durable_step()} {
  // An open store's streams are as of its last step; at its opening that one is durable.
  if (from.last_step() == taken_) meter_.publish(sample());
}

state_sample state_sampler::sample() const {
  state_sample taken = sample_of(streams_, taken_, store_.outboxes());
  std::unique_ptr<store_view> view;  // most streams park nothing, and a view is not free
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    if (streams_[i]->state.counters.waiting_parked == 0) continue;
    if (!view) {
      auto opened = store_.view();
      if (!opened) break;
      view = std::move(opened).value();
    }
    taken.streams[i].gap_since = oldest_gap(*view, streams_[i]->id);
  }
  return taken;
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
