// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/flow_control.hpp"

#include <utility>

#include "text/counted.hpp"
#include "text/units.hpp"

namespace ratchet {

namespace {

constexpr const char* k_outbox_obstacle = "outbox";

[[nodiscard]] std::string behind(const std::optional<std::string>& trouble) {
  return trouble ? ": " + *trouble : "";
}

}  // namespace

flow_control::flow_control(surroundings around)
    : around_{std::move(around)}, space_{around_.settings, around_.space} {}

void flow_control::begin() {
  around_.board.clear_obstacle(space_guard::k_obstacle);
  around_.board.clear_obstacle(k_outbox_obstacle);
}

void flow_control::look(time_point now) {
  look_at_outbox();
  if (space_.look(now) && !space_.low()) around_.board.clear_obstacle(space_guard::k_obstacle);
  if (holds_all()) return;
  look_at_sinks();
  look_at_deferred();
  streams_ = streams_to_hold();
}

void flow_control::tell_of_disk(time_point now) {
  if (space_lines_.due(now))
    tell(around_.log, log_kind::disk_low, "{}; reading is paused until there is room", space_.text());
  around_.board.set_obstacle(space_guard::k_obstacle, space_.text());
}

void flow_control::tell_of_room() {
  tell(around_.log, log_kind::disk_has_room, "there is room again; reading goes on");
  space_lines_ = log_pace{};
}

std::string flow_control::why_all() const {
  return space_.low() ? space_.text() : "more than outbox.bytes waits to be sent";
}

bool flow_control::is_full(std::uint64_t bytes, bool was_full) const noexcept {
  const std::uint64_t limit = around_.settings.outbox.bytes;
  return bytes > (was_full ? limit / 4 * 3 : limit);
}

void flow_control::look_at_outbox() {
  const bool full = is_full(around_.of.outbox().bytes, outbox_is_full_);
  if (full == outbox_is_full_) return;
  outbox_is_full_ = full;
  if (!full) return around_.board.clear_obstacle(k_outbox_obstacle);
  const std::string why = "more than outbox.bytes (" + format_size(around_.settings.outbox.bytes) +
                          ") waits to be sent: reading is paused" +
                          behind(around_.delivery.trouble_of_topics());
  tell(around_.log, log_kind::outbox_full, "{}", why);
  around_.board.set_obstacle(k_outbox_obstacle, why);
}

void flow_control::look_at_sinks() {
  if (around_.delivery.sinks().empty()) return;
  const outbox_lanes lanes = around_.of.outboxes();
  for (const sink_sender& sink : around_.delivery.sinks()) {
    const bool was_full = full_sinks_.contains(sink.name());
    const bool full = is_full(lanes.of(sink.name()).bytes, was_full);
    if (full == was_full) continue;
    if (!full) {
      full_sinks_.erase(sink.name());
      around_.board.clear_obstacle(obstacle_of(sink.name()));
      continue;
    }
    full_sinks_.insert(sink.name());
    const std::string why = "more than outbox.bytes (" + format_size(around_.settings.outbox.bytes) +
                            ") waits for the sink `" + sink.name() +
                            "`: streams that publish there are paused" + behind(sink.trouble());
    tell(around_.log, log_kind::outbox_full, "{}", why);
    around_.board.set_obstacle(obstacle_of(sink.name()), why);
  }
}

void flow_control::look_at_deferred() {
  for (const auto& task : around_.tasks) {
    const bool was_full = full_streams_.contains(task->stream.id);
    if (around_.steps.is_nearly_full(*task, was_full) == was_full) continue;
    const std::string waits = counted(task->state.counters.waiting(), "deferred event");
    if (was_full) {
      full_streams_.erase(task->stream.id);
      tell(around_.log, log_kind::reading_resumed, "stream `{}`: {} left; reading goes on",
           task->stream.config.name, waits);
    } else {
      full_streams_.insert(task->stream.id);
      tell(around_.log, log_kind::reading_paused,
           "stream `{}`: {} wait, nearly as many as `waiting` allows: its reducer is slower than the topic; "
           "reading pauses until fewer wait",
           task->stream.config.name, waits);
    }
  }
}

std::set<stream_id> flow_control::streams_to_hold() const {
  std::set<stream_id> held = full_streams_;
  if (full_sinks_.empty()) return held;
  for (const auto& task : around_.tasks) {
    for (const std::string& to : topics_published_to(task->stream.config)) {
      if (full_sinks_.contains(std::string{sink_of(to)})) held.insert(task->stream.id);
    }
  }
  return held;
}

}  // namespace ratchet
