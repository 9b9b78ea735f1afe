// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command.hpp"

namespace ratchet::cli {

void add_sniff_command(CLI::App& root, command_line&);  ///< sniff

}  // namespace ratchet::cli
