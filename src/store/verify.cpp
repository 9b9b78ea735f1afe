// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/rocks_store.hpp"

namespace ratchet {

reported<std::vector<std::string>> verify_store(const std::filesystem::path& path) {
  auto opened = open_store_read_only(path);
  if (!opened) {
    if (opened.error().code == make_error_code(errc::state_damaged)) {
      return std::vector<std::string>{opened.error().message};
    }
    return opened.error();
  }
  return std::vector<std::string>{};
}

}  // namespace ratchet
