// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "ratchet/types.hpp"

namespace ratchet {

/// The partitions of which these files have records, as `kcat -C -J` prints them, and the highest offset of
/// each. Reads regular files only: what comes through a pipe comes once. A file that cannot be read, and a
/// line that says no position, are passed over. `stop` ends it early.
[[nodiscard]] std::map<topic_partition, std::int64_t> partitions_in(std::span<const std::string> files,
                                                                    const std::atomic<bool>& stop);

}  // namespace ratchet
