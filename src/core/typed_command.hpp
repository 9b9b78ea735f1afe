// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

/// Commands in messages, so that whoever reads one can type it as it stands.
namespace ratchet {

/// "`ratchet COMMAND SOURCE REST`", where SOURCE is what set_command_source() said.
[[nodiscard]] std::string typed_command(std::string_view command, std::string_view rest = {});

/// Which state the commands are about, as in "-c /etc/ratchet.yaml". Until it is set (in a program that
/// embeds Ratchet nobody knows a file) commands are named without. To be called before other threads begin.
void set_command_source(std::string source);

/// A word as a POSIX shell takes it: in quotes where it needs them.
[[nodiscard]] std::string shell_word(std::string_view word);

}  // namespace ratchet
