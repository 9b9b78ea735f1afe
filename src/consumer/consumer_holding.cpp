// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of consumer_session that pauses streams which make more than others can take, each on its own.
#include <algorithm>
#include <string>
#include <vector>

#include "consumer/consumer_session.hpp"
#include "text/counted.hpp"

namespace ratchet {

void consumer_session::look_at_deferred() {
  for (const auto& s : around_.streams) {
    const bool was_full = full_streams_.contains(s->id);
    if (pipeline_.is_nearly_full(*s, was_full) == was_full) continue;
    const std::string waits = counted(s->state.counters.waiting(), "deferred event");
    if (was_full) {
      full_streams_.erase(s->id);
      tell(around_.log, log_kind::reading_resumed, "stream `{}`: {} left; reading goes on", s->config.name,
           waits);
    } else {
      full_streams_.insert(s->id);
      tell(around_.log, log_kind::reading_paused,
           "stream `{}`: {} wait, nearly as many as `waiting` allows: its reducer is slower than what comes, "
           "so that reading pauses until half as many may come",
           s->config.name, waits);
    }
  }
}

std::set<stream_id> consumer_session::streams_to_hold() const {
  std::set<stream_id> held = full_streams_;
  if (full_sinks_.empty()) return held;
  for (const auto& s : around_.streams) {
    for (const std::string& to : topics_published_to(s->config)) {
      if (full_sinks_.contains(std::string{sink_of(to)})) held.insert(s->id);
    }
  }
  return held;
}

std::optional<session_result> consumer_session::hold_streams() {
  look_at_sinks();
  look_at_deferred();
  std::set<stream_id> held = streams_to_hold();
  if (held.empty() && held_streams_.empty()) return std::nullopt;
  // Each time: what was assigned since then is not paused yet.
  std::vector<topic_partition> paused;
  std::vector<topic_partition> going_on;
  for (const auto& [where, unused] : assigned_) {
    const stream_runtime* stream = pipeline_.stream_of(where.topic);
    if (stream == nullptr) continue;
    if (held.contains(stream->id)) {
      paused.push_back(where);
    } else if (held_streams_.contains(stream->id) && !reported_stops_.contains(where)) {
      going_on.push_back(where);
    }
  }
  held_streams_ = std::move(held);
  if (const auto done = around_.from.pause(paused); !done)
    tell(around_.log, log_kind::pause_failed, "the partitions could not be paused: {}",
         done.error().message());
  if (going_on.empty()) return std::nullopt;
  if (auto failed = count_again(going_on)) return failed;
  if (const auto done = around_.from.resume(going_on); !done)
    tell(around_.log, log_kind::pause_failed, "the partitions could not be resumed: {}",
         done.error().message());
  return std::nullopt;
}

}  // namespace ratchet
