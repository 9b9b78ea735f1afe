// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/pair/cluster.hpp"
#include "sim/pair/judge.hpp"
#include "sim/pair/machine.hpp"
#include "sim/pair/setting.hpp"

namespace ratchet::pair_sim {

struct history_result {
  std::string broken;  ///< what did not hold; empty: all did
  doings did;
  std::uint64_t steps{0};
  std::uint64_t cuts{0};
  std::uint64_t records{0};
  std::map<std::string, std::uint64_t> fates;   ///< of the log's records
  std::map<std::string, std::uint64_t> faults;  ///< by name

  void add(const history_result&);
};

/// What was met, for a person.
[[nodiscard]] std::string to_text(const history_result&);

/// Plays one history: some machines over one cluster, with faults at first; then all is well, and they must
/// come to rest with the oracle's state.
class world {
 public:
  /// `lines`: what happens, one thing a line; may be none.
  world(std::uint64_t seed, std::vector<std::string>* lines);
  ~world();
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  [[nodiscard]] history_result run();

 private:
  void turn();
  void produce();
  void land(bool all);
  void meet_faults();
  void meet(std::uint32_t which, machine&);
  void meet_brokers(std::uint32_t which);
  void refuse_records();
  void repeat_records();
  void forge_base();
  void add_partition();
  void be_down(machine&);
  void heal();
  [[nodiscard]] bool is_at_rest();
  void check_rest();
  void note(const char* fault) { ++result_.faults[fault]; }

  setting in_;
  cluster of_;
  judge judge_;
  std::vector<std::unique_ptr<machine>> machines_;
  std::size_t first_partitions_;        ///< of the input, when it began
  std::vector<std::uint32_t> numbers_;  ///< the last one of each aggregate
  std::uint32_t fault_rate_;            ///< one turn in so many
  milliseconds session_;
  bool is_slow_{false};  ///< records take long to land
  bool is_led_{true};    ///< the log's partition
  history_result result_;
};

[[nodiscard]] history_result play(std::uint64_t seed, std::vector<std::string>* lines = nullptr);

}  // namespace ratchet::pair_sim
