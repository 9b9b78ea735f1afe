// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <librdkafka/rdkafka.h>

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "kafka/admin.hpp"
#include "kafka/client.hpp"
#include "support/kafka_testing.hpp"

namespace ratchet::testing {

/// A record as it lies in the log.
struct read_record {
  std::int64_t offset{0};
  std::int64_t time{0};
  std::optional<std::string> key;
  std::optional<std::string> value;
  std::vector<std::pair<std::string, std::string>> headers;
  [[nodiscard]] std::string header(const std::string& name) const {
    for (const auto& [known, text] : headers) {
      if (known == name) return text;
    }
    return "absent";
  }
};

/// Every record of a partition, from its start to the end that it has now. Errors are exceptions: a test has
/// none to handle.
inline std::vector<read_record> read_partition(const std::string& brokers, const topic_partition& where) {
  const auto bounds = log_bounds_of(brokers, where);
  if (!bounds) throw std::system_error{bounds.error()};
  auto made = kafka_client::make(
      RD_KAFKA_CONSUMER,
      {{"bootstrap.servers", brokers}, {"group.id", "reader"}, {"enable.auto.commit", "false"}},
      std::make_shared<client_callbacks>());
  if (!made) throw std::runtime_error{to_text(made.error())};
  rd_kafka_t* const client = made.value()->get();
  const kafka_handle<rd_kafka_topic_partition_list_t> list{rd_kafka_topic_partition_list_new(1)};
  rd_kafka_topic_partition_list_add(list.get(), where.topic.c_str(),
                                    static_cast<std::int32_t>(where.partition))
      ->offset = bounds.value().start;
  rd_kafka_assign(client, list.get());
  const auto bytes = [](const void* at, std::size_t size) {
    return at == nullptr ? std::nullopt : std::optional{std::string{static_cast<const char*>(at), size}};
  };
  std::vector<read_record> all;
  while (all.empty() ? bounds.value().start < bounds.value().end
                     : all.back().offset + 1 < bounds.value().end) {
    const kafka_handle<rd_kafka_message_t> message{rd_kafka_consumer_poll(client, to_ms(k_patience))};
    if (message == nullptr || message->err != RD_KAFKA_RESP_ERR_NO_ERROR)
      throw std::runtime_error{"a record of " + where.topic + " does not come"};
    read_record& record = all.emplace_back();
    record.offset = message->offset;
    record.time = rd_kafka_message_timestamp(message.get(), nullptr);
    record.key = bytes(message->key, message->key_len);
    record.value = bytes(message->payload, message->len);
    rd_kafka_headers_t* headers = nullptr;
    if (rd_kafka_message_headers(message.get(), &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    const char* name = nullptr;
    const void* value = nullptr;
    std::size_t size = 0;
    for (std::size_t i = 0;
         rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR; ++i)
      record.headers.emplace_back(name, bytes(value, size).value_or("null"));
  }
  return all;
}

}  // namespace ratchet::testing
