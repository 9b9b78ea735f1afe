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

result<kafka_handle<rd_kafka_event_t>> admin_request::answer() const {
  kafka_handle<rd_kafka_event_t> event{rd_kafka_queue_poll(queue.get(), wait_ms)};
  if (event == nullptr) return errc::source_unavailable;
  RATCHET_TRY(to_result(rd_kafka_event_error(event.get())));
  return event;
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
  RATCHET_TRY(const auto event, asked.answer());
  std::size_t count = 0;
  const auto* topics =
      rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event.get()), &count);
  return to_result(topics, count);
}

result<void> request_deletion(const std::shared_ptr<kafka_client>& client, const topic_partition& where,
                              std::int64_t below, std::chrono::milliseconds timeout) {
  const partition_list offsets{client, 1};
  offsets.add(where, below);
  const admin_handle<rd_kafka_DeleteRecords_t> wanted{rd_kafka_DeleteRecords_new(offsets.get())};
  const admin_request asked{client, RD_KAFKA_ADMIN_OP_DELETERECORDS, timeout};
  rd_kafka_DeleteRecords_t* list[] = {wanted.get()};
  rd_kafka_DeleteRecords(client->get(), list, 1, asked.options.get(), asked.queue.get());
  RATCHET_TRY(const auto event, asked.answer());
  const auto* done = rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(event.get()));
  return done->cnt == 1 ? to_result(done->elems[0].err) : result<void>{errc::source_unavailable};
}

}  // namespace ratchet
