// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "kafka/client.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

struct admin_deleter {
  void operator()(rd_kafka_NewTopic_t* p) const noexcept { rd_kafka_NewTopic_destroy(p); }
  void operator()(rd_kafka_DeleteTopic_t* p) const noexcept { rd_kafka_DeleteTopic_destroy(p); }
  void operator()(rd_kafka_NewPartitions_t* p) const noexcept { rd_kafka_NewPartitions_destroy(p); }
  void operator()(rd_kafka_ConfigResource_t* p) const noexcept { rd_kafka_ConfigResource_destroy(p); }
  void operator()(rd_kafka_DeleteRecords_t* p) const noexcept { rd_kafka_DeleteRecords_destroy(p); }
  void operator()(rd_kafka_AclBinding_t* p) const noexcept { rd_kafka_AclBinding_destroy(p); }
};
/// What is asked for.
template <class T>
using admin_handle = std::unique_ptr<T, admin_deleter>;

/// One request of librdkafka's admin API: its options with the time-outs, and the queue that its answer comes
/// to.
struct admin_request {
  admin_request(const std::shared_ptr<kafka_client>& client, rd_kafka_admin_op_t op,
                std::chrono::milliseconds timeout)
      : wait_ms(to_ms(timeout)),
        options(rd_kafka_AdminOptions_new(client->get(), op)),
        queue(rd_kafka_queue_new(client->get())) {
    std::array<char, 256> text{};
    rd_kafka_AdminOptions_set_request_timeout(options.get(), wait_ms, text.data(), text.size());
  }
  /// Errors: source_unavailable, where none came in time; of the request as a whole.
  [[nodiscard]] result<kafka_handle<rd_kafka_event_t>> answer() const;
  int wait_ms;
  kafka_handle<rd_kafka_AdminOptions_t> options;
  kafka_handle<rd_kafka_queue_t> queue;
};

/// What a broker said of a part of a request.
[[nodiscard]] result<void> to_result(rd_kafka_resp_err_t);
/// What brokers said of topics.
[[nodiscard]] result<void> to_result(const rd_kafka_topic_result_t* const* topics, std::size_t count);

/// Asks for a topic with these settings. The brokers answer before every one of them has heard of it.
/// Errors: source_unavailable, where no answer came in time; those of the brokers.
[[nodiscard]] result<void> request_topic(const std::shared_ptr<kafka_client>&, const std::string& topic,
                                         int partitions, int replicas,
                                         const std::map<std::string, std::string>& config,
                                         std::chrono::milliseconds timeout);
/// Has the brokers delete the records of a partition below that offset. Errors: as above.
[[nodiscard]] result<void> request_deletion(const std::shared_ptr<kafka_client>&, const topic_partition&,
                                            std::int64_t below, std::chrono::milliseconds timeout);

}  // namespace ratchet
