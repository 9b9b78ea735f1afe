// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "pipeline/field_counts.hpp"

#include <utility>

#include "decode/time_text.hpp"
#include "pipeline/decode_worker.hpp"
#include "text/unlikely_times.hpp"

namespace ratchet {

namespace {

void tell_of_missing(const partition_task& task, const log_ptr& log) {
  for (const live_field& field : fields_of(task.stream.config, task.fields).fields) {
    if (field.found > 0) continue;
    tell_of(log, log_kind::field_never_found, {.stream = task.stream.config.name},
            "stream " + task.stream.config.name + ": none of the first " +
                std::to_string(task.fields.events) + " events has `" + field.name + "`, which envelope." +
                field.name + " takes from " + field.from +
                "; if that is a mistake, correct it soon: a later change needs a rebuild of the state");
  }
}

/// A few odd times are single producers' affair; where nine of ten are, what the config says of them is
/// wrong.
std::string words_on_unlikely_times(const stream_config& s, const field_counts& counts) {
  constexpr std::uint64_t k_enough = 8;
  if (counts.unlikely_times < k_enough || counts.unlikely_times * 10 < counts.events * 9) return {};
  std::string text =
      "nine of ten events are of times decades away from now, such as " + to_rfc3339(*counts.unlikely_time);
  const std::string hint =
      hint_on_unlikely_time(*counts.unlikely_time, s.envelope.time_unit, s.envelope.time);
  return text + (hint.empty() ? "; windows and gaps are measured by them" : "; " + hint);
}

void tell_of_unlikely_times(partition_task& task, const std::string& words, const log_ptr& log) {
  if (task.unlikely_times_told || words.empty()) return;
  task.unlikely_times_told = true;
  const std::string& name = task.stream.config.name;
  tell_of(log, log_kind::time_unlikely, {.stream = name}, "stream " + name + ": " + words);
}

}  // namespace

field_counts count_fields(std::span<const decoded_event> events) noexcept {
  field_counts counts;
  for (const decoded_event& e : events) {
    if (e.kind != decoded_kind::event) continue;
    ++counts.events;
    counts.types += e.type.empty() ? 0U : 1U;
    counts.times += e.time ? 1U : 0U;
    const std::optional<timestamp> time = e.time ? e.time : e.record_time;
    if (!time || !is_unlikely(*time)) continue;
    ++counts.unlikely_times;
    counts.unlikely_time = time;
  }
  return counts;
}

live_fields fields_of(const stream_config& s, const field_counts& counts) {
  live_fields all{counts.events, {}, {}};
  const auto add = [&all](const char* name, const std::string& from, std::uint64_t found) {
    if (!from.empty()) all.fields.push_back({name, from, found});
  };
  const envelope_config& e = s.envelope;
  add("event_id", e.event_id, counts.events);
  add("aggregate", e.aggregate, counts.events);
  if (s.order != order::arrival) {  // it is not read there
    add("sequence", e.sequence, counts.events);
    add("epoch", e.epoch, counts.events);
  }
  add("type", e.type, counts.types);
  add("time", e.time, counts.times);
  all.unlikely_times = words_on_unlikely_times(s, counts);
  return all;
}

void note_fields(const decoded_input& input, const task_list& tasks, instance_status& status,
                 const log_ptr& log) {
  for (const decoded_part& part : input.parts) {
    if (part.fields.events == 0) continue;
    partition_task& task = *tasks[part.stream];
    const std::uint64_t before = task.fields.events;
    task.fields += part.fields;
    live_fields found = fields_of(task.stream.config, task.fields);
    tell_of_unlikely_times(task, found.unlikely_times, log);
    status.set_fields(task.stream.config.name, std::move(found));
    if (before < k_events_to_tell && task.fields.events >= k_events_to_tell) tell_of_missing(task, log);
  }
}

}  // namespace ratchet
