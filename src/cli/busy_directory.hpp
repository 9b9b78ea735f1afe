// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>

namespace ratchet::cli {

/// Waits while a process has the state directory that cannot be asked: an instance that is only just starting
/// or stopping, as behind `systemctl restart`, or a command that decides. Ends at once where one can be
/// asked, and where nobody has it; at the latest behind `patience`. What is met then says so to whoever goes
/// on. Says on standard error that it waits where that takes more than a moment.
void wait_for_directory(const std::filesystem::path& state, std::chrono::milliseconds patience);

/// For control_client::tell_of_silence(): tells on standard error why a decision takes so long.
void say_that_it_waits();

}  // namespace ratchet::cli
