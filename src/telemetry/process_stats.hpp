// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ratchet {

/// What the system says of this process; what cannot be read is 0.
struct process_stats {
  double start_time_seconds{0};  ///< since 1970
  double cpu_seconds{0};         ///< user and system
  std::uint64_t resident_bytes{0};
  std::uint64_t virtual_bytes{0};
  std::uint64_t open_descriptors{0};
  std::uint64_t most_descriptors{0};  ///< the soft limit
};

/// Reads /proc/self. Any thread.
[[nodiscard]] process_stats read_process_stats();

}  // namespace ratchet
