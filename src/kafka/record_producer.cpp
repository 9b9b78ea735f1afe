// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/record_producer.hpp"

#include <utility>

#include "kafka/client.hpp"
#include "kafka/kafka_error.hpp"
#include "kafka/produce_parts.hpp"

namespace ratchet {

namespace {

/// Delivery reports are served this often while there is room.
constexpr unsigned k_serve_every = 512;
constexpr int k_full_wait_ms = 100;

class deliveries final : public client_callbacks {
 public:
  void on_delivery(const rd_kafka_message_t& message) override {
    if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR && !failed_) failed_ = kafka_error(message.err);
  }
  void on_error(rd_kafka_t* handle, rd_kafka_resp_err_t code, const char*) override {
    if (code != RD_KAFKA_RESP_ERR__FATAL) return;  // the rest is retried, and told by the delivery if in vain
    const auto cause = rd_kafka_fatal_error(handle, nullptr, 0);
    if (!failed_) failed_ = kafka_error(cause);
  }
  [[nodiscard]] std::error_code take() noexcept { return std::exchange(failed_, {}); }

 private:
  std::error_code failed_;
};

}  // namespace

struct record_producer::implementation {
  std::shared_ptr<deliveries> events;
  std::shared_ptr<kafka_client> client;
  unsigned sent{0};
};

record_producer::record_producer(std::unique_ptr<implementation> self) : self_(std::move(self)) {}
record_producer::~record_producer() = default;

reported<std::unique_ptr<record_producer>> record_producer::make(
    const std::string& brokers, const std::map<std::string, std::string>& properties) {
  kafka_properties settings{
      {"client.id", "ratchet"},
      {"enable.idempotence", "true"},
      {"acks", "all"},
      {"linger.ms", "5"},
      {"compression.type", "lz4"},
      {"batch.num.messages", "10000"},
      {"queue.buffering.max.messages", "200000"},
      {"queue.buffering.max.kbytes", "131072"},
      {"reconnect.backoff.max.ms", "500"},
      {"delivery.report.only.error", "true"},
  };
  for (const auto& [name, value] : properties) settings[name] = value;
  settings["bootstrap.servers"] = brokers;
  auto self = std::make_unique<implementation>();
  self->events = std::make_shared<deliveries>();
  RATCHET_TRY(auto&& client, kafka_client::make(RD_KAFKA_PRODUCER, settings, self->events));
  self->client = std::move(client);
  return std::unique_ptr<record_producer>{new record_producer{std::move(self)}};
}

result<void> record_producer::send(const std::string& topic, partition_id partition,
                                   std::optional<std::string_view> key, std::optional<std::string_view> value,
                                   std::optional<timestamp> time, std::span<const header> headers) {
  rd_kafka_t* const handle = self_->client->get();
  produce_parts parts;
  parts.topic(topic.c_str());
  parts.partition(partition);
  parts.key(key);
  parts.value(value);
  if (time) parts.time(*time);
  std::vector<std::string> names;  // librdkafka wants them terminated
  names.reserve(headers.size());
  for (const header& h : headers) parts.header(names.emplace_back(h.name).c_str(), h.value);
  if (++self_->sent % k_serve_every == 0) rd_kafka_poll(handle, 0);
  for (;;) {
    if (const std::error_code earlier = self_->events->take()) return earlier;
    const auto code = parts.produce(handle);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return BOOST_OUTCOME_V2_NAMESPACE::success();
    if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL) return kafka_error(code);
    // Bounded all the same: message.timeout.ms makes room in the end, by failing.
    rd_kafka_poll(handle, k_full_wait_ms);
  }
}

result<void> record_producer::flush(std::chrono::milliseconds timeout) {
  const auto code = rd_kafka_flush(self_->client->get(), to_ms(timeout));
  if (const std::error_code failed = self_->events->take()) return failed;
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return to_port_error(kafka_error(code));
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

}  // namespace ratchet
