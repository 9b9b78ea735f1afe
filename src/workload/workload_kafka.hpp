// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kafka/embedded_broker.hpp"
#include "ratchet/error.hpp"
#include "workload/workload_sink.hpp"

namespace ratchet {

/// Where the records of a workload go in Kafka, and how.
struct kafka_target {
  std::string brokers;  ///< "host:port,host:port"
  std::string topic;
  std::uint32_t partitions{8};                    ///< of the topic
  std::map<std::string, std::string> properties;  ///< librdkafka's, for the producer
};

/// "NAME=VALUE" each. Errors: usage.
[[nodiscard]] reported<std::map<std::string, std::string>> parse_properties(const std::vector<std::string>&);

/// The start of a stream whose last record is to be of now: older ones a real broker deletes by their time.
[[nodiscard]] timestamp start_for_end_now(const workload_dials&);

/// For consumers of an embedded broker that are killed and started again. Its first join takes 3 s, in which
/// a member must not expire; a later one takes the session less a second, and starts over (8 s and more)
/// where the killed member, which it may take for the leader, has not expired by then: at the latest a second
/// after its session, as the broker looks once a second. With this delay from kill to start it has.
inline constexpr const char* k_embedded_session_ms = "3500";
inline constexpr std::chrono::milliseconds k_embedded_restart_delay{2'000};

/// A broker inside this process, with the target's topic, and sets the target's brokers.
/// Errors: those of librdkafka.
[[nodiscard]] reported<std::unique_ptr<embedded_broker>> start_embedded(kafka_target&);

/// How many partitions an embedded broker needs, so that it keeps the whole stream.
[[nodiscard]] std::uint32_t embedded_partitions(const workload_dials&) noexcept;

/// Creates the topic on a real broker. Errors: source_unavailable; librdkafka's, as where it is there
/// already.
[[nodiscard]] reported<void> create_target(const kafka_target&);

/// Creates the topic where it is missing; else takes over the number of partitions that it has.
/// Errors: source_unavailable; librdkafka's.
[[nodiscard]] reported<void> find_or_create_target(kafka_target&);

/// Sends the records to the partition of their key, as Kafka's own client would choose it.
/// Errors: config_invalid, for properties.
[[nodiscard]] reported<std::unique_ptr<workload_sink>> make_kafka_sink(const kafka_target&);

}  // namespace ratchet
