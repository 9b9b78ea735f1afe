// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kafka/bounds_asker.hpp"
#include "kafka/client.hpp"
#include "kafka/queue_signal.hpp"
#include "kafka/source_events.hpp"
#include "ports/slot_log.hpp"

namespace ratchet {

/// Reads one partition from given offsets on, and no coordinator hears of it: the half of slot_log that
/// reads. It sees what open and aborted transactions wrote, too: the log's records say themselves which of
/// them count. Thread-safety: one owner thread.
class log_reader {
 public:
  /// A read gives out so much at most, and at least one record.
  static constexpr std::size_t k_read_bytes = std::size_t{4} << 20;
  static constexpr std::size_t k_read_records = 1000;

  /// `signal` must outlive the reader. Errors: config_invalid, with librdkafka's own text.
  [[nodiscard]] static reported<std::unique_ptr<log_reader>> make(const kafka_properties&,
                                                                  topic_partition where, kafka_log,
                                                                  queue_signal& signal);
  log_reader(const log_reader&) = delete;
  log_reader& operator=(const log_reader&) = delete;
  ~log_reader();

  // As in slot_log.
  [[nodiscard]] result<log_read> read(const replicate::read_range&);
  void stop();
  void ask_bounds(std::int64_t known);
  [[nodiscard]] std::optional<result<told_bounds>> take_bounds();
  [[nodiscard]] std::optional<complaint> take_complaint() { return events_->take_complaint(); }

 private:
  log_reader(topic_partition where, std::shared_ptr<source_events> events,
             std::shared_ptr<kafka_client> client, queue_signal& signal);

  [[nodiscard]] std::error_code start(std::int64_t first);
  void let_go();
  [[nodiscard]] bool is_missing();
  [[nodiscard]] std::error_code take_error(const rd_kafka_message_t&, log_read&);

  topic_partition where_;
  std::shared_ptr<source_events> events_;
  std::shared_ptr<kafka_client> client_;
  kafka_handle<rd_kafka_topic_t> topic_;  // these go before their client
  kafka_handle<rd_kafka_queue_t> queue_;  ///< of this start; null: nothing is fetched
  queue_signal& signal_;

  bool is_missing_{false};  ///< the topic, as this read has heard
  std::int64_t next_{0};    ///< the offset at which the next read goes on
  std::int64_t end_{-1};    ///< where the log ended when it was said last, since this start
  std::vector<kafka_handle<rd_kafka_message_t>> messages_;  ///< what the last read gave out
  std::vector<slot_record> entries_;
  kafka_handle<rd_kafka_message_t> ahead_;  ///< met behind the last offset that was asked for

  bounds_asker asker_;
  std::optional<std::int64_t> asked_with_;  ///< `known` of the question under way
};

}  // namespace ratchet
