// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "workload/workload_digest.hpp"

namespace peers {

/// What the command line gives: NAME --brokers B --topic T --records N --state S --group G.
struct arguments {
  std::string brokers;
  std::string topic;
  std::string group;
  std::string state;  ///< a directory, or how to reach the database
  std::uint64_t records{0};
  std::uint64_t connections{1};
  /// Ends the program where one is missing.
  [[nodiscard]] static arguments parse(int argc, char** argv);
};

/// What became of the records.
struct tally {
  std::uint64_t applied{0};
  std::uint64_t duplicate{0};
  std::uint64_t stale{0};
  std::uint64_t malformed{0};
  [[nodiscard]] std::uint64_t sum() const noexcept { return applied + duplicate + stale + malformed; }
};

/// From the first record to all of them durable.
struct stopwatch {
  std::chrono::steady_clock::time_point first{};
  std::chrono::steady_clock::time_point durable{};
};

/// Processor time of this process so far.
[[nodiscard]] double cpu_seconds();

/// Prints what bench/peers/run reads: one JSON object.
void print(const tally&, const stopwatch&, double cpu_seconds, const ratchet::workload_digest&);

}  // namespace peers
