// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/step.hpp"
#include "support/core_print.hpp"
#include "support/core_world.hpp"

namespace ratchet::testing {

/// How a history is run: cut into steps, with crashes and with records delivered again.
struct schedule {
  std::vector<int> cuts;      ///< sizes of the steps, over and over
  std::vector<int> events;    ///< behind each step: 0 sync, 1 crash, else nothing
  std::vector<int> rewind;    ///< behind each step: so many records are delivered again first
  std::vector<int> turns{};   ///< behind each step: of each aggregate so many deferred events are run at most
  std::vector<int> sweeps{};  ///< behind each step: 0 takes away what is forgotten
};

[[nodiscard]] inline int at_or(const std::vector<int>& v, std::size_t i, int otherwise) {
  return i < v.size() ? v[i] : otherwise;
}

/// What a consumer does around the core: delivers from the stored offsets on, and nothing of partitions that
/// are stopped.
class runner {
 public:
  runner(world w, const std::vector<spec>& history)
      : world_{std::move(w)}, durable_{world_}, history_{history} {}

  world run(const schedule& how) {
    for (std::size_t step = 0; at_ < history_.size(); ++step) {
      const int back = at_or(how.rewind, step, 0);
      at_ -= std::min(at_, static_cast<std::size_t>(back));
      const int size = how.cuts.empty() ? 1 : how.cuts[step % how.cuts.size()];
      deliver(static_cast<std::size_t>(size + back));
      const int run = at_or(how.turns, step, 0);
      if (run > 0) {
        world_.most_queued = static_cast<std::size_t>(run);
        world_.resume();
      }
      if (at_or(how.sweeps, step, 9) == 0) world_.remove_forgotten();
      const int event = at_or(how.events, step, 9);
      if (event == 0) durable_ = world_;
      if (event == 1) crash();
    }
    if (world_.rules.deferred) world_.work_off();
    return world_;
  }

  /// By position: the verdicts.
  [[nodiscard]] const std::map<std::string, std::string>& said() const { return said_; }

 private:
  void deliver(std::size_t size) {
    std::vector<spec> batch;
    for (; at_ < history_.size() && batch.size() < size; ++at_) {
      const spec& e = history_[at_];
      if (stopped_.contains(e.partition)) continue;
      const auto resumed = resumed_.find({e.topic, static_cast<partition_id>(e.partition)});
      const event_place here{e.offset, e.index};
      if (resumed != resumed_.end() && here < resumed->second.next()) continue;
      batch.push_back(e);
    }
    const stream_change change = world_.step(batch);
    for (const partition_stop& stop : change.stops) {
      stopped_.insert(static_cast<int>(stop.where.partition));
    }
    for (std::size_t i = 0; i < batch.size(); ++i) note(batch[i], change.decisions[i]);
  }

  /// Which events a newer one of their step made needless depends on the cut.
  void note(const spec& e, decision d) {
    if (d.verdict == verdict::unhandled) return;
    if (d.verdict == verdict::superseded) d.verdict = verdict::applied;
    const std::string reason = d.reason == reject_reason::none ? "" : std::string{" "} + name_of(d.reason);
    said_[std::to_string(e.partition) + "@" + to_text(event_place{e.offset, e.index})] +=
        name_of(d.verdict) + reason + ";";
  }

  void crash() {
    world_ = durable_;
    resumed_ = world_.state.partitions;
    stopped_.clear();
    at_ = 0;
  }

  std::map<std::string, std::string> said_;
  world world_;
  world durable_;
  const std::vector<spec>& history_;
  std::size_t at_{0};
  std::set<int> stopped_;
  std::map<topic_partition, partition_state> resumed_;
};

}  // namespace ratchet::testing
