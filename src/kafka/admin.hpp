// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "ports/source.hpp"
#include "ratchet/error.hpp"

/// What tests, benchmarks and generators need to prepare a cluster. Each call makes a client of its own and
/// blocks up to its time-out. The embedded broker knows none of these but log_bounds_of().
namespace ratchet {

/// Creates a topic with one replica, and waits until its partitions can be used.
/// Errors: source_unavailable; librdkafka's own, such as TOPIC_ALREADY_EXISTS.
[[nodiscard]] result<void> create_topic(const std::string& brokers, const std::string& topic, int partitions,
                                        const std::map<std::string, std::string>& config = {},
                                        std::chrono::milliseconds timeout = std::chrono::seconds{15});

/// Errors: source_unavailable; topic_missing.
[[nodiscard]] result<void> delete_topic(const std::string& brokers, const std::string& topic,
                                        std::chrono::milliseconds timeout = std::chrono::seconds{15});

/// Moves the start of a partition's log up to `before`. Errors: source_unavailable; topic_missing.
[[nodiscard]] result<void> delete_records(const std::string& brokers, const topic_partition&,
                                          std::int64_t before,
                                          std::chrono::milliseconds timeout = std::chrono::seconds{15});

/// Errors: source_unavailable; topic_missing.
[[nodiscard]] result<log_bounds> log_bounds_of(const std::string& brokers, const topic_partition&,
                                               std::chrono::milliseconds timeout = std::chrono::seconds{15});

}  // namespace ratchet
