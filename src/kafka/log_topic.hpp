// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ratchet/config.hpp"
#include "ratchet/error.hpp"
#include "ratchet/types.hpp"

/// The topic of a replicated log: one partition, of which Kafka deletes nothing, and which takes what a log's
/// writer sends together.
namespace ratchet {

/// What a topic is; as far as this user may see it.
struct log_topic {
  int partitions{0};
  int replicas{0};
  std::string cleanup_policy;
  std::string retention_ms;
  std::string retention_bytes;
  int min_insync_replicas{0};
  std::uint64_t max_message_bytes{0};  ///< the topic's, or the brokers' where it has none; 0: not told
};

/// None: no broker knows the topic. Blocks up to the time-out. Errors: source_unavailable; without access;
/// librdkafka's own.
[[nodiscard]] result<std::optional<log_topic>> find_log_topic(const kafka_config&, const std::string& topic,
                                                              std::chrono::milliseconds timeout);
/// Errors: as above, and those of the brokers, as where there are fewer of them than replicas.
[[nodiscard]] result<void> make_log_topic(const kafka_config&, const std::string& topic, int replicas,
                                          std::chrono::milliseconds timeout);

/// How many brokers the cluster has now. Errors: as of find_log_topic().
[[nodiscard]] result<int> count_brokers(const kafka_config&, std::chrono::milliseconds timeout);

/// Has the brokers delete the records of a partition below that offset. Errors: as above.
[[nodiscard]] result<void> delete_records(const kafka_config&, const topic_partition&, std::int64_t below,
                                          std::chrono::milliseconds timeout);

/// With fewer than two copies of each record a broker's disk takes confirmed steps with it. What is to be
/// changed, each as `retention.ms=-1, it has 604800000`; empty: nothing. Pure.
[[nodiscard]] std::vector<std::string> wrong_settings(const log_topic&);
/// A command of Kafka's that changes them; none: there are none that could be changed. Pure.
[[nodiscard]] std::optional<std::string> command_to_change(const kafka_config&, const std::string& topic,
                                                           const log_topic&);
/// What does not stop a run. Pure.
[[nodiscard]] std::vector<std::string> risky_settings(const log_topic&);
/// Why the topic cannot be made: each copy of its records is on a broker of its own. None: there are enough.
[[nodiscard]] std::optional<problem> too_few_brokers(const std::string& topic, int brokers, int replicas);
/// A command of Kafka's that makes the topic. Pure.
[[nodiscard]] std::string command_to_make(const kafka_config&, const std::string& topic, int replicas);

}  // namespace ratchet
