// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/admin_request.hpp"

#include "core/success.hpp"
#include "kafka/kafka_error.hpp"

namespace ratchet {

result<void> to_result(rd_kafka_resp_err_t code) {
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return to_port_error(kafka_error(code));
  return success();
}

result<void> to_result(const rd_kafka_topic_result_t* const* topics, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    RATCHET_TRY(to_result(rd_kafka_topic_result_error(topics[i])));
  }
  return success();
}

result<void> request_topic(const std::shared_ptr<kafka_client>& client, const std::string& topic,
                           int partitions, int replicas, const std::map<std::string, std::string>& config,
                           std::chrono::milliseconds timeout) {
  std::array<char, 256> text{};
  const admin_handle<rd_kafka_NewTopic_t> wanted{
      rd_kafka_NewTopic_new(topic.c_str(), partitions, replicas, text.data(), text.size())};
  if (wanted == nullptr) return kafka_error(RD_KAFKA_RESP_ERR__INVALID_ARG);
  for (const auto& [name, value] : config) {
    RATCHET_TRY(to_result(rd_kafka_NewTopic_set_config(wanted.get(), name.c_str(), value.c_str())));
  }
  const admin_request asked{client, RD_KAFKA_ADMIN_OP_CREATETOPICS, timeout};
  rd_kafka_NewTopic_t* list[] = {wanted.get()};
  rd_kafka_CreateTopics(client->get(), list, 1, asked.options.get(), asked.queue.get());
  const auto event = asked.answer();
  if (event == nullptr) return errc::source_unavailable;
  RATCHET_TRY(to_result(rd_kafka_event_error(event.get())));
  std::size_t count = 0;
  const auto* topics =
      rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event.get()), &count);
  return to_result(topics, count);
}

}  // namespace ratchet
