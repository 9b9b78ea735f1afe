// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/session_reporter.hpp"

#include <algorithm>
#include <utility>

namespace ratchet {

namespace {

/// How often it is looked up what the process holds.
constexpr std::chrono::seconds k_resource_interval{5};
constexpr const char* k_clock_obstacle = "clock";
/// Of records that come now from the future and now not, the producers' clocks are at odds: what is wrong
/// once is over when nothing has spoken against the clock for so long.
constexpr std::chrono::seconds k_clock_settles{30};

}  // namespace

session_reporter::session_reporter(surroundings around)
    : around_{std::move(around)},
      sampler_{around_.tasks, around_.of, around_.meter},
      lines_{around_.log, around_.streams},
      clock_watch_{around_.tasks} {}

session_reporter::~session_reporter() {
  lines_.end();
}

void session_reporter::note(const step_batch& step) {
  sampler_.note(step);
  lines_.tell(step, around_.clock.steady());
}

void session_reporter::look_at(std::span<const record> records) {
  clock_watch_.look_at(records, around_.clock.now());
}

void session_reporter::turn(time_point now) {
  const std::uint64_t last = around_.of.last_step();
  around_.meter.durability(last - std::min(around_.durable.covered(), last), around_.durable.moved_at());
  sampler_.turn(now, around_.settings.state.commit_interval);
  lines_.turn(now);
  if (last_resources_ && now - *last_resources_ < k_resource_interval) return;
  last_resources_ = now;
  tell_resources();
}

void session_reporter::end(time_point now) {
  sampler_.turn(now, std::chrono::milliseconds{0});  // what was taken before
  sampler_.turn(now, std::chrono::milliseconds{0});  // and the rest
}

void session_reporter::tell_resources() {
  resource_sample sample;
  sample.store = around_.of.statistics();
  sample.queued_bytes = around_.from.queued_bytes();
  sample.free_bytes = around_.flow.space().free();
  sample.reserve_bytes = around_.flow.space().reserve();
  around_.meter.publish(std::move(sample));
}

void session_reporter::watch_clock() {
  const auto fault = clock_watch_.fault(around_.clock.now());
  const time_point now = around_.clock.steady();
  if (fault) {
    around_.board.set_obstacle(k_clock_obstacle, *fault);
    if (!clock_was_wrong_) tell(around_.log, log_kind::clock_wrong, "{}", *fault);
    clock_was_wrong_ = now;
  } else if (!clock_was_wrong_ || now - *clock_was_wrong_ >= k_clock_settles) {
    around_.board.clear_obstacle(k_clock_obstacle);  // also what an earlier session met
    if (std::exchange(clock_was_wrong_, std::nullopt))
      tell(around_.log, log_kind::clock_right,
           "the clock is no longer behind the times that the state has seen");
  }
}

}  // namespace ratchet
