// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "ratchet/config.hpp"

/// The commands of `ratchet`: each family has a file, and registers its subcommands here.
namespace ratchet::cli {

enum class output_format { text, json };

/// What every command shares. A command's callback sets `status`, the exit code of the process.
struct command_line {
  int status{0};
  std::vector<std::string> arguments;  ///< argv, as given
};

void add_config_commands(CLI::App& root, command_line&);    ///< init, validate, version
void add_run_commands(CLI::App& root, command_line&);       ///< run, apply
void add_read_commands(CLI::App& root, command_line&);      ///< get, scan, status
void add_workload_commands(CLI::App& root, command_line&);  ///< gen, demo

void add_checkpoint_command(CLI::App& root, command_line&);  ///< checkpoint
void add_handover_command(CLI::App& root, command_line&);    ///< handover
void add_explain_command(CLI::App& root, command_line&);     ///< explain
void add_waiting_command(CLI::App& root, command_line&);     ///< waiting list, waiting show
void add_sinks_command(CLI::App& root, command_line&);       ///< sinks list, retry, skip
void add_topics_command(CLI::App& root, command_line&);      ///< topics
void add_verify_command(CLI::App& root, command_line&);      ///< verify
void add_bench_command(CLI::App& root, command_line&);       ///< bench
void add_manual_commands(CLI::App& root, command_line&);     ///< completion, manual

}  // namespace ratchet::cli
