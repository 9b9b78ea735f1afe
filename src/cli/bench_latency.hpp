// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/bench_run.hpp"
#include "ratchet/error.hpp"
#include "workload/workload_kafka.hpp"
#include "workload/workload_stream.hpp"

namespace ratchet::cli {

struct latency_options {
  double per_second{1'000};  ///< how many records are sent, evenly
  std::chrono::seconds warm_up{3};
  std::chrono::seconds time{20};
};

/// How long records took from their sending until they were readable in durable state.
struct latency_figures {
  std::vector<double> milliseconds;  ///< of every record behind the warm-up, sorted
  double sent_per_second{0};         ///< as it came about
  double cpu_seconds{0};             ///< of this process, its sender and its observer among it
  [[nodiscard]] double percentile(double share) const;
};

/// Consumes the target's topic, which must be empty, while another thread sends to it at a steady rate
/// without linger. A third looks every 0.2 ms which records a durable step holds that a read of the store
/// shows. The time from send() to there has the way into the broker in it, too, so that what Ratchet adds is
/// less. Errors: those of the engine and of sending; check_failed, where records never got there.
[[nodiscard]] reported<latency_figures> run_latency(const bench_setup&, const kafka_target&,
                                                    const workload_dials&, const latency_options&);

[[nodiscard]] std::string json_of(const latency_figures&);

}  // namespace ratchet::cli
