// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "ratchet/error.hpp"
#include "ratchet/types.hpp"

namespace ratchet {

/// How fast the client library alone gets records out of the brokers.
struct raw_figures {
  std::uint64_t records{0};
  std::uint64_t bytes{0};  ///< of keys and values
  double seconds{0};       ///< from the first record to the last
};

/// Reads every partition of the topic from its beginning without a group, and drops every record: the
/// yardstick for anything that does work. Ends with `expected_records`, or where all partitions have ended.
/// Errors: config_invalid; topic_missing; source_unavailable, also when nothing came for `patience`.
[[nodiscard]] result<raw_figures> raw_consume(const std::string& brokers, const std::string& topic,
                                              const std::map<std::string, std::string>& properties,
                                              std::uint64_t expected_records,
                                              std::chrono::milliseconds patience = std::chrono::seconds{30});

/// Called with each record as the client library hands it over.
using raw_arrival = std::function<void(partition_id, std::int64_t offset)>;

/// Reads the same way, and goes on until `over`: what comes is told of on the calling thread. Errors: as
/// raw_consume(), but for those of its patience.
[[nodiscard]] result<void> raw_follow(const std::string& brokers, const std::string& topic,
                                      const raw_arrival& told, const std::atomic<bool>& over);

}  // namespace ratchet
