// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "kafka/client.hpp"
#include "ports/source.hpp"
#include "ratchet/config.hpp"

namespace ratchet {

/// A client that sees what open transactions hold back, and has no group id, so that no coordinator hears of
/// it. Errors: config_invalid.
[[nodiscard]] reported<std::shared_ptr<kafka_client>> make_uncommitted_client(const kafka_config&, kafka_log);

/// Reads single records, and looks up where logs end, beside the group. Thread-safety: one thread.
class record_probe {
 public:
  [[nodiscard]] static reported<std::unique_ptr<record_probe>> make(const kafka_config&, kafka_log);

  /// The record at exactly `offset`, be it of a transaction that is open or was aborted: such a one was not
  /// handled, so that the log is another one. None where the log has no record there: compacted, a
  /// transaction's marker, out of the log's range. Errors: source_unavailable; topic_missing.
  [[nodiscard]] result<std::optional<owned_record>> read_at(const topic_partition&, std::int64_t offset,
                                                            std::chrono::milliseconds timeout);

  /// The offset behind the last record of all, which an open transaction may hold back. Errors: as bounds().
  [[nodiscard]] result<std::int64_t> high_end(const topic_partition&, std::chrono::milliseconds timeout);

 private:
  explicit record_probe(std::shared_ptr<kafka_client> client) : client_(std::move(client)) {}
  [[nodiscard]] result<std::optional<owned_record>> first_from(
      rd_kafka_topic_t*, std::int32_t partition, std::int64_t offset,
      std::chrono::steady_clock::time_point deadline);
  std::shared_ptr<kafka_client> client_;
};

}  // namespace ratchet
