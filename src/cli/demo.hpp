// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ratchet/error.hpp"
#include "workload/workload_campaign.hpp"
#include "workload/workload_oracle.hpp"
#include "workload/workload_stream.hpp"

namespace ratchet::cli {

struct demo_options {
  workload_dials dials;
  std::uint32_t kills{5};
  std::uint32_t bounces{0};
  std::string bounce_with;                    ///< a shell command that kills the broker and starts it again
  bool restore{false};                        ///< lose the state once, and go on from a checkpoint
  std::string brokers;                        ///< empty: an embedded broker
  std::string state;                          ///< empty: in a temporary directory
  bool keep{false};                           ///< keep the temporary directory
  std::vector<std::string> kafka_properties;  ///< NAME=VALUE, for the consumer
  std::string program;                        ///< how this command was called, for what it tells to type
};

/// The main job, while it is being killed: makes a stream, puts it into Kafka, consumes it with kills, and
/// compares. Prints the table to standard output. Errors: check_failed, where the state is not right; those
/// of the campaign.
[[nodiscard]] reported<void> run_demo(const demo_options&);

/// The table that a demo ends with; ends in a line feed.
[[nodiscard]] std::string demo_table(const campaign_outcome&, const workload_oracle&);

}  // namespace ratchet::cli
