// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ratchet::cli {

/// What this process has used so far, all threads together.
struct process_usage {
  double cpu_seconds{0};            ///< in user mode and in the system
  std::uint64_t most_rss_bytes{0};  ///< the most it ever had resident
  std::uint64_t written_bytes{0};   ///< of pages that are to go to a disk; 0 where the system does not say
};

[[nodiscard]] process_usage usage_of_process();

}  // namespace ratchet::cli
