// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "sim/pair/group.hpp"
#include "sim/pair/setting.hpp"
#include "support/memory_slot_log.hpp"

namespace ratchet::pair_sim {

inline constexpr const char* k_log_topic = "payments.ratchet";
inline constexpr const char* k_input_topic = "t";
inline constexpr const char* k_output_topic = "out";
inline constexpr const char* k_stream = "payments";
inline const topic_partition k_slot{k_log_topic, partition_id{0}};

/// An event as its producer meant it.
struct input_event {
  std::uint32_t aggregate{0};
  std::uint32_t number{0};  ///< within its aggregate, from 1
  [[nodiscard]] std::string name() const { return "a" + std::to_string(aggregate); }
  /// What the reducer is given.
  [[nodiscard]] std::string payload() const { return std::to_string(aggregate * 100'000 + number); }
  [[nodiscard]] std::string record() const {
    return R"({"p":")" + name() + R"(","n":)" + std::to_string(number) + R"(,"v":)" + payload() + "}";
  }
};

/// What all processes have in common: brokers with the input, the log, the bases and the group.
struct cluster {
  cluster(setting& in, std::uint32_t partitions, milliseconds session)
      : group{in, k_slot, session}, inputs(partitions) {}

  testing::memory_log log;
  testing::memory_log bases;
  simulated_group group;
  std::vector<std::deque<input_event>> inputs;  ///< by partition
  bool answers{true};                           ///< the coordinator

  [[nodiscard]] topic_partition partition(std::size_t p) const {
    return {k_input_topic, partition_id{static_cast<std::int32_t>(p)}};
  }
};

}  // namespace ratchet::pair_sim
