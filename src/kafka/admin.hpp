// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
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

/// Gives the topic so many partitions in all, more than it has, and waits until they can be used.
/// Errors: source_unavailable; topic_missing.
[[nodiscard]] result<void> add_partitions(const std::string& brokers, const std::string& topic,
                                          int partitions,
                                          std::chrono::milliseconds timeout = std::chrono::seconds{15});

/// Sets the topic's own config; what is not named falls back to the broker's.
/// Errors: source_unavailable; topic_missing.
[[nodiscard]] result<void> set_topic_config(const std::string& brokers, const std::string& topic,
                                            const std::map<std::string, std::string>& config,
                                            std::chrono::milliseconds timeout = std::chrono::seconds{15});

/// Moves the start of a partition's log up to `before`. Errors: source_unavailable; topic_missing.
[[nodiscard]] result<void> delete_records(const std::string& brokers, const topic_partition&,
                                          std::int64_t before,
                                          std::chrono::milliseconds timeout = std::chrono::seconds{15});

/// A right that brokers with an authorizer grant, from anywhere.
struct acl_rule {
  enum class on : std::uint8_t { topic, group } resource{on::topic};
  std::string name;
  std::string principal;  ///< as in User:alice
  enum class may : std::uint8_t { describe, read } operation{may::read};
};

/// Errors: source_unavailable; librdkafka's own, as where the brokers have no authorizer.
[[nodiscard]] result<void> grant(const std::string& brokers, const acl_rule&,
                                 std::chrono::milliseconds timeout = std::chrono::seconds{15});
[[nodiscard]] result<void> revoke(const std::string& brokers, const acl_rule&,
                                  std::chrono::milliseconds timeout = std::chrono::seconds{15});

/// Errors: source_unavailable; topic_missing.
[[nodiscard]] result<log_bounds> log_bounds_of(const std::string& brokers, const topic_partition&,
                                               std::chrono::milliseconds timeout = std::chrono::seconds{15});

}  // namespace ratchet
