// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/flow_control.hpp"

#include <utility>

#include "text/counted.hpp"
#include "text/units.hpp"

namespace ratchet {

namespace {

constexpr const char* k_outbox_condition = "outbox";

[[nodiscard]] std::string behind(const std::optional<std::string>& trouble) {
  return trouble ? ": " + *trouble : "";
}

}  // namespace

flow_control::flow_control(dependencies deps) : deps_{std::move(deps)}, space_{deps_.settings, deps_.space} {}

void flow_control::begin() {
  deps_.status.clear_condition(space_guard::k_condition);
  deps_.status.clear_condition(k_outbox_condition);
}

void flow_control::look(time_point now) {
  look_at_outbox();
  if (space_.look(now) && !space_.low()) deps_.status.clear_condition(space_guard::k_condition);
  if (holds_all()) return;
  look_at_sinks();
  look_at_deferred();
  streams_ = streams_to_hold();
}

void flow_control::tell_of_disk(time_point now) {
  if (space_lines_.due(now))
    tell(deps_.log, log_kind::disk_low, "{}; reading is paused until there is room{}", space_.text(),
         deps_.settings.replicate ? ", or until `ratchet handover` gives the state to the other instance"
                                  : "");
  deps_.status.raise_condition(space_guard::k_condition, space_.text());
}

void flow_control::tell_of_room() {
  tell(deps_.log, log_kind::disk_has_room, "there is room again; reading goes on");
  space_lines_ = log_pace{};
}

std::string flow_control::why_all() const {
  return space_.low() ? space_.text() : "more than outbox.bytes waits to be sent";
}

bool flow_control::is_full(std::uint64_t bytes, bool was_full) const noexcept {
  const std::uint64_t limit = deps_.settings.outbox.bytes;
  return bytes > (was_full ? limit / 4 * 3 : limit);
}

void flow_control::look_at_outbox() {
  const bool full = is_full(deps_.store.outbox().bytes, outbox_is_full_);
  if (full == outbox_is_full_) return;
  outbox_is_full_ = full;
  if (!full) return deps_.status.clear_condition(k_outbox_condition);
  const std::string why = "more than outbox.bytes (" + format_size(deps_.settings.outbox.bytes) +
                          ") waits to be sent: reading is paused" +
                          behind(deps_.delivery.trouble_of_topics());
  tell(deps_.log, log_kind::outbox_full, "{}", why);
  deps_.status.raise_condition(k_outbox_condition, why);
}

void flow_control::look_at_sinks() {
  if (deps_.delivery.sinks().empty()) return;
  const outbox_lanes lanes = deps_.store.outboxes();
  for (const sink_sender& sink : deps_.delivery.sinks()) {
    const bool was_full = full_sinks_.contains(sink.name());
    const bool full = is_full(lanes.of(sink.name()).bytes, was_full);
    if (full == was_full) continue;
    if (!full) {
      full_sinks_.erase(sink.name());
      deps_.status.clear_condition(condition_of(sink.name()));
      continue;
    }
    full_sinks_.insert(sink.name());
    const std::string why = "more than outbox.bytes (" + format_size(deps_.settings.outbox.bytes) +
                            ") waits for the sink `" + sink.name() +
                            "`: streams that publish there are paused" + behind(sink.trouble());
    tell(deps_.log, log_kind::outbox_full, "{}", why);
    deps_.status.raise_condition(condition_of(sink.name()), why);
  }
}

void flow_control::look_at_deferred() {
  for (const auto& task : deps_.tasks) {
    const bool was_full = full_streams_.contains(task->stream.id);
    if (deps_.steps.is_nearly_full(*task, was_full) == was_full) continue;
    const std::string waits = counted(task->state.counters.waiting(), "deferred event");
    if (was_full) {
      full_streams_.erase(task->stream.id);
      tell(deps_.log, log_kind::reading_resumed, "stream `{}`: {} left; reading goes on",
           task->stream.config.name, waits);
    } else {
      full_streams_.insert(task->stream.id);
      tell(deps_.log, log_kind::reading_paused,
           "stream `{}`: {} wait, nearly as many as `waiting` allows: its reducer is slower than the topic; "
           "reading pauses until fewer wait",
           task->stream.config.name, waits);
    }
  }
}

std::set<stream_id> flow_control::streams_to_hold() const {
  std::set<stream_id> held = full_streams_;
  if (full_sinks_.empty()) return held;
  for (const auto& task : deps_.tasks) {
    for (const std::string& to : topics_published_to(task->stream.config)) {
      if (full_sinks_.contains(std::string{sink_of(to)})) held.insert(task->stream.id);
    }
  }
  return held;
}

}  // namespace ratchet
