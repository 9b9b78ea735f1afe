// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace ratchet {

/// typed_command() in a program that embeds Ratchet: commands that read or decide name its state directory.
/// Others name nothing, as they need a config file, which nobody knows. A program with several states names
/// none. Any thread.
void set_command_source_of_program(const std::filesystem::path& state);

}  // namespace ratchet
