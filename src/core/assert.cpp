// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/assert.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace ratchet {

void assertion_failed(const char* condition, const char* file, int line) noexcept {
  // From src/ on, wherever it was built.
  std::string_view path{file};
  if (const std::size_t at = path.rfind("/src/"); at != std::string_view::npos) path.remove_prefix(at + 1);
  std::fprintf(
      stderr,
      "ratchet: internal error, please report it: `%s` does not hold (%.*s:%d). What is durable is right; "
      "start again to go on from there\n",
      condition, static_cast<int>(path.size()), path.data(), line);
  std::abort();
}

}  // namespace ratchet
