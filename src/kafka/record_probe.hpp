// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kafka/client.hpp"
#include "ports/source.hpp"
#include "ratchet/config.hpp"

namespace ratchet {

/// A client that sees what open transactions hold back, and has no group id, so that no coordinator hears of
/// it. Errors: config_invalid.
[[nodiscard]] reported<std::shared_ptr<kafka_client>> make_uncommitted_client(const kafka_config&, kafka_log);

/// Reads single records, looks up where logs end, and who is in a group, beside that group: its requests do
/// not wait behind fetches that brokers hold. Thread-safety: one thread.
class record_probe {
 public:
  [[nodiscard]] static reported<std::unique_ptr<record_probe>> make(const kafka_config&, kafka_log);

  using record_there = result<std::optional<owned_record>>;

  /// The records at exactly these offsets, at most one of a partition, be they of transactions that are open
  /// or were aborted: such a one was not handled, so that the log is another one. None where the log has no
  /// record there: compacted, a transaction's marker, out of the log's range. Errors, of each:
  /// source_unavailable; topic_missing.
  [[nodiscard]] std::vector<record_there> read_at(std::span<const position>,
                                                  std::chrono::milliseconds timeout);

  /// The offsets behind the last records of all, which open transactions may hold back. Errors, of each: as
  /// source::bounds().
  [[nodiscard]] std::vector<result<std::int64_t>> high_ends(std::span<const topic_partition>,
                                                            std::chrono::milliseconds timeout);

  /// The members of a group; none where no broker has that group. Errors: of a broker that does not answer,
  /// or that still loads its groups, unless another one has it.
  [[nodiscard]] result<std::vector<group_member>> members_of(const std::string& group,
                                                             std::chrono::milliseconds timeout);

 private:
  explicit record_probe(std::shared_ptr<kafka_client> client) : client_(std::move(client)) {}
  std::shared_ptr<kafka_client> client_;
};

}  // namespace ratchet
