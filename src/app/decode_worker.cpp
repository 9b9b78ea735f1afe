// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "app/decode_worker.hpp"

#include <utility>

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
  out.parts.resize(decoders_.size());
  for (decoded_part& part : out.parts) part.records.clear();
  // The old events borrow from the old batch, and nobody looks at them any more. They are not cleared, as the
  // decoder would only fill them in again: 300 bytes each.
  out.batch = std::move(batch);
  last_where_ = nullptr;  // a new source may use the address again
  for (const record& r : out.batch->records()) out.parts[stream_of(r.where)].records.push_back(r);
  for (std::size_t i = 0; i < out.parts.size(); ++i) {
    out.parts[i].stream = i;
    decoders_[i].decode(out.parts[i].records, out.parts[i].decoded);
    const stream_runtime& s = *(*streams_)[i];
    out.parts[i].plan = plan_step(s.rules, s.reduce.traits(), out.parts[i].decoded.events);
  }
}

decode_worker::decode_worker(const stream_list& streams, decode_on where) : stage_{streams} {
  if (where == decode_on::own_thread) thread_ = std::thread{[this] { work(); }};
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
  busy_ = true;
  {
    const std::lock_guard lock{mutex_};
    current_ = 1 - current_;
    waiting_ = std::move(batch);
    done_ = false;
  }
  changed_.notify_all();
}

decoded_input& decode_worker::take() {
  if (thread_.joinable()) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return done_; });
  } else {
    stage_.run(std::move(waiting_), inputs_[current_]);
  }
  busy_ = false;
  return inputs_[current_];
}

void decode_worker::work() {
  name_this_thread("ratchet:decode");
  std::unique_lock lock{mutex_};
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || waiting_ != nullptr; });
    if (stopping_) return;
    std::unique_ptr<record_batch> batch = std::move(waiting_);
    decoded_input& out = inputs_[current_];
    lock.unlock();
    stage_.run(std::move(batch), out);
    lock.lock();
    done_ = true;
    changed_.notify_all();
  }
}

}  // namespace ratchet
