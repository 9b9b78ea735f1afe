// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of engine that says and writes what a start changes, once nothing stands against it.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "app/engine.hpp"
#include "app/sink_outlets.hpp"
#include "app/start_step.hpp"
#include "core/typed_command.hpp"
#include "pipeline/audit_rows.hpp"

namespace ratchet {

std::optional<problem> engine::accept_start() {
  step_batch batch;
  note_rebuild(batch);
  note_first_opening(batch);
  note_restarted_streams(batch);
  note_added_tables(batch);
  if (!batch.audits.empty()) {
    if (auto failed = write_at_start(*store_, config_.state.path, std::move(batch))) return failed;
  }
  put_aside_.reset();
  return discard_lanes(config_, *store_, options_.clock->now(), options_.log);
}

void engine::note_first_opening(step_batch& batch) {
  const auto copy = store_->copy();
  if (!copy || copy->opened) return;
  // Above every epoch that the store it was taken of can have drawn up to then: see outbox epochs at
  // takeover.
  std::uint64_t epoch = 1;
  for (const incarnation& i : store_->incarnations()) epoch = std::max(epoch, i.counter + 1);
  batch.audits.push_back(audit_of_first_opening(*copy, epoch, options_.clock->now()));
  batch.change.outbox_epoch = epoch;
  batch.change.note_copy_opened = true;
  tell(options_.log, log_kind::copy_opened, "{}", batch.audits.back().text);
}

void engine::note_added_tables(step_batch& batch) const {
  for (const added_table& added : store_->added_tables()) {
    audit_row& row = batch.audits.emplace_back();
    row.kind = "table_added";
    row.stream = added.stream;
    row.time = options_.clock->now();
    row.text = "the table `" + added.table + "` begins empty: events that were handled before are not in it";
    tell(options_.log, log_kind::table_added,
         "stream {}: {}; to have them in it, raise the reducer's version and start with {}", added.stream,
         row.text, typed_command("run", "--resume rebuild"));
  }
}

void engine::note_rebuild(step_batch& batch) const {
  if (!put_aside_) return;
  batch.audits.push_back(audit_of_rebuild(put_aside_->why, put_aside_->path.string(), options_.clock->now()));
  batch.audits.back().text += decided_by(options_.resumed_by);
}

void engine::note_restarted_streams(step_batch& batch) const {
  for (const restarted_stream& s : store_->restarted_streams()) {
    if (s.forgotten.consumed == 0) continue;
    batch.audits.push_back(audit_of_restarted_stream(s, options_.clock->now()));
    tell(options_.log, log_kind::stream_started_over, "stream {}: {}", s.stream, batch.audits.back().text);
  }
}

void engine::tell_unread_topics() const {
  for (const auto& task : tasks_) {
    const stream_config& s = task->stream.config;
    std::set<std::string> topics;
    for (const auto& [where, partition] : task->state.partitions) {
      if (!where.topic.empty() && partition.has_position()) topics.insert(where.topic);
    }
    for (const std::string& read : s.topics) topics.erase(read);
    for (const std::string& topic : topics) {
      tell(options_.log, log_kind::topic_unread,
           "stream {}: the state has offsets of the topic `{}`, which the config does not name: it is not "
           "read",
           s.name, topic);
    }
  }
}

}  // namespace ratchet
