// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sim/consumer/campaign.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "support/environment_number.hpp"

namespace ratchet::sim {

namespace {

using testing::number_from;

constexpr std::size_t k_most_failures = 3;

/// Leaves out piece after piece, in smaller and smaller pieces.
template <class T>
std::uint32_t shrink_list(history& h, std::vector<T> history::*list) {
  std::uint32_t plays = 0;
  for (std::size_t piece = std::max<std::size_t>(1, (h.*list).size() / 2);; piece /= 2) {
    for (std::size_t at = 0; at < (h.*list).size();) {
      const std::vector<T> before = h.*list;
      const auto from = (h.*list).begin() + static_cast<std::ptrdiff_t>(at);
      (h.*list).erase(from, from + static_cast<std::ptrdiff_t>(std::min(piece, before.size() - at)));
      ++plays;
      if (!play(h).broken.empty()) continue;
      h.*list = before;
      at += piece;
    }
    if (piece <= 1) return plays;
  }
}

}  // namespace

void census::add(const census& more) {
  const auto add_all = [](auto& to, const auto& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  };
  add_all(faults, more.faults);
  add_all(fates, more.fates);
  add_all(session_ends, more.session_ends);
  for (const auto& [kind, count] : more.audits) audits[kind] += count;
  processes += more.processes;
  full += more.full;
  reducer_stops += more.reducer_stops;
  steps += more.steps;
  outputs += more.outputs;
  table_changes += more.table_changes;
  lost_steps += more.lost_steps;
  ends_within += more.ends_within;
  forgotten += more.forgotten;
  old_decided += more.old_decided;
  restarts_within += more.restarts_within;
  calls.add(more.calls);
}

std::uint32_t shrink(history& h) {
  h.well_behaved = false;  // with records left out, the final state is another one
  if (play(h).broken.empty()) {
    h.well_behaved = true;
    return 1;
  }
  std::uint32_t plays = 1;
  const auto size = [&h] { return h.log.size() + h.faults.size() + h.requests.size(); };
  for (std::size_t before = 0; before != size();) {
    before = size();
    plays += shrink_list(h, &history::requests);
    plays += shrink_list(h, &history::faults);
    plays += shrink_list(h, &history::log);
  }
  return plays;
}

std::string report_of(history h) {
  const std::string first = play(h).broken;
  shrink(h);
  std::vector<std::string> trace;
  const history_result last = play(h, &trace);
  std::string text =
      "a promise was broken: " + first + "\nin its shortest form: " + last.broken + "\n" + describe(h);
  for (const std::string& line : trace) text += line + "\n";
  return text;
}

std::string to_text(const census& met) {
  std::string text =
      std::to_string(met.processes) + " processes, " + std::to_string(met.steps) + " steps, " +
      std::to_string(met.lost_steps) + " times steps were lost, " + std::to_string(met.outputs) +
      " messages were to be sent, " + std::to_string(met.full) + " times no more could wait, " +
      std::to_string(met.reducer_stops) + " times a reducer said stop, " + std::to_string(met.ends_within) +
      " steps ended within a record, " + std::to_string(met.restarts_within) + " processes began there, " +
      std::to_string(met.forgotten) + " aggregates were forgotten, " + std::to_string(met.old_decided) +
      " decisions were about old events of unknown ones\n";
  text += "  callers: " + std::to_string(met.calls.done) + " done, " + std::to_string(met.calls.repeated) +
          " done before, " + std::to_string(met.calls.timed_out) + " out of time, " +
          std::to_string(met.calls.cut_off) + " cut off";
  for (const auto& [why, count] : met.calls.refused) text += ", " + std::to_string(count) + " " + why;
  text += "\n";
  for (std::size_t i = 0; i < met.faults.size(); ++i) {
    text += "  " + std::to_string(met.faults[i]) + " " + name_of(static_cast<fault_kind>(i)) + "\n";
  }
  for (const auto& [kind, count] : met.audits)
    text += "  " + std::to_string(count) + " audit rows " + kind + "\n";
  return text;
}

campaign_plan plan_from_environment() {
  campaign_plan plan;
  plan.first_seed = number_from("RATCHET_SEED", 1);
  plan.histories = number_from("RATCHET_HISTORIES", plan.histories);
  plan.events = static_cast<std::uint32_t>(number_from("RATCHET_EVENTS", plan.events));
  plan.threads = static_cast<unsigned>(number_from("RATCHET_THREADS", std::thread::hardware_concurrency()));
  return plan;
}

campaign_result run_campaign(const campaign_plan& plan) {
  std::atomic<std::uint64_t> next{0};
  std::mutex mutex;
  campaign_result all;
  const auto work = [&] {
    campaign_result mine;
    for (;;) {
      const std::uint64_t index = next.fetch_add(1);
      if (index >= plan.histories) break;
      history h = make_history(plan.first_seed + index, plan.events);
      const history_result r = play(h);
      ++mine.histories;
      mine.met.add(r.met);
      if (!r.broken.empty()) {
        std::string report = report_of(std::move(h));
        const std::lock_guard lock{mutex};
        all.failures.push_back(std::move(report));
        if (all.failures.size() >= k_most_failures) next = plan.histories;
      }
    }
    const std::lock_guard lock{mutex};
    all.histories += mine.histories;
    all.met.add(mine.met);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < plan.threads; ++i) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  return all;
}

}  // namespace ratchet::sim
