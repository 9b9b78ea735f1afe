// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What errors in place of records are told as.
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include <variant>

#include "kafka/kafka_error.hpp"
#include "kafka/source_events.hpp"

namespace ratchet {
namespace {

std::vector<source_notice> told_of(rd_kafka_resp_err_t code, bool assigned = true, int partition = 0) {
  source_events events;
  rd_kafka_message_t message{};
  message.err = code;
  message.partition = partition;
  message.offset = 41;
  events.on_message_error(nullptr, message, assigned);
  return events.take();
}

TEST(an_error_of_a_fetch, is_of_its_partition_where_nothing_can_be_made_of_what_lies_there) {
  for (const auto code :
       {RD_KAFKA_RESP_ERR__BAD_MSG, RD_KAFKA_RESP_ERR__BAD_COMPRESSION, RD_KAFKA_RESP_ERR_INVALID_MSG,
        RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_UNSUPPORTED_COMPRESSION_TYPE}) {
    const auto notices = told_of(code);
    ASSERT_EQ(notices.size(), 1U);
    const auto* told = std::get_if<notice::unreadable>(notices.data());
    ASSERT_NE(told, nullptr) << rd_kafka_err2name(code);
    EXPECT_EQ(told->offset, 41);
    EXPECT_EQ(told->where.partition, partition_id{0});
    EXPECT_FALSE(told->text.empty());
    EXPECT_TRUE(told_of(code, false).empty()) << "of an assignment that is no more";
  }
}

TEST(an_error_of_a_fetch, passes_where_it_is_the_brokers) {
  for (const auto code :
       {RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR, RD_KAFKA_RESP_ERR_UNKNOWN}) {
    const auto notices = told_of(code);
    ASSERT_EQ(notices.size(), 1U);
    EXPECT_TRUE(std::holds_alternative<notice::trouble>(notices.front())) << rd_kafka_err2name(code);
  }
}

TEST(an_outage, is_told_without_the_clients_count_of_brokers) {
  source_events events;
  events.on_error(nullptr, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, "2/2 brokers are down");
  const auto notices = events.take();
  ASSERT_EQ(notices.size(), 1U);
  const auto* told = std::get_if<notice::trouble>(notices.data());
  ASSERT_NE(told, nullptr);
  EXPECT_EQ(told->text, "all brokers are down");
}

}  // namespace
}  // namespace ratchet
