// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "ratchet/error.hpp"

/// The files of one flat directory, made to survive a power cut.
namespace ratchet {

struct directory_size {
  std::uint64_t files{0};
  std::uint64_t bytes{0};
};

/// Syncs every file of the directory, and the directory; tells how much that is. Errors: system errors.
[[nodiscard]] result<directory_size> sync_files(const std::filesystem::path& directory);

/// Copies every file of one directory into another, which is empty, and syncs them. Looks at `cancelled`,
/// which may be empty, before each piece. Errors: aborted (cancelled); system errors.
[[nodiscard]] result<void> copy_files(const std::filesystem::path& from, const std::filesystem::path& to,
                                      const std::function<bool()>& cancelled);

}  // namespace ratchet
