// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <librdkafka/rdkafka.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "kafka/client.hpp"
#include "support/kafka_testing.hpp"

namespace ratchet::testing {

/// Sends records in transactions. Errors are exceptions: a test has none to handle.
class transactional_producer {
 public:
  transactional_producer(const std::string& brokers, const std::string& id) {
    auto made = kafka_client::make(
        RD_KAFKA_PRODUCER, {{"bootstrap.servers", brokers}, {"transactional.id", id}, {"linger.ms", "0"}},
        std::make_shared<client_callbacks>());
    if (!made) throw std::runtime_error{to_text(made.error())};
    client_ = std::move(made).value();
    check(rd_kafka_init_transactions(client_->get(), to_ms(k_patience)));
  }

  void begin() { check(rd_kafka_begin_transaction(client_->get())); }
  /// Sends the values, and waits until they lie in the log.
  void send(const topic_partition& where, const std::vector<std::string>& values) {
    for (const std::string& value : values) {
      const auto code = rd_kafka_producev(client_->get(), RD_KAFKA_V_TOPIC(where.topic.c_str()),
                                          RD_KAFKA_V_PARTITION(static_cast<std::int32_t>(where.partition)),
                                          RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()),
                                          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
      if (code != RD_KAFKA_RESP_ERR_NO_ERROR) throw std::runtime_error{rd_kafka_err2str(code)};
    }
    const auto code = rd_kafka_flush(client_->get(), to_ms(k_patience));
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) throw std::runtime_error{rd_kafka_err2str(code)};
  }
  void commit() { check(rd_kafka_commit_transaction(client_->get(), to_ms(k_patience))); }
  void abort() { check(rd_kafka_abort_transaction(client_->get(), to_ms(k_patience))); }

 private:
  static void check(rd_kafka_error_t* raw) {
    const kafka_handle<rd_kafka_error_t> error{raw};
    if (error != nullptr) throw std::runtime_error{rd_kafka_error_string(error.get())};
  }

  std::shared_ptr<kafka_client> client_;
};

}  // namespace ratchet::testing
