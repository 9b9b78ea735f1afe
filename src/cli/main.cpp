// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"
#include "ratchet/error.hpp"

namespace {

constexpr int k_exit_usage = 64;  // sysexits.h; CLI11 would end with 106 and the like

}  // namespace

int main(int argc, char** argv) {
  ratchet::cli::command_line line;
  line.arguments.assign(argv, argv + argc);
  CLI::App root{"Ratchet: from a Kafka topic to state that is right.", "ratchet"};
  root.require_subcommand(1);
  ratchet::cli::add_config_commands(root, line);
  ratchet::cli::add_run_commands(root, line);
  ratchet::cli::add_read_commands(root, line);
  ratchet::cli::add_workload_commands(root, line);
  ratchet::cli::add_bench_command(root, line);
  root.footer("Each command explains itself: ratchet COMMAND --help");
  try {
    root.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return root.exit(e) == 0 ? 0 : k_exit_usage;
  }
  return line.status;
}
