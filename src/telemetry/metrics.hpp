// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "telemetry/instance_status.hpp"
#include "telemetry/process_stats.hpp"
#include "telemetry/run_meter.hpp"

namespace ratchet {

/// What one scrape is drawn from.
struct metrics_input {
  status_snapshot live;
  state_sample state;
  run_counts counts;
  resource_sample resources;
  process_stats process;
};

inline constexpr const char* k_metrics_content_type = "text/plain; version=0.0.4; charset=utf-8";

/// In Prometheus's text format 0.0.4. Counters of records are the state's own, as durable: they go on where
/// they were after a restart, and begin anew only with a state built anew. Labels are names out of the config
/// and partitions, never what a record says. Pure; any thread.
[[nodiscard]] std::string metrics_text(const metrics_input&);

}  // namespace ratchet
