// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "workload/workload_random.hpp"

namespace ratchet::testing {

/// What befalls a running job and its broker. The binary is always started again, the broker too.
enum class fault_kind : std::uint8_t {
  kill,              ///< SIGKILL of the binary
  kill_starting,     ///< and once or twice more while it starts: recovery, joining, before its claim
  zombie,            ///< SIGSTOP for longer than its session, then SIGCONT
  zombie_overtaken,  ///< the same, and another member holds its partitions when it wakes
  zombie_killed,     ///< SIGKILL while it stands still
  drain,             ///< SIGTERM: it must end with 0
  drain_aborted,     ///< SIGTERM twice
  broker_kill,       ///< SIGKILL of the broker
  broker_pause,      ///< SIGSTOP of the broker for longer than a session
  both_killed,       ///< the binary starts again while its broker is down
  rebalance,         ///< another member joins the group and leaves it again
  more_partitions,   ///< the topic gets one more, and records in it
};

struct fault_weight {
  fault_kind kind;
  const char* name;
  std::uint64_t weight;
};

inline constexpr fault_weight k_fault_weights[] = {
    {fault_kind::kill, "kill", 22},
    {fault_kind::kill_starting, "kill_starting", 16},
    {fault_kind::zombie, "zombie", 9},
    {fault_kind::zombie_overtaken, "zombie_overtaken", 6},
    {fault_kind::zombie_killed, "zombie_killed", 5},
    {fault_kind::drain, "drain", 9},
    {fault_kind::drain_aborted, "drain_aborted", 4},
    {fault_kind::broker_kill, "broker_kill", 7},
    {fault_kind::broker_pause, "broker_pause", 8},
    {fault_kind::both_killed, "both_killed", 4},
    {fault_kind::rebalance, "rebalance", 9},
    {fault_kind::more_partitions, "more_partitions", 1},
};

inline const char* name_of(fault_kind kind) {
  for (const auto& row : k_fault_weights) {
    if (row.kind == kind) return row.name;
  }
  return "?";
}

/// By weight. The same seed draws the same faults; at which record they strike is up to the machine.
inline fault_kind draw_fault(workload_random& random) {
  std::uint64_t all = 0;
  for (const auto& row : k_fault_weights) all += row.weight;
  std::uint64_t at = random.below(all);
  for (const auto& row : k_fault_weights) {
    if (at < row.weight) return row.kind;
    at -= row.weight;
  }
  return fault_kind::kill;
}

/// The schedule of one round: every kind is struck in a long campaign, none dominates a short one.
inline std::vector<fault_kind> draw_faults(workload_random& random, std::size_t count) {
  std::vector<fault_kind> faults;
  faults.reserve(count);
  while (faults.size() < count) faults.push_back(draw_fault(random));
  return faults;
}

/// RFC 3339, in UTC.
inline std::string date_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char text[sizeof "2026-01-01T00:00:00Z"];
  std::strftime(text, sizeof text, "%FT%TZ", &utc);
  return text;
}

/// A file that a campaign can be resumed from: a line for each fault and each round, with the date. Without a
/// path it keeps nothing.
class fault_log {
 public:
  fault_log(std::string path, std::uint64_t seed) : path_{std::move(path)}, seed_{seed} {}

  struct progress {
    std::uint64_t rounds{0};
    std::uint64_t faults{0};
  };
  /// What earlier runs with this seed have finished, as whole rounds.
  [[nodiscard]] progress done() const {
    progress found;
    std::ifstream in{path_};
    const std::string mine = " seed " + std::to_string(seed_) + " round ";
    for (std::string line; !path_.empty() && std::getline(in, line);) {
      if (line.find(mine) == std::string::npos) continue;
      const auto right = line.find(" is right: ");
      if (right != std::string::npos || line.find(" is void: ") != std::string::npos) ++found.rounds;
      if (right == std::string::npos) continue;
      found.faults += std::stoull(line.substr(right + std::string{" is right: "}.size()));
    }
    return found;
  }
  void write(const std::string& text) const {
    if (path_.empty()) return;
    std::ofstream out{path_, std::ios::app};
    out << date_now() << " seed " << seed_ << " " << text << "\n";
  }

 private:
  std::string path_;
  std::uint64_t seed_;
};

}  // namespace ratchet::testing
