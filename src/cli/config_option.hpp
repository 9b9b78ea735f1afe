// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>

#include "cli/command.hpp"
#include "ratchet/config.hpp"
#include "ratchet/error.hpp"

namespace ratchet::cli {

/// The config as a command line names it: -c FILE, --set KEY=VALUE, -X PROPERTY=VALUE.
struct config_option {
  std::filesystem::path file;
  config_overrides overrides;
};

enum class config_need : std::uint8_t { required, optional };

/// Adds the three options to a command. `option` must outlive the command's callback. Returns the option -c,
/// so that others can exclude or demand it.
CLI::Option* add_config_option(CLI::App& command, config_option& option,
                               config_need need = config_need::required);

/// Where no file was given: what the environment names.
void take_config_of_environment(config_option&);

/// Adds --output text|json to a command.
void add_output_option(CLI::App& command, output_format& output);

/// Loads what the options name, which is also what commands in messages name from then on. Errors: as
/// load_config().
[[nodiscard]] reported<config> load(const config_option&, config_use = config_use::everything);

}  // namespace ratchet::cli
