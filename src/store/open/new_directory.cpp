// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/open/new_directory.hpp"

#include <string>
#include <system_error>
#include <vector>

#include "store/files/store_files.hpp"

namespace ratchet {

new_directory::~new_directory() {
  if (path_.empty()) return;
  std::error_code ignored;
  if (holds_new_store_) {
    std::vector<std::filesystem::path> files;
    for (std::filesystem::directory_iterator at{path_, ignored}, end; !ignored && at != end;
         at.increment(ignored)) {
      if (is_of_a_store(at->path().filename().string())) files.push_back(at->path());
    }
    for (const std::filesystem::path& file : files) std::filesystem::remove(file, ignored);
  }
  if (made_) std::filesystem::remove(path_, ignored);  // only where nothing is left in it
}

}  // namespace ratchet
