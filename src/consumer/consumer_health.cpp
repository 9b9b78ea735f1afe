// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of consumer_session that tells how it fares: for metrics, status and readiness, never for a
// decision.
#include <algorithm>
#include <utility>

#include "consumer/consumer_session.hpp"

namespace ratchet {

namespace {

/// How often the ends of the logs that are read are looked up (in the client's memory), and what the process
/// holds.
constexpr std::chrono::seconds k_log_end_interval{1};
constexpr std::chrono::seconds k_resource_interval{5};
constexpr const char* k_clock_obstacle = "clock";
/// Of records that come now from the future and now not, the producers' clocks are at odds: what is wrong
/// once is over when nothing has spoken against the clock for so long.
constexpr std::chrono::seconds k_clock_settles{30};

}  // namespace

void consumer_session::tell_health(time_point now) {
  const std::uint64_t durable = durability_.covered();
  around_.meter.durability(around_.to.last_step() - std::min(durable, around_.to.last_step()),
                           durability_.moved_at());
  sampler_.turn(now, around_.settings.state.commit_interval);
  if (!last_log_ends_ || now - *last_log_ends_ >= k_log_end_interval) {
    last_log_ends_ = now;
    tell_log_ends();
  }
  ask_brokers(now);
  if (!last_resources_ || now - *last_resources_ >= k_resource_interval) {
    last_resources_ = now;
    tell_resources();
  }
}

void consumer_session::tell_log_ends() {
  for (const auto& [where, unused] : assigned_) {
    if (!is_fetched(where)) continue;  // what the client knows is of its last fetch
    const auto asked = asked_ends_.find(where);
    const auto end = around_.from.known_end(where);
    // An end that was told with all that came before it is not taken back by an older answer.
    const partition_state* state = pipeline_.find(where);
    if (!end || state == nullptr || *end < state->next_offset) continue;
    if (asked != asked_ends_.end() && *end < asked->second) continue;
    around_.board.set_log_end(stream_name(where), where, *end);
  }
}

void consumer_session::tell_resources() {
  resource_sample sample;
  sample.store = around_.to.statistics();
  sample.queued_bytes = around_.from.queued_bytes();
  sample.free_bytes = flow_.space().free();
  sample.reserve_bytes = flow_.space().reserve();
  around_.meter.publish(std::move(sample));
}

void consumer_session::watch_clock() {
  const auto fault = clock_watch_.fault(around_.clock.now());
  const time_point now = around_.clock.steady();
  if (fault) {
    around_.board.set_obstacle(k_clock_obstacle, *fault);
    if (!clock_was_wrong_) tell(around_.log, log_kind::clock_wrong, "{}", *fault);
    clock_was_wrong_ = now;
  } else if (!clock_was_wrong_ || now - *clock_was_wrong_ >= k_clock_settles) {
    around_.board.clear_obstacle(k_clock_obstacle);  // also what an earlier session met
    if (std::exchange(clock_was_wrong_, std::nullopt))
      tell(around_.log, log_kind::clock_right, "the clock is past what the state has seen again");
  }
}

}  // namespace ratchet
