// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "config/reader.hpp"

namespace ratchet {

/// Reads a value that is written as {file: PATH} or {env: NAME}: what the file holds without the line feed at
/// its end, or what the variable is set to. False where it is neither, or cannot be read (which is then a
/// finding at its place), or is not to be read. What it reads appears in no finding. A file that every user
/// can read is a warning.
[[nodiscard]] bool read_secret(const config_value&, std::string& out);

}  // namespace ratchet
