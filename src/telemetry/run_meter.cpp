// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "telemetry/run_meter.hpp"

#include <algorithm>

namespace ratchet {

namespace {

constexpr std::array<double, 8> k_record_bounds{1, 10, 100, 1'000, 2'500, 5'000, 10'000, 100'000};

}  // namespace

std::chrono::milliseconds stream_sample::oldest_gap() const noexcept {
  if (!floor || !gap_since) return {};
  return std::max<std::chrono::milliseconds>(*floor + window - *gap_since, std::chrono::milliseconds{0});
}

run_meter::run_meter(const clock_port& clock, progress_bounds bounds)
    : clock_{clock},
      bounds_{bounds},
      last_beat_{now()},
      step_seconds_{k_duration_bounds},
      step_records_{k_record_bounds} {}

std::int64_t run_meter::now() const noexcept {
  return std::chrono::nanoseconds{clock_.steady().time_since_epoch()}.count();
}

void run_meter::beat() noexcept {
  last_beat_.store(now(), k_relaxed);
}

run_meter::long_work::long_work(run_meter& meter, const char* what) noexcept
    : meter_{meter}, before_{meter.long_work_.load(k_relaxed)} {
  meter_.beat();
  meter_.long_work_.store(what, std::memory_order_release);
}

run_meter::long_work::~long_work() {
  meter_.beat();  // first: the turn that follows has its whole time
  meter_.long_work_.store(before_, std::memory_order_release);
}

std::optional<std::string> run_meter::stalled() const {
  const char* what = long_work_.load(std::memory_order_acquire);
  const std::chrono::nanoseconds bound = what == nullptr ? bounds_.turn : bounds_.long_work;
  const std::chrono::nanoseconds since{now() - last_beat_.load(k_relaxed)};
  if (since <= bound) return std::nullopt;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since).count();
  return "no progress for " + std::to_string(seconds) + " s while " +
         (what == nullptr ? "handling records" : what);
}

void run_meter::step(std::chrono::nanoseconds took, std::size_t records) noexcept {
  step_seconds_.observe(std::chrono::duration<double>{took}.count());
  step_records_.observe(static_cast<double>(records));
}

void run_meter::durability(std::uint64_t undurable_steps,
                           std::chrono::steady_clock::time_point moved) noexcept {
  undurable_steps_.store(undurable_steps, k_relaxed);
  durable_moved_.store(std::chrono::nanoseconds{moved.time_since_epoch()}.count(), k_relaxed);
}

void run_meter::publish(state_sample sample) {
  const std::lock_guard lock{mutex_};
  std::swap(state_, sample);
}

void run_meter::publish(resource_sample sample) {
  const std::lock_guard lock{mutex_};
  std::swap(resources_, sample);
}

run_counts run_meter::counts() const {
  run_counts all;
  all.step_seconds = step_seconds_.snapshot();
  all.step_records = step_records_.snapshot();
  all.commits = commits_.load(k_relaxed);
  all.commit_failures = commit_failures_.load(k_relaxed);
  all.rebalances = rebalances_.load(k_relaxed);
  all.new_clients = new_clients_.load(k_relaxed);
  all.store_reopens = store_reopens_.load(k_relaxed);
  all.outputs_sent = outputs_sent_.load(k_relaxed);
  all.outputs_given_up = outputs_given_up_.load(k_relaxed);
  all.outputs_in_trouble = outputs_in_trouble_.load(k_relaxed);
  all.undurable_steps = undurable_steps_.load(k_relaxed);
  if (all.undurable_steps > 0) {
    all.durability_lag = std::chrono::nanoseconds{now() - durable_moved_.load(k_relaxed)};
  }
  return all;
}

state_sample run_meter::state() const {
  const std::lock_guard lock{mutex_};
  return state_;
}

resource_sample run_meter::resources() const {
  const std::lock_guard lock{mutex_};
  return resources_;
}

}  // namespace ratchet
