// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/session_reporter.hpp"

#include <algorithm>
#include <utility>

namespace ratchet {

namespace {

/// How often it is looked up what the process holds.
constexpr std::chrono::seconds k_resource_interval{5};
constexpr const char* k_clock_condition = "clock";
/// Of records that come now from the future and now not, the producers' clocks are at odds: what is wrong
/// once is over when nothing has spoken against the clock for so long.
constexpr std::chrono::seconds k_clock_settles{30};

}  // namespace

session_reporter::session_reporter(dependencies deps)
    : deps_{std::move(deps)},
      sampler_{deps_.tasks, deps_.store, deps_.meter},
      lines_{deps_.log, deps_.streams},
      clock_watch_{deps_.tasks} {}

session_reporter::~session_reporter() {
  lines_.end();
}

void session_reporter::note(const step_batch& step) {
  sampler_.note(step);
  lines_.tell(step, deps_.clock.steady());
}

void session_reporter::look_at(std::span<const record> records) {
  clock_watch_.look_at(records, deps_.clock.now());
}

void session_reporter::turn(time_point now) {
  const std::uint64_t last = deps_.store.last_step();
  deps_.meter.durability(last - std::min(deps_.durable.covered(), last), deps_.durable.moved_at());
  sampler_.turn(now, deps_.settings.state.commit_interval);
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
  sample.store = deps_.store.statistics();
  sample.queued_bytes = deps_.source.queued_bytes();
  sample.free_bytes = deps_.flow.space().free();
  sample.reserve_bytes = deps_.flow.space().reserve();
  deps_.meter.publish(std::move(sample));
}

void session_reporter::watch_clock() {
  const auto fault = clock_watch_.fault(deps_.clock.now());
  const time_point now = deps_.clock.steady();
  if (fault) {
    deps_.status.raise_condition(k_clock_condition, *fault);
    if (!clock_was_wrong_) tell(deps_.log, log_kind::clock_wrong, "{}", *fault);
    clock_was_wrong_ = now;
  } else if (!clock_was_wrong_ || now - *clock_was_wrong_ >= k_clock_settles) {
    deps_.status.clear_condition(k_clock_condition);  // also what an earlier session met
    if (std::exchange(clock_was_wrong_, std::nullopt))
      tell(deps_.log, log_kind::clock_right,
           "the clock is no longer behind the times that the state has seen");
  }
}

}  // namespace ratchet
