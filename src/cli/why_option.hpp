// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace ratchet::cli {

/// Adds --why TEXT to a command that decides something: what its audit rows say of it.
void add_why_option(CLI::App& command, std::string& why);

}  // namespace ratchet::cli
