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

/// Milliseconds of every record behind the warm-up, sorted.
struct latency_sample {
  std::vector<double> milliseconds;
  [[nodiscard]] double percentile(double share) const;
};

/// How long records took until they were readable in durable state.
struct latency_figures {
  latency_sample whole;       ///< from their sending
  latency_sample bare;        ///< from their sending until a bare client had them
  latency_sample added;       ///< from there; 0 where the state was the first to have them
  double sync_mean_ms{0};     ///< of the syncs of the write-ahead log, those of the warm-up among them
  double sent_per_second{0};  ///< as it came about
  double cpu_seconds{0};      ///< of this process, its sender and its observers among it
};

/// Consumes the target's topic, which must be empty, while another thread sends to it at a steady rate
/// without linger. A third looks every 0.2 ms which records a durable step holds that a read of the store
/// shows. A fourth reads the topic by the client library alone: what it has is in the broker, so that the
/// time from there on is what Ratchet adds. Errors: those of the engine, of sending and of the bare client;
/// check_failed, where records never got there.
[[nodiscard]] reported<latency_figures> run_latency(const bench_setup&, const kafka_target&,
                                                    const workload_dials&, const latency_options&);

[[nodiscard]] std::string json_of(const latency_figures&);

}  // namespace ratchet::cli
