// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace ratchet {

/// A state directory that goes at the end.
struct scratch {
  scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "ratchet-bench-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path path;
};

}  // namespace ratchet
