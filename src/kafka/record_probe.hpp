// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "kafka/client.hpp"
#include "ports/source.hpp"
#include "ratchet/config.hpp"

namespace ratchet {

/// Reads single records beside the group: a client without a group id, so that no coordinator hears of it.
/// Thread-safety: one thread.
class record_probe {
 public:
  [[nodiscard]] static reported<std::unique_ptr<record_probe>> make(const kafka_config&, kafka_log);

  /// The record at exactly `offset`; none where the log has no record there: compacted, a transaction's
  /// marker or aborted, out of the log's range. Errors: source_unavailable; topic_missing.
  [[nodiscard]] result<std::optional<owned_record>> read_at(const topic_partition&, std::int64_t offset,
                                                            std::chrono::milliseconds timeout);

 private:
  explicit record_probe(std::shared_ptr<kafka_client> client) : client_(std::move(client)) {}
  [[nodiscard]] result<std::optional<owned_record>> first_from(
      rd_kafka_topic_t*, std::int32_t partition, std::int64_t offset,
      std::chrono::steady_clock::time_point deadline);
  std::shared_ptr<kafka_client> client_;
};

}  // namespace ratchet
