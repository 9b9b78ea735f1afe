// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

/// What is written from the definitions of the commands themselves, so that it never says anything else than
/// --help.
namespace ratchet::cli {

/// The manual page ratchet(1), in the language of man(7).
[[nodiscard]] std::string manual_page(const CLI::App& root, const std::string& version);

/// A completion script for bash: commands, their options, the values of options that have a fixed set, and
/// file names everywhere else.
[[nodiscard]] std::string bash_completion(const CLI::App& root);

}  // namespace ratchet::cli
