// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "workload/workload_campaign.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

#include "workload/workload_process.hpp"
#include "workload/workload_stored.hpp"

namespace ratchet {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::string_view k_stream = "payments";
constexpr auto k_no_progress = std::chrono::seconds{60};       // a rebalance may take a session's time-out
constexpr auto k_watch_flow = std::chrono::microseconds{200};  // between two looks while records flow
constexpr auto k_verify_limit = std::chrono::minutes{2};
constexpr double k_killing_part =
    0.9;  // the kills land in this part of the stream, the last run has the rest
constexpr std::uint64_t k_most_phase_us = 3'000;

problem failed(std::string message, const std::filesystem::path& log) {
  auto tail = tail_of(log);
  if (!tail.empty()) message += "; the end of its log:\n" + tail;
  return {errc::check_failed, std::move(message), "All of its output is in " + log.string(), {}};
}

std::uint64_t sum(const partition_offsets& offsets) {
  std::int64_t total = 0;
  for (const auto& [partition, next] : offsets) total += next;
  return static_cast<std::uint64_t>(total);
}

/// What a run has come to: what it delivered, and the stored offset of the partitions it has not read from
/// yet.
partition_offsets with_delivered(partition_offsets stored, const partition_offsets& delivered) {
  for (const auto& [partition, next] : delivered) {
    auto& known = stored[partition];
    known = std::max(known, next);
  }
  return stored;
}

class campaign {
 public:
  campaign(const campaign_plan& plan, const workload_oracle& oracle, const campaign_watch& watch)
      : plan_{plan}, oracle_{oracle}, watch_{watch}, random_{plan.seed}, log_{plan.directory / "run.log"} {}

  reported<campaign_outcome> run() {
    RATCHET_TRY(write_config());
    const auto most_attempts = plan_.kills * 3 + 20;
    for (std::uint32_t attempt = 0; attempt < most_attempts; ++attempt) {
      if (outcome_.kills.size() == plan_.kills || sum(stored_) >= oracle_.records()) break;
      RATCHET_TRY(run_and_kill());
    }
    RATCHET_TRY(run_to_the_end());
    RATCHET_TRY(compare());
    return std::move(outcome_);
  }

 private:
  reported<void> write_config();
  reported<workload_process> start();
  reported<bool> flow_until(workload_process& process, std::uint64_t target);
  reported<void> run_and_kill();
  reported<void> look_after_kill(const partition_offsets& delivered, bool killed);
  reported<void> verify();
  reported<void> run_to_the_end();
  reported<void> compare();
  std::uint64_t next_target();

  const campaign_plan& plan_;
  const workload_oracle& oracle_;
  const campaign_watch& watch_;
  workload_random random_;
  std::filesystem::path log_;
  partition_offsets stored_;
  steady_clock::time_point killed_at_{};
  campaign_outcome outcome_;
};

reported<void> campaign::write_config() {
  std::ofstream file{plan_.directory / "ratchet.yaml"};
  file << "version: 1\n"
       << "kafka:\n"
       << "  brokers: [\"" << plan_.brokers << "\"]\n"
       << "  group: " << plan_.group << "\n"
       << "  properties:\n";
  for (const auto& [name, value] : plan_.properties) file << "    " << name << ": \"" << value << "\"\n";
  file << "state: {path: \"" << std::filesystem::absolute(plan_.state).string() << "\"}\n"
       << "step: {records: " << plan_.step_records << "}\n"
       << "streams:\n"
       << "  - name: " << k_stream << "\n"
       << "    topics: [" << plan_.topic << "]\n"
       << "    start: earliest\n"
       << "    envelope: {format: json, event_id: /id, aggregate: /payment/id, sequence: /sequence, type: "
          "/type,\n"
       << "               time: /occurred_at}\n"
       << "    order: latest\n"
       << "    dedup: {ids: uuidv7, window: 24h, max_skew: 5m}\n"
       << "    reducer: {kind: replace, from: /payment}\n";
  file.close();
  if (!file) return problem{errc::io, "cannot write " + (plan_.directory / "ratchet.yaml").string(), {}, {}};
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

reported<workload_process> campaign::start() {
  std::this_thread::sleep_until(killed_at_ + plan_.restart_delay);
  std::error_code ignored;  // what the run before left would be taken for this one's
  std::filesystem::remove(plan_.state / "delivered", ignored);
  return workload_process::start(
      {plan_.binary.string(), "run", "-c", (plan_.directory / "ratchet.yaml").string(), "--until-end"},
      {"RATCHET_TRACE_DELIVERED=1"}, log_);
}

/// Watches a run until it has delivered up to `target`. False: it came to the end before, with exit code 0.
reported<bool> campaign::flow_until(workload_process& process, std::uint64_t target) {
  const auto from = sum(stored_);
  auto at = from;
  auto progress_at = steady_clock::now();
  std::optional<steady_clock::time_point> flowing_since;
  for (;;) {
    const auto ended = process.ended();
    const auto now = steady_clock::now();
    if (const auto position = sum(with_delivered(stored_, read_delivered(plan_.state))); position > at) {
      if (!flowing_since) flowing_since = now;
      progress_at = now;
      at = position;
    }
    if (watch_.progress) watch_.progress(at);
    if (ended || at >= target) {
      if (flowing_since) outcome_.flow += now - *flowing_since;
      outcome_.records_read += at - from;
      if (ended && *ended != 0)
        return failed("ratchet run ended with exit code " + std::to_string(*ended), log_);
      return !ended;
    }
    if (watch_.stop && watch_.stop()) return problem{errc::aborted, "stopped", {}, {}};
    if (now - progress_at > k_no_progress) return failed("ratchet run makes no progress", log_);
    std::this_thread::sleep_for(flowing_since ? k_watch_flow : milliseconds{2});
  }
}

/// At random, so that the kills that are left are spread over what is left of their part of the stream.
std::uint64_t campaign::next_target() {
  const auto stored = sum(stored_);
  const auto left = plan_.kills - outcome_.kills.size();
  const auto end = static_cast<std::uint64_t>(static_cast<double>(oracle_.records()) * k_killing_part);
  const auto share = end > stored ? (end - stored) / left : 0;
  return std::min(stored + 1 + share / 2 + random_.below(std::max<std::uint64_t>(share, 1)),
                  std::max(end, stored + 1));
}

reported<void> campaign::run_and_kill() {
  RATCHET_TRY(auto process, start());
  RATCHET_TRY(const bool flows, flow_until(process, next_target()));
  // Not always right after a batch was handed over: any moment of the step that follows, too.
  if (flows) std::this_thread::sleep_for(std::chrono::microseconds{random_.below(k_most_phase_us)});
  const bool killed = flows && process.kill();
  killed_at_ = steady_clock::now();
  return look_after_kill(read_delivered(plan_.state), killed);
}

reported<void> campaign::look_after_kill(const partition_offsets& delivered, bool killed) {
  RATCHET_TRY(const auto found, read_stored(plan_.state, k_stream));
  campaign_kill kill;
  for (const auto& [partition, next] : stored_) {
    const auto now = found.next_offsets.find(partition);
    if (now == found.next_offsets.end() || now->second < next) {
      return failed("after a kill the stored offset of partition " + std::to_string(partition) +
                        " is below " + std::to_string(next) + ", where it had been",
                    log_);
    }
  }
  stored_ = found.next_offsets;
  for (const auto& [partition, next] : delivered) {
    const auto stored = stored_.find(partition);
    kill.read_again += static_cast<std::uint64_t>(
        std::max<std::int64_t>(0, next - (stored == stored_.end() ? 0 : stored->second)));
  }
  kill.delivered = sum(with_delivered(stored_, delivered));
  kill.stored = sum(stored_);
  if (killed && kill.read_again > 0 && kill.delivered < oracle_.records()) {
    outcome_.kills.push_back(kill);
    if (watch_.killed) watch_.killed(kill);
  } else {
    ++outcome_.missed;
  }
  if (plan_.verify) return verify();
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

reported<void> campaign::verify() {
  const auto log = plan_.directory / "verify.log";
  RATCHET_TRY(auto process, workload_process::start(
                                {plan_.binary.string(), "verify", "--state", plan_.state.string()}, {}, log));
  const auto code = process.wait(k_verify_limit);
  if (!code) return failed("ratchet verify does not come to an end", log);
  if (*code != 0) return failed("ratchet verify ended with exit code " + std::to_string(*code), log);
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

reported<void> campaign::run_to_the_end() {
  RATCHET_TRY(auto process, start());
  RATCHET_TRY(flow_until(process, oracle_.records()));
  const auto code = process.wait(k_no_progress);
  if (!code) return failed("ratchet run --until-end read everything, but does not end", log_);
  if (*code != 0) return failed("ratchet run ended with exit code " + std::to_string(*code), log_);
  if (plan_.verify) return verify();
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

reported<void> campaign::compare() {
  RATCHET_TRY(const auto found, read_stored(plan_.state, k_stream));
  workload_comparison comparison{oracle_};
  RATCHET_TRY(compare_stored(plan_.state, k_stream, comparison));
  outcome_.ledger = found.ledger;
  outcome_.verdict = comparison.text();
  outcome_.fault = ledger_fault(oracle_, found.ledger);
  if (!comparison.right()) outcome_.fault = outcome_.verdict;
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

}  // namespace

reported<campaign_outcome> run_campaign(const campaign_plan& plan, const workload_oracle& oracle,
                                        const campaign_watch& watch) {
  return campaign{plan, oracle, watch}.run();
}

partition_offsets read_delivered(const std::filesystem::path& state) {
  partition_offsets offsets;
  std::ifstream file{state / "delivered"};
  for (std::string line; std::getline(file, line) && !file.eof();) {
    std::istringstream fields{line};
    std::string topic;
    std::int32_t partition = 0;
    std::int64_t next = 0;
    if (fields >> topic >> partition >> next) offsets[partition] = next;
  }
  return offsets;
}

}  // namespace ratchet
