// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <vector>

#include "kafka/client.hpp"
#include "ports/source.hpp"

namespace ratchet {

/// Where logs begin and end, in the order of the partitions. All are asked for at once, and by itself what
/// has no answer then. Errors, of each: source_unavailable; topic_missing; librdkafka's own.
[[nodiscard]] std::vector<result<log_bounds>> query_bounds(const std::shared_ptr<kafka_client>&,
                                                           std::span<const topic_partition>,
                                                           std::chrono::milliseconds timeout);

}  // namespace ratchet
