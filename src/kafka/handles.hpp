// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <librdkafka/rdkafka.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "ratchet/types.hpp"

/// Owners of librdkafka's C handles. For src/kafka's own .cpp files: it includes the library's header.
namespace ratchet {

struct kafka_deleter {
  void operator()(rd_kafka_conf_t* p) const noexcept { rd_kafka_conf_destroy(p); }
  void operator()(rd_kafka_message_t* p) const noexcept { rd_kafka_message_destroy(p); }
  void operator()(rd_kafka_error_t* p) const noexcept { rd_kafka_error_destroy(p); }
  void operator()(rd_kafka_event_t* p) const noexcept { rd_kafka_event_destroy(p); }
  void operator()(rd_kafka_queue_t* p) const noexcept { rd_kafka_queue_destroy(p); }
  void operator()(rd_kafka_topic_t* p) const noexcept { rd_kafka_topic_destroy(p); }
  void operator()(const rd_kafka_metadata_t* p) const noexcept { rd_kafka_metadata_destroy(p); }
  void operator()(rd_kafka_topic_partition_list_t* p) const noexcept {
    rd_kafka_topic_partition_list_destroy(p);
  }
  void operator()(rd_kafka_AdminOptions_t* p) const noexcept { rd_kafka_AdminOptions_destroy(p); }
  void operator()(rd_kafka_headers_t* p) const noexcept { rd_kafka_headers_destroy(p); }
  void operator()(const rd_kafka_group_list* p) const noexcept { rd_kafka_group_list_destroy(p); }
};
template <class T>
using kafka_handle = std::unique_ptr<T, kafka_deleter>;

class kafka_client;

/// A list of partitions. It keeps its client alive, as a list that was given to pause or resume and is
/// destroyed after its client hangs rd_kafka_destroy for ever.
class partition_list {
 public:
  partition_list(std::shared_ptr<kafka_client> client, std::size_t expected)
      : client_(std::move(client)), list_(rd_kafka_topic_partition_list_new(static_cast<int>(expected))) {}

  /// The entry added; owned by the list.
  rd_kafka_topic_partition_t& add(const topic_partition& where,
                                  std::int64_t offset = RD_KAFKA_OFFSET_INVALID) const {
    rd_kafka_topic_partition_t* entry = rd_kafka_topic_partition_list_add(
        list_.get(), where.topic.c_str(), static_cast<std::int32_t>(where.partition));
    entry->offset = offset;
    return *entry;
  }
  [[nodiscard]] rd_kafka_topic_partition_list_t* get() const noexcept { return list_.get(); }

 private:
  std::shared_ptr<kafka_client> client_;  // declared first: goes last
  kafka_handle<rd_kafka_topic_partition_list_t> list_;
};

}  // namespace ratchet
