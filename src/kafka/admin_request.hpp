// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <memory>

#include "kafka/client.hpp"

namespace ratchet {

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
  /// Null: none came in time.
  [[nodiscard]] kafka_handle<rd_kafka_event_t> answer() const {
    return kafka_handle<rd_kafka_event_t>{rd_kafka_queue_poll(queue.get(), wait_ms)};
  }
  int wait_ms;
  kafka_handle<rd_kafka_AdminOptions_t> options;
  kafka_handle<rd_kafka_queue_t> queue;
};

}  // namespace ratchet
