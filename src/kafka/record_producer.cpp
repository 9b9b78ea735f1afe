// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/record_producer.hpp"

#include <utility>

#include "kafka/client.hpp"
#include "kafka/kafka_error.hpp"

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

rd_kafka_vu_t part(rd_kafka_vtype_t type) {
  rd_kafka_vu_t value{};
  value.vtype = type;
  return value;
}

void set_bytes(rd_kafka_vu_t& value, std::optional<std::string_view> bytes) {
  if (!bytes) return;
  // librdkafka takes a null pointer for "no value"; an empty one must point somewhere.
  value.u.mem.ptr = const_cast<char*>(bytes->data() != nullptr ? bytes->data() : "");
  value.u.mem.size = bytes->size();
}

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
  std::vector<rd_kafka_vu_t> parts;
  parts.reserve(6 + headers.size());
  parts.push_back(part(RD_KAFKA_VTYPE_TOPIC));
  parts.back().u.cstr = topic.c_str();
  parts.push_back(part(RD_KAFKA_VTYPE_PARTITION));
  parts.back().u.i32 = static_cast<std::int32_t>(partition);
  parts.push_back(part(RD_KAFKA_VTYPE_MSGFLAGS));
  parts.back().u.i = RD_KAFKA_MSG_F_COPY;
  parts.push_back(part(RD_KAFKA_VTYPE_KEY));
  set_bytes(parts.back(), key);
  parts.push_back(part(RD_KAFKA_VTYPE_VALUE));
  set_bytes(parts.back(), value);
  if (time) {
    parts.push_back(part(RD_KAFKA_VTYPE_TIMESTAMP));
    parts.back().u.i64 = time->time_since_epoch().count();
  }
  std::vector<std::string> names;  // librdkafka wants them terminated
  names.reserve(headers.size());
  for (const header& h : headers) {
    names.emplace_back(h.name);
    parts.push_back(part(RD_KAFKA_VTYPE_HEADER));
    parts.back().u.header = {names.back().c_str(), h.value ? h.value->data() : nullptr,
                             static_cast<ssize_t>(h.value ? h.value->size() : 0)};
  }
  if (++self_->sent % k_serve_every == 0) rd_kafka_poll(handle, 0);
  for (;;) {
    if (const std::error_code earlier = self_->events->take()) return earlier;
    const kafka_handle<rd_kafka_error_t> error{rd_kafka_produceva(handle, parts.data(), parts.size())};
    if (error == nullptr) return BOOST_OUTCOME_V2_NAMESPACE::success();
    const auto code = rd_kafka_error_code(error.get());
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
