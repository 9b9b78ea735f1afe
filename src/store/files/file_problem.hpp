// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include "ratchet/error.hpp"

namespace ratchet {

/// An error of the file system on a state directory, for a person: "cannot WHAT PATH: reason", and what to
/// type where the reason is a usual one (permission, a read-only mount, a file in the way, a full disk). The
/// code stays.
[[nodiscard]] problem file_problem(const std::string& what, const std::filesystem::path&,
                                   const std::error_code&);

/// What to type, by the reason; empty where it is an unusual one.
[[nodiscard]] std::string hint_for_file(const std::filesystem::path&, const std::error_code&);

/// Whether this process may write in the directory. Asked before anything is opened, so that a refusal names
/// that and not the first file that could not be made.
[[nodiscard]] reported<void> check_writable(const std::filesystem::path&);

}  // namespace ratchet
