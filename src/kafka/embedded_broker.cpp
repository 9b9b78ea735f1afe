// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/embedded_broker.hpp"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <vector>

#include "kafka/client.hpp"
#include "kafka/kafka_error.hpp"

namespace ratchet {

struct embedded_broker::cluster {
  std::shared_ptr<kafka_client> host;  ///< the mock lives in a client's main thread
  rd_kafka_mock_cluster_t* mock{nullptr};
  int brokers{0};

  ~cluster() {
    if (mock != nullptr) rd_kafka_mock_cluster_destroy(mock);
  }

  using switch_call = rd_kafka_resp_err_t (*)(rd_kafka_mock_cluster_t*, std::int32_t);
  [[nodiscard]] result<void> for_each(switch_call call) const {
    for (std::int32_t id = 1; id <= brokers; ++id) {
      if (const auto code = call(mock, id); code != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_error(code);
    }
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }
};

embedded_broker::embedded_broker(std::unique_ptr<cluster> self) : self_(std::move(self)) {}
embedded_broker::~embedded_broker() = default;

result<std::unique_ptr<embedded_broker>> embedded_broker::start(int brokers) {
  auto host = kafka_client::make(RD_KAFKA_PRODUCER, {{"client.id", "embedded-broker"}},
                                 std::make_shared<client_callbacks>());
  if (!host) return host.error().code;
  auto self = std::make_unique<cluster>();
  self->host = std::move(host).value();
  self->mock = rd_kafka_mock_cluster_new(self->host->get(), brokers);
  if (self->mock == nullptr) return errc::source_unavailable;
  self->brokers = brokers;
  return std::unique_ptr<embedded_broker>{new embedded_broker{std::move(self)}};
}

std::string embedded_broker::bootstrap() const {
  return rd_kafka_mock_cluster_bootstraps(self_->mock);
}

result<void> embedded_broker::create_topic(const std::string& topic, int partitions) {
  const auto code = rd_kafka_mock_topic_create(self_->mock, topic.c_str(), partitions, 1);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_error(code);
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

result<void> embedded_broker::set_led(const std::string& topic, int partition, bool is_led) {
  constexpr std::int32_t k_nobody = -1;
  const auto code =
      rd_kafka_mock_partition_set_leader(self_->mock, topic.c_str(), partition, is_led ? 1 : k_nobody);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_error(code);
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

void embedded_broker::answer_with(std::int16_t api, int error, std::size_t count) {
  const std::vector<rd_kafka_resp_err_t> errors(count, static_cast<rd_kafka_resp_err_t>(error));
  rd_kafka_mock_push_request_errors_array(self_->mock, api, errors.size(), errors.data());
}

void embedded_broker::answer_truly(std::int16_t api) {
  rd_kafka_mock_clear_request_errors(self_->mock, api);
}

result<void> embedded_broker::set_down() {
  return self_->for_each(rd_kafka_mock_broker_set_down);
}

result<void> embedded_broker::set_up() {
  return self_->for_each(rd_kafka_mock_broker_set_up);
}

}  // namespace ratchet
