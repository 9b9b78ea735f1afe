// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode_worker.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "pipeline/field_counts.hpp"
#include "ports/thread_edge.hpp"
#include "ports/thread_name.hpp"

namespace ratchet {

decode_stage::decode_stage(const stream_list& streams) : streams_{&streams} {
  for (std::size_t i = 0; i < streams.size(); ++i) {
    for (const std::string& topic : streams[i]->config.topics) stream_by_topic_.emplace(topic, i);
    decoders_.emplace_back(streams[i]->decode);
  }
}

std::size_t decode_stage::stream_of(const topic_partition* where) {
  if (where != last_where_) {
    last_where_ = where;
    const auto found = stream_by_topic_.find(where->topic);
    // Only subscribed topics are delivered, so that what is not found comes from a plain file.
    last_stream_ = found == stream_by_topic_.end() ? plain_stream_ : found->second;
  }
  return last_stream_;
}

void decode_stage::run(std::unique_ptr<record_batch> batch, decoded_input& out) {
  // The old events borrow from the old batch, and nobody looks at them any more. They are not cleared, as the
  // decoder would only fill them in again: 300 bytes each. First, as what throws must not lose the batch.
  out.batch = std::move(batch);
  out.parts.resize(decoders_.size());
  for (decoded_part& part : out.parts) part.records.clear();
  last_where_ = nullptr;  // a new source may use the address again
  for (const record& r : out.batch->records()) out.parts[stream_of(r.where)].records.push_back(r);
  for (std::size_t i = 0; i < out.parts.size(); ++i) {
    out.parts[i].stream = i;
    out.parts[i].taken = 0;
    decode(out.parts[i]);
  }
}

bool decode_stage::go_on(decoded_input& input) {
  if (!input.has_more()) return false;
  for (decoded_part& part : input.parts) decode(part);
  return true;
}

void decode_stage::decode(decoded_part& part) {
  part.begun = part.taken;
  const auto left = std::span<const record>{part.records}.subspan(part.begun);
  part.taken += decoders_[part.stream].decode(left, part.decoded, k_events_at_once);
  part.fields = count_fields(part.decoded.events);
  const stream_definition& s = *(*streams_)[part.stream];
  part.plan = plan_step(s.rules, s.reduce.traits(), part.decoded.events);
}

bool decoded_input::has_more() const noexcept {
  return std::any_of(parts.begin(), parts.end(),
                     [](const decoded_part& part) { return part.taken < part.records.size(); });
}

decode_worker::decode_worker(const stream_list& streams, decode_on where)
    : streams_{streams}, stage_{streams} {
  if (where == decode_on::own_thread) thread_ = std::thread{[this] { run(); }};
}

decode_worker::~decode_worker() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void decode_worker::submit(std::unique_ptr<record_batch> batch) {
  work_of(submitted_++).batch = std::move(batch);
  {
    const std::lock_guard lock{mutex_};
    ready_ = submitted_;
  }
  changed_.notify_all();
}

decoded_input& decode_worker::take() {
  work& oldest = work_of(taken_);
  bool decoded = false;
  if (thread_.joinable()) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return decoded_ > taken_ || stopping_; });
    decoded = decoded_ > taken_;
  }
  if (!decoded) stage_.run(std::move(oldest.batch ? oldest.batch : oldest.input.batch), oldest.input);
  ++taken_;
  return oldest.input;
}

bool decode_worker::go_on(decoded_input& input) {
  if (!input.has_more()) return false;
  if (!rest_) rest_.emplace(streams_);  // the other one may be at work
  return rest_->go_on(input);
}

void decode_worker::run() {
  name_this_thread("ratchet:decode");
  std::unique_lock lock{mutex_};
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || decoded_ < ready_; });
    if (stopping_) return;
    work& next = work_of(decoded_);
    lock.unlock();
    const bool well = at_edge([&] { stage_.run(std::move(next.batch), next.input); }, [](const char*) {});
    lock.lock();
    // What it throws is the owner's to know, which decodes that batch, and all behind it, by itself.
    if (well) ++decoded_;
    stopping_ = stopping_ || !well;
    changed_.notify_all();
  }
}

}  // namespace ratchet
