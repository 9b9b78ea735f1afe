// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/kafka_error.hpp"

#include <librdkafka/rdkafka.h>

#include <optional>
#include <string>

#include "ports/error_class.hpp"
#include "ports/source_condition.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

namespace {

/// At most two conditions.
struct meaning {
  std::optional<source_condition> first{};
  std::optional<source_condition> second{};
};

/// What a code of librdkafka means. The enum is the library's, and open: the others mean nothing here.
meaning meaning_of(int code) noexcept {
  switch (code) {
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM:
    case RD_KAFKA_RESP_ERR_ILLEGAL_SASL_STATE:
      return {source_condition::login_refused};
    case RD_KAFKA_RESP_ERR__SSL:
      return {source_condition::tls_refused};
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
      return {source_condition::topic_refused};
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
      return {source_condition::group_refused};
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
      return {source_condition::cluster_refused};
    case RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID:
    case RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION:
    case RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST:
      return {source_condition::not_a_member};
    case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
      return {source_condition::not_a_member, source_condition::client_lost};
    case RD_KAFKA_RESP_ERR__FATAL:
    case RD_KAFKA_RESP_ERR__FENCED:
    case RD_KAFKA_RESP_ERR_PRODUCER_FENCED:
    case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH:
    case RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER:
      return {source_condition::client_lost};
    case RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION:
      return {source_condition::not_offered};
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
      return {source_condition::missing};
    case RD_KAFKA_RESP_ERR__BAD_MSG:
    case RD_KAFKA_RESP_ERR__BAD_COMPRESSION:
    case RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_COMPRESSION_TYPE:
      return {source_condition::unreadable};
    case RD_KAFKA_RESP_ERR_INVALID_MSG:
    case RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE:
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
      return {source_condition::unreadable, source_condition::message_refused};
    case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
    case RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
    case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
      return {source_condition::message_refused};
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
      return {source_condition::all_brokers_down, source_condition::away};
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
    case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
    case RD_KAFKA_RESP_ERR__WAIT_COORD:
    case RD_KAFKA_RESP_ERR__WAIT_CACHE:
    case RD_KAFKA_RESP_ERR__IN_PROGRESS:
    case RD_KAFKA_RESP_ERR__PREV_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR__QUEUE_FULL:
    case RD_KAFKA_RESP_ERR__RETRY:
    case RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
    case RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION:
    case RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_COORDINATOR:
    case RD_KAFKA_RESP_ERR_NOT_CONTROLLER:
    case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS:
    case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND:
    case RD_KAFKA_RESP_ERR_LISTENER_NOT_FOUND:
    case RD_KAFKA_RESP_ERR_STALE_BROKER_EPOCH:
    case RD_KAFKA_RESP_ERR_PREFERRED_LEADER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_ELIGIBLE_LEADERS_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED:
    case RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR:
    case RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT:
    case RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH:
    case RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH:
      return {source_condition::away};
    default:
      return {};
  }
}

class kafka_category_t final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "kafka"; }
  [[nodiscard]] std::string message(int value) const override {
    return rd_kafka_err2str(static_cast<rd_kafka_resp_err_t>(value));
  }
  [[nodiscard]] bool equivalent(int value, const std::error_condition& condition) const noexcept override {
    const auto [first, second] = meaning_of(value);
    if ((first && condition == *first) || (second && condition == *second)) return true;
    return std::error_category::equivalent(value, condition);
  }
};

}  // namespace

const std::error_category& kafka_category() noexcept {
  static const kafka_category_t category;
  return category;
}

std::error_code kafka_error(int code) noexcept {
  return {code, kafka_category()};
}

const char* words_of_error(const std::error_code& code, const char* reason) noexcept {
  return code == source_condition::all_brokers_down ? "all brokers are down" : reason;
}

std::error_code to_port_error(const std::error_code& code) noexcept {
  switch (classify(code)) {
    case error_class::missing:
      return errc::topic_missing;
    case error_class::client_lost:
      return errc::source_fatal;
    case error_class::away:
      return errc::source_unavailable;
    default:  // the others keep their value
      return code;
  }
}

}  // namespace ratchet
