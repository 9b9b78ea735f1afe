// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/admin.hpp"

#include <algorithm>
#include <array>
#include <thread>

#include "kafka/admin_request.hpp"
#include "kafka/bounds_query.hpp"
#include "kafka/client.hpp"
#include "kafka/kafka_error.hpp"

namespace ratchet {

namespace {

using clock = std::chrono::steady_clock;

result<std::shared_ptr<kafka_client>> connect(const std::string& brokers) {
  auto made = kafka_client::make(
      RD_KAFKA_PRODUCER,
      {{"bootstrap.servers", brokers}, {"client.id", "ratchet-admin"}, {"reconnect.backoff.max.ms", "500"}},
      std::make_shared<client_callbacks>());
  if (!made) return made.error().code;
  return std::move(made).value();
}

bool has_leaders(const rd_kafka_metadata_t& metadata, int partitions) {
  if (metadata.topic_cnt != 1) return false;
  const rd_kafka_metadata_topic& topic = metadata.topics[0];
  return topic.err == RD_KAFKA_RESP_ERR_NO_ERROR && topic.partition_cnt == partitions &&
         std::all_of(topic.partitions, topic.partitions + topic.partition_cnt,
                     [](const auto& partition) { return partition.leader >= 0; });
}

/// The brokers answer before every one of them has heard of the topic.
result<void> wait_for_leaders(const std::shared_ptr<kafka_client>& client, const std::string& topic,
                              int partitions, clock::time_point deadline) {
  const kafka_handle<rd_kafka_topic_t> handle{rd_kafka_topic_new(client->get(), topic.c_str(), nullptr)};
  while (clock::now() < deadline) {
    const rd_kafka_metadata_t* raw = nullptr;
    if (rd_kafka_metadata(client->get(), 0, handle.get(), &raw, 1000) == RD_KAFKA_RESP_ERR_NO_ERROR) {
      const kafka_handle<const rd_kafka_metadata_t> metadata{raw};
      if (has_leaders(*metadata, partitions)) return BOOST_OUTCOME_V2_NAMESPACE::success();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
  return errc::source_unavailable;
}

}  // namespace

result<void> create_topic(const std::string& brokers, const std::string& topic, int partitions,
                          const std::map<std::string, std::string>& config,
                          std::chrono::milliseconds timeout) {
  const auto deadline = clock::now() + timeout;
  RATCHET_TRY(auto&& client, connect(brokers));
  constexpr int k_replicas = 1;
  RATCHET_TRY(request_topic(client, topic, partitions, k_replicas, config, timeout));
  return wait_for_leaders(client, topic, partitions, deadline);
}

result<void> delete_topic(const std::string& brokers, const std::string& topic,
                          std::chrono::milliseconds timeout) {
  RATCHET_TRY(auto&& client, connect(brokers));
  const admin_handle<rd_kafka_DeleteTopic_t> wanted{rd_kafka_DeleteTopic_new(topic.c_str())};
  const admin_request asked{client, RD_KAFKA_ADMIN_OP_DELETETOPICS, timeout};
  rd_kafka_DeleteTopic_t* list[] = {wanted.get()};
  rd_kafka_DeleteTopics(client->get(), list, 1, asked.options.get(), asked.queue.get());
  RATCHET_TRY(const auto event, asked.answer());
  std::size_t count = 0;
  const auto* topics =
      rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event.get()), &count);
  return to_result(topics, count);
}

result<void> add_partitions(const std::string& brokers, const std::string& topic, int partitions,
                            std::chrono::milliseconds timeout) {
  const auto deadline = clock::now() + timeout;
  RATCHET_TRY(auto&& client, connect(brokers));
  std::array<char, 256> text{};
  const admin_handle<rd_kafka_NewPartitions_t> wanted{rd_kafka_NewPartitions_new(
      topic.c_str(), static_cast<std::size_t>(partitions), text.data(), text.size())};
  if (wanted == nullptr) return kafka_error(RD_KAFKA_RESP_ERR__INVALID_ARG);
  const admin_request asked{client, RD_KAFKA_ADMIN_OP_CREATEPARTITIONS, timeout};
  rd_kafka_NewPartitions_t* list[] = {wanted.get()};
  rd_kafka_CreatePartitions(client->get(), list, 1, asked.options.get(), asked.queue.get());
  RATCHET_TRY(const auto event, asked.answer());
  std::size_t count = 0;
  const auto* topics =
      rd_kafka_CreatePartitions_result_topics(rd_kafka_event_CreatePartitions_result(event.get()), &count);
  RATCHET_TRY(to_result(topics, count));
  return wait_for_leaders(client, topic, partitions, deadline);
}

result<void> set_topic_config(const std::string& brokers, const std::string& topic,
                              const std::map<std::string, std::string>& config,
                              std::chrono::milliseconds timeout) {
  RATCHET_TRY(auto&& client, connect(brokers));
  const admin_handle<rd_kafka_ConfigResource_t> wanted{
      rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str())};
  for (const auto& [name, value] : config) {
    RATCHET_TRY(to_result(rd_kafka_ConfigResource_set_config(wanted.get(), name.c_str(), value.c_str())));
  }
  const admin_request asked{client, RD_KAFKA_ADMIN_OP_ALTERCONFIGS, timeout};
  rd_kafka_ConfigResource_t* list[] = {wanted.get()};
  rd_kafka_AlterConfigs(client->get(), list, 1, asked.options.get(), asked.queue.get());
  RATCHET_TRY(const auto event, asked.answer());
  std::size_t count = 0;
  const auto* done =
      rd_kafka_AlterConfigs_result_resources(rd_kafka_event_AlterConfigs_result(event.get()), &count);
  return count == 1 ? to_result(rd_kafka_ConfigResource_error(done[0]))
                    : result<void>{errc::source_unavailable};
}

result<void> delete_records(const std::string& brokers, const topic_partition& where, std::int64_t before,
                            std::chrono::milliseconds timeout) {
  RATCHET_TRY(const auto client, connect(brokers));
  return request_deletion(client, where, before, timeout);
}

namespace {

rd_kafka_ResourceType_t type_of(const acl_rule& rule) {
  return rule.resource == acl_rule::on::topic ? RD_KAFKA_RESOURCE_TOPIC : RD_KAFKA_RESOURCE_GROUP;
}

rd_kafka_AclOperation_t operation_of(const acl_rule& rule) {
  return rule.operation == acl_rule::may::read ? RD_KAFKA_ACL_OPERATION_READ
                                               : RD_KAFKA_ACL_OPERATION_DESCRIBE;
}

}  // namespace

result<void> grant(const std::string& brokers, const acl_rule& rule, std::chrono::milliseconds timeout) {
  RATCHET_TRY(auto&& client, connect(brokers));
  std::array<char, 256> text{};
  const admin_handle<rd_kafka_AclBinding_t> wanted{rd_kafka_AclBinding_new(
      type_of(rule), rule.name.c_str(), RD_KAFKA_RESOURCE_PATTERN_LITERAL, rule.principal.c_str(), "*",
      operation_of(rule), RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW, text.data(), text.size())};
  if (wanted == nullptr) return kafka_error(RD_KAFKA_RESP_ERR__INVALID_ARG);
  const admin_request asked{client, RD_KAFKA_ADMIN_OP_CREATEACLS, timeout};
  rd_kafka_AclBinding_t* list[] = {wanted.get()};
  rd_kafka_CreateAcls(client->get(), list, 1, asked.options.get(), asked.queue.get());
  RATCHET_TRY(const auto event, asked.answer());
  std::size_t count = 0;
  const auto* results =
      rd_kafka_CreateAcls_result_acls(rd_kafka_event_CreateAcls_result(event.get()), &count);
  for (std::size_t i = 0; i < count; ++i) {
    RATCHET_TRY(to_result(rd_kafka_error_code(rd_kafka_acl_result_error(results[i]))));
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

result<void> revoke(const std::string& brokers, const acl_rule& rule, std::chrono::milliseconds timeout) {
  RATCHET_TRY(auto&& client, connect(brokers));
  std::array<char, 256> text{};
  const admin_handle<rd_kafka_AclBindingFilter_t> which{rd_kafka_AclBindingFilter_new(
      type_of(rule), rule.name.c_str(), RD_KAFKA_RESOURCE_PATTERN_LITERAL, rule.principal.c_str(), "*",
      operation_of(rule), RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW, text.data(), text.size())};
  if (which == nullptr) return kafka_error(RD_KAFKA_RESP_ERR__INVALID_ARG);
  const admin_request asked{client, RD_KAFKA_ADMIN_OP_DELETEACLS, timeout};
  rd_kafka_AclBindingFilter_t* list[] = {which.get()};
  rd_kafka_DeleteAcls(client->get(), list, 1, asked.options.get(), asked.queue.get());
  RATCHET_TRY(const auto event, asked.answer());
  std::size_t count = 0;
  const auto* results =
      rd_kafka_DeleteAcls_result_responses(rd_kafka_event_DeleteAcls_result(event.get()), &count);
  for (std::size_t i = 0; i < count; ++i) {
    RATCHET_TRY(to_result(rd_kafka_error_code(rd_kafka_DeleteAcls_result_response_error(results[i]))));
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

result<log_bounds> log_bounds_of(const std::string& brokers, const topic_partition& where,
                                 std::chrono::milliseconds timeout) {
  RATCHET_TRY(auto&& client, connect(brokers));
  return query_bounds(client, {&where, 1}, timeout).front();
}

}  // namespace ratchet
