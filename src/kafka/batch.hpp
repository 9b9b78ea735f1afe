// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <span>
#include <vector>

#include "kafka/client.hpp"
#include "kafka/handles.hpp"
#include "ports/source.hpp"

namespace ratchet {

/// One address for each partition, as long as the table lives. Grown by the source's owner thread alone;
/// addresses that were given out may be read on any thread.
class partition_table {
 public:
  [[nodiscard]] const topic_partition* intern(std::string_view topic, partition_id partition);

 private:
  std::set<topic_partition> partitions_;  // nodes never move
};

/// Records that point into librdkafka's messages. Shares the ownership of the client, so that it may be
/// destroyed after the source was closed: the client goes with the last batch.
class kafka_batch final : public record_batch {
 public:
  kafka_batch(std::shared_ptr<kafka_client> client, std::shared_ptr<partition_table> table,
              bool wants_headers)
      : client_(std::move(client)), table_(std::move(table)), wants_headers_(wants_headers) {}

  [[nodiscard]] std::span<const record> records() const noexcept override { return records_; }

  void reserve(std::size_t count);
  /// Takes the message over. `where` is interned in the table.
  void add(kafka_handle<rd_kafka_message_t> message, const topic_partition* where);
  /// To be called once, when no more messages come: points the records at their headers.
  void finish();

  /// The interned partition of a message. Cheap for runs of messages of one partition.
  [[nodiscard]] const topic_partition* where_of(const rd_kafka_message_t& message);
  [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  void add_headers(const rd_kafka_message_t& message);

  std::shared_ptr<kafka_client> client_;  // declared first: goes after the messages
  std::shared_ptr<partition_table> table_;
  bool wants_headers_;
  std::vector<kafka_handle<rd_kafka_message_t>> messages_;
  std::vector<record> records_;
  std::vector<header> headers_;
  std::vector<std::size_t> header_ends_;  ///< per record, while headers_ may still move
  std::size_t bytes_{0};
  // A topic's handle is only sure to be that topic's while a message holds it: the cache is the batch's.
  const rd_kafka_topic_t* last_topic_{nullptr};
  const topic_partition* last_where_{nullptr};
};

}  // namespace ratchet
