// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/record_probe.hpp"

#include <algorithm>

#include "kafka/kafka_error.hpp"
#include "kafka/settings.hpp"
#include "ports/error_class.hpp"

namespace ratchet {

namespace {

/// A broker's thread that sleeps looks for partitions to fetch from once a second; a request of any kind
/// wakes it.
constexpr std::chrono::milliseconds k_wake_after{5};
constexpr int k_wake_wait_ms = 1000;

std::optional<std::string> copy_of(const void* data, std::size_t size) {
  if (data == nullptr) return std::nullopt;
  return std::string{static_cast<const char*>(data), size};
}

std::chrono::milliseconds until(std::chrono::steady_clock::time_point deadline) {
  return std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
}

}  // namespace

reported<std::shared_ptr<kafka_client>> make_uncommitted_client(const kafka_config& config, kafka_log log) {
  kafka_properties settings = groupless_settings(config);
  settings["isolation.level"] = "read_uncommitted";
  settings["queued.min.messages"] = "1";  // one record is wanted, not a prefetch
  settings["fetch.wait.max.ms"] = "10";
  auto callbacks = std::make_shared<client_callbacks>();
  callbacks->set_log(std::move(log));
  return kafka_client::make(RD_KAFKA_CONSUMER, settings, std::move(callbacks));
}

reported<std::unique_ptr<record_probe>> record_probe::make(const kafka_config& config, kafka_log log) {
  RATCHET_TRY(auto&& client, make_uncommitted_client(config, std::move(log)));
  return std::unique_ptr<record_probe>{new record_probe{std::move(client)}};
}

result<std::int64_t> record_probe::high_end(const topic_partition& where, std::chrono::milliseconds timeout) {
  RATCHET_TRY(const log_bounds found, query_bounds(client_, where, timeout));
  return found.end;
}

result<std::optional<owned_record>> record_probe::read_at(const topic_partition& where, std::int64_t offset,
                                                          std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  rd_kafka_poll(client_->get(), 0);  // drops error reports that were queued meanwhile
  if (offset < 0) return std::nullopt;
  const kafka_handle<rd_kafka_topic_t> topic{
      rd_kafka_topic_new(client_->get(), where.topic.c_str(), nullptr)};
  if (topic == nullptr) return to_port_error(kafka_error(rd_kafka_last_error()));
  const auto partition = static_cast<std::int32_t>(where.partition);
  if (rd_kafka_consume_start(topic.get(), partition, offset) != 0) {
    return to_port_error(kafka_error(rd_kafka_last_error()));
  }
  auto found = first_from(topic.get(), partition, offset, deadline);
  rd_kafka_consume_stop(topic.get(), partition);
  return found;
}

result<std::optional<owned_record>> record_probe::first_from(rd_kafka_topic_t* topic, std::int32_t partition,
                                                             std::int64_t offset,
                                                             std::chrono::steady_clock::time_point deadline) {
  for (;;) {
    const kafka_handle<rd_kafka_message_t> message{
        rd_kafka_consume(topic, partition, to_ms(std::min(until(deadline), k_wake_after)))};
    if (message == nullptr) {
      std::int64_t start = 0;
      std::int64_t end = 0;
      rd_kafka_query_watermark_offsets(client_->get(), rd_kafka_topic_name(topic), partition, &start, &end,
                                       std::min(to_ms(until(deadline)), k_wake_wait_ms));
    } else {
      switch (message->err) {
        case RD_KAFKA_RESP_ERR_NO_ERROR:
          if (message->offset < offset) break;  // never delivered, but cheap to be sure
          if (message->offset > offset) return std::nullopt;
          return owned_record{copy_of(message->key, message->key_len),
                              copy_of(message->payload, message->len)};
        case RD_KAFKA_RESP_ERR__PARTITION_EOF:
        case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
          return std::nullopt;
        default: {
          const std::error_code code = kafka_error(message->err);
          // The bounds of this log were had a moment ago: that it is unknown passes, too.
          if (!passes(classify(code))) return to_port_error(code);
        }
      }
    }
    if (std::chrono::steady_clock::now() >= deadline) return errc::source_unavailable;
  }
}

}  // namespace ratchet
