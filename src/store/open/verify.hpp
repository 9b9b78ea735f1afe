// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ratchet/error.hpp"

namespace ratchet {

/// Checks a stopped directory: that it opens, every checksum, every row, and what must always hold between
/// them. Returns the findings, one line each; none: it is clean. Changes no file. Errors: as
/// open_store_read_only(), but for state_damaged, which is a finding.
[[nodiscard]] reported<std::vector<std::string>> verify_store(const std::filesystem::path&);

}  // namespace ratchet
