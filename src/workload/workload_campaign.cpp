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
constexpr auto k_call_limit = std::chrono::minutes{2};
constexpr int k_exit_ok = 0;
constexpr int k_exit_refused = 78;  // sysexits.h, EX_CONFIG: the state does not fit
constexpr double k_killing_part =
    0.9;  // the kills land in this part of the stream, the last run has the rest
constexpr std::uint64_t k_most_phase_us = 3'000;

problem failed(std::string message, const std::filesystem::path& log) {
  problem p{errc::check_failed, std::move(message), "All of its output is in " + log.string(), {}};
  std::istringstream tail{tail_of(log)};
  for (std::string line; std::getline(tail, line);) p.diagnostics.push_back({"", 0, 0, "", line, ""});
  if (!p.diagnostics.empty()) p.message += "; the end of its log:";
  return p;
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

std::filesystem::path config_file(const campaign_plan& plan) {
  return plan.directory / "ratchet.yaml";
}

enum class disturbance : std::uint8_t { kill, bounce, restore };

/// Everything that is to happen, in turn: the bounces spread between the kills, the restore in the middle.
std::vector<disturbance> schedule_of(const campaign_plan& plan) {
  std::vector<disturbance> all(plan.kills, disturbance::kill);
  for (std::uint32_t i = 0; i < plan.bounces; ++i) {
    const std::size_t at = (i + 1) * (all.size() + 1) / (plan.bounces + 1);
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(std::min(at, all.size())), disturbance::bounce);
  }
  if (plan.restore)
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), disturbance::restore);
  return all;
}

class campaign {
 public:
  campaign(const campaign_plan& plan, const workload_oracle& oracle, const campaign_watch& watch)
      : plan_{plan},
        oracle_{oracle},
        watch_{watch},
        random_{plan.seed},
        log_{plan.directory / "run.log"},
        schedule_{schedule_of(plan)} {}

  reported<campaign_outcome> run() {
    RATCHET_TRY(write_config());
    const auto most_attempts = plan_.kills * 3 + 20;
    for (std::uint32_t attempt = 0; attempt < most_attempts && next_ < schedule_.size(); ++attempt) {
      if (sum(stored_) >= oracle_.records()) break;
      switch (schedule_[next_]) {
        case disturbance::kill: {
          RATCHET_TRY(run_and_kill());
          break;
        }
        case disturbance::bounce: {
          RATCHET_TRY(run_and_bounce());
          break;
        }
        case disturbance::restore: {
          RATCHET_TRY(run_and_restore());
          break;
        }
      }
    }
    RATCHET_TRY(run_to_the_end());
    RATCHET_TRY(compare());
    return std::move(outcome_);
  }

 private:
  reported<void> write_config();
  reported<workload_process> start();
  reported<void> ensure_running();
  reported<bool> flow_until(std::uint64_t target);
  reported<void> run_and_kill();
  reported<void> run_and_bounce();
  reported<void> run_and_restore();
  reported<void> call(const std::string& command, std::vector<std::string> rest, int expected);
  reported<void> put_checkpoint_in_place();
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
  std::vector<disturbance> schedule_;
  std::size_t next_{0};  ///< of the schedule
  std::optional<workload_process> running_;
  std::uint64_t at_{0};     ///< how far the running consumer has come
  bool takes_over_{false};  ///< the next start is one of a copy
  partition_offsets stored_;
  steady_clock::time_point killed_at_{};
  campaign_outcome outcome_;
};

reported<void> campaign::write_config() {
  std::ofstream file{config_file(plan_)};
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
  if (!file) return problem{errc::io, "cannot write " + config_file(plan_).string(), {}, {}};
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

reported<workload_process> campaign::start() {
  std::this_thread::sleep_until(killed_at_ + plan_.restart_delay);
  std::error_code ignored;  // what the run before left would be taken for this one's
  std::filesystem::remove(plan_.state / "delivered", ignored);
  std::vector<std::string> arguments{plan_.binary.string(), "run", "-c", config_file(plan_).string(),
                                     "--until-end"};
  if (std::exchange(takes_over_, false)) arguments.insert(arguments.end(), {"--resume", "takeover"});
  ++outcome_.runs;
  return workload_process::start(arguments, {"RATCHET_TRACE_DELIVERED=1"}, log_);
}

reported<void> campaign::ensure_running() {
  if (running_) return BOOST_OUTCOME_V2_NAMESPACE::success();
  RATCHET_TRY(auto process, start());
  running_.emplace(std::move(process));
  at_ = sum(stored_);
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

/// Watches the consumer until it has delivered up to `target`. False: it came to the end before, with exit
/// code 0.
reported<bool> campaign::flow_until(std::uint64_t target) {
  RATCHET_TRY(ensure_running());
  const auto from = at_;
  auto progress_at = steady_clock::now();
  std::optional<steady_clock::time_point> flowing_since;
  for (;;) {
    const auto ended = running_->ended();
    const auto now = steady_clock::now();
    if (const auto position = sum(with_delivered(stored_, read_delivered(plan_.state))); position > at_) {
      if (!flowing_since) flowing_since = now;
      progress_at = now;
      at_ = position;
    }
    if (watch_.progress) watch_.progress(at_);
    if (ended || at_ >= target) {
      if (flowing_since) outcome_.flow += now - *flowing_since;
      outcome_.records_read += at_ - from;
      if (ended && *ended != 0)
        return failed("ratchet run ended with exit code " + std::to_string(*ended), log_);
      return !ended;
    }
    if (watch_.stop && watch_.stop()) return problem{errc::aborted, "stopped", {}, {}};
    if (now - progress_at > k_no_progress) return failed("ratchet run makes no progress", log_);
    std::this_thread::sleep_for(flowing_since ? k_watch_flow : milliseconds{2});
  }
}

/// At random, so that what is left to happen is spread over what is left of its part of the stream.
std::uint64_t campaign::next_target() {
  const auto from = running_ ? at_ : sum(stored_);
  const auto left = schedule_.size() - next_;
  const auto end = static_cast<std::uint64_t>(static_cast<double>(oracle_.records()) * k_killing_part);
  const auto share = end > from ? (end - from) / left : 0;
  return std::min(from + 1 + share / 2 + random_.below(std::max<std::uint64_t>(share, 1)),
                  std::max(end, from + 1));
}

reported<void> campaign::run_and_kill() {
  RATCHET_TRY(const bool flows, flow_until(next_target()));
  // Not always right after a batch was handed over: any moment of the step that follows, too.
  if (flows) std::this_thread::sleep_for(std::chrono::microseconds{random_.below(k_most_phase_us)});
  const bool killed = flows && running_->kill();
  running_.reset();
  killed_at_ = steady_clock::now();
  return look_after_kill(read_delivered(plan_.state), killed);
}

/// The consumer is not told: it has to ride it out.
reported<void> campaign::run_and_bounce() {
  ++next_;
  RATCHET_TRY(const bool flows, flow_until(next_target()));
  if (!flows) return failed("the stream ended before the broker was to go away", log_);
  RATCHET_TRY(plan_.bounce());
  outcome_.bounces.push_back(at_);
  if (watch_.bounced) watch_.bounced(at_);
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

/// Runs `ratchet COMMAND`, which must end as expected.
reported<void> campaign::call(const std::string& command, std::vector<std::string> rest, int expected) {
  const auto log = plan_.directory / (command + ".log");
  std::vector<std::string> arguments{plan_.binary.string(), command};
  arguments.insert(arguments.end(), rest.begin(), rest.end());
  RATCHET_TRY(auto process, workload_process::start(arguments, {}, log));
  const auto code = process.wait(k_call_limit);
  if (!code) return failed("ratchet " + command + " does not come to an end", log);
  if (*code != expected) {
    return failed("ratchet " + command + " ended with exit code " + std::to_string(*code) + ", not " +
                      std::to_string(expected),
                  log);
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

/// A checkpoint is taken while records flow; then more are handled, and the directory is gone.
reported<void> campaign::run_and_restore() {
  ++next_;
  const auto checkpoint = plan_.directory / "checkpoint";
  RATCHET_TRY(bool flows, flow_until(next_target()));
  if (!flows) return failed("the stream ended before a checkpoint was taken", log_);
  RATCHET_TRY(call("checkpoint", {"-c", config_file(plan_).string(), checkpoint.string()}, k_exit_ok));
  RATCHET_TRY(flows, flow_until(next_target()));
  if (!flows || !running_->kill()) return failed("the stream ended before the state was lost", log_);
  running_.reset();
  killed_at_ = steady_clock::now();
  RATCHET_TRY(put_checkpoint_in_place());
  RATCHET_TRY(const auto found, read_stored(plan_.state, k_stream));
  stored_ = found.next_offsets;
  outcome_.restore = campaign_restore{sum(stored_), at_};
  std::this_thread::sleep_until(killed_at_ + plan_.restart_delay);
  RATCHET_TRY(call("run", {"-c", config_file(plan_).string(), "--until-end"}, k_exit_refused));
  takes_over_ = true;
  if (watch_.restored) watch_.restored(*outcome_.restore);
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

reported<void> campaign::put_checkpoint_in_place() {
  std::error_code code;
  std::filesystem::rename(plan_.state, plan_.directory / "state.lost", code);
  if (!code)
    std::filesystem::copy(plan_.directory / "checkpoint", plan_.state,
                          std::filesystem::copy_options::recursive, code);
  if (code) return problem{code, "the checkpoint cannot be put in place: " + code.message(), {}, {}};
  return BOOST_OUTCOME_V2_NAMESPACE::success();
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
    ++next_;
    outcome_.kills.push_back(kill);
    if (watch_.killed) watch_.killed(kill);
  } else {
    ++outcome_.missed;
  }
  if (plan_.verify) return verify();
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

reported<void> campaign::verify() {
  return call("verify", {"--state", plan_.state.string()}, k_exit_ok);
}

reported<void> campaign::run_to_the_end() {
  RATCHET_TRY(flow_until(oracle_.records()));
  const auto code = running_->wait(k_no_progress);
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
