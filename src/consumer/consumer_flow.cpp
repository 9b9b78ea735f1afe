// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of consumer_session that pauses partitions and reads on, as flow control says.
#include <utility>
#include <vector>

#include "consumer/consumer_session.hpp"

namespace ratchet {

turn_result<> consumer_session::keep_flow(time_point now) {
  const bool held_all = flow_.holds_all();
  flow_.look(now);
  if (flow_.space().low()) {
    RATCHET_TRY(meet_full_disk(now));
  }
  if (held_all && !flow_.holds_all()) flow_.tell_of_room();
  if (!flow_.holds_any() && paused_streams_.empty()) return go_on();
  std::vector<topic_partition> held;
  std::vector<topic_partition> going_on;
  for (const auto& [where, unused] : partitions_.assigned()) {
    const partition_task* task = pipeline_.task_of(where.topic);
    if (task == nullptr) continue;
    if (flow_.holds(task->stream.id)) {
      held.push_back(where);
    } else if (paused_streams_.contains(task->stream.id) && !partitions_.is_stopped(where)) {
      going_on.push_back(where);
    }
  }
  paused_streams_.clear();
  for (const auto& s : deps_.streams) {
    if (flow_.holds(s->id)) paused_streams_.insert(s->id);
  }
  return pause_and_go_on(held, going_on);
}

turn_result<> consumer_session::pause_and_go_on(std::span<const topic_partition> held,
                                                std::span<const topic_partition> going_on) {
  // Each time: what was assigned since then is not paused yet. The member stays in its group, as it goes on
  // polling.
  if (!held.empty()) {
    if (const auto done = deps_.source.pause(held); !done)
      tell(deps_.log, log_kind::pause_failed, "the partitions could not be paused: {}",
           done.error().message());
  }
  if (going_on.empty()) return go_on();
  RATCHET_TRY(count_again(going_on));
  if (const auto done = deps_.source.resume(going_on); !done)
    tell(deps_.log, log_kind::pause_failed, "the partitions could not be resumed: {}",
         done.error().message());
  return go_on();
}

/// Whoever waits for the end of a run is told; a service waits for room.
turn_result<> consumer_session::meet_full_disk(time_point now) {
  if (!options_.until_end) {
    flow_.tell_of_disk(now);
    return go_on();
  }
  if (caught_up()) return go_on();  // it ends anyway
  session_result ended = finish(session_end::refused);
  if (ended.end == session_end::refused) ended.why = flow_.space().refusal();
  return ended;
}

}  // namespace ratchet
