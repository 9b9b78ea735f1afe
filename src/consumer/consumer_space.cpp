// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of consumer_session that stops reading before the disk is full, or while the outbox is.
#include <vector>

#include "consumer/consumer_session.hpp"

namespace ratchet {

std::optional<session_result> consumer_session::watch_space(time_point now) {
  const bool was_held_back = held_back();
  look_at_outbox();
  (void)space_.look(now);
  if (!held_back()) {
    if (was_held_back) {
      if (auto failed = read_on()) return failed;
    }
    return hold_streams();
  }
  if (space_.low()) {
    if (auto ended = tell_of_space(now)) return ended;
  } else {
    around_.board.clear_obstacle(space_guard::k_obstacle);
  }
  // Each time: what was assigned since then is not paused yet. The member stays in its group, as it goes on
  // polling.
  std::vector<topic_partition> read;
  for (const auto& [where, unused] : assigned_) read.push_back(where);
  if (const auto paused = around_.from.pause(read); !paused) {
    tell(around_.log, log_kind::pause_failed, "the partitions could not be paused: {}",
         paused.error().message());
  }
  return std::nullopt;
}

std::optional<session_result> consumer_session::tell_of_space(time_point now) {
  // Whoever waits for the end of a run is told; a service waits for room.
  if (options_.until_end) {
    if (caught_up()) return std::nullopt;  // it ends anyway
    session_result ended = finish(session_end::refused);
    if (ended.end == session_end::refused) ended.why = space_.refusal();
    return ended;
  }
  if (space_lines_.due(now))
    tell(around_.log, log_kind::disk_low, "{}; reading is paused until there is room", space_.text());
  around_.board.set_obstacle(space_guard::k_obstacle, space_.text());
  return std::nullopt;
}

std::optional<session_result> consumer_session::read_on() {
  tell(around_.log, log_kind::disk_has_room, "there is room again; reading goes on");
  around_.board.clear_obstacle(space_guard::k_obstacle);
  space_lines_ = log_pace{};
  if (auto failed = count_all_again()) return failed;
  std::vector<topic_partition> going_on;
  for (const auto& [where, unused] : assigned_) {
    if (!reported_stops_.contains(where)) going_on.push_back(where);
  }
  if (const auto resumed = around_.from.resume(going_on); !resumed) {
    tell(around_.log, log_kind::pause_failed, "the partitions could not be resumed: {}",
         resumed.error().message());
  }
  return std::nullopt;
}

}  // namespace ratchet
