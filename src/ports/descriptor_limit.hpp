// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <optional>

namespace ratchet {

/// How many files this process may have open: its soft limit (RLIMIT_NOFILE); none where that cannot be
/// asked. Any thread.
[[nodiscard]] inline std::optional<std::uint64_t> soft_descriptor_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::nullopt;
  return limit.rlim_cur;
}

}  // namespace ratchet
