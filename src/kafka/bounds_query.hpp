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

/// Has the client's threads for the brokers that lead these look for work: librdkafka 2.0.2 wakes one that
/// was idle neither for a message nor for a partition to fetch, and it sleeps for a second. A request wakes
/// it. Returns at once.
void wake_leaders(std::shared_ptr<kafka_client>, std::vector<topic_partition>);

}  // namespace ratchet
